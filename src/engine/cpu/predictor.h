#pragma once

#include "drift/engine.h"

namespace drift::cpu {

// Engine::predict and Engine::input_gradient on `threads` threads; shapes are checked by the caller.
void predict(const Ensemble& ensemble, MatrixView<const float> coordinates, const PredictionViews& out, int threads);
void input_gradient(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> gradient, int threads);

}  // namespace drift::cpu
