#pragma once

#include "drift/engine.h"

namespace drift::cpu {

// Engine::predict, input_gradient and head_inputs on `threads` threads; shapes are checked by the caller.
void predict(const Ensemble& ensemble, MatrixView<const float> coordinates, const PredictionViews& out, int threads);
void input_gradient(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> gradient, int threads);
void head_inputs(const Ensemble& ensemble, std::size_t member, MatrixView<const float> coordinates, MatrixView<float> inputs,
                 int threads);

}  // namespace drift::cpu
