#pragma once

#include "drift/engine.h"
#include "engine/cuda/device.h"

namespace drift::cuda {

// Engine::predict, input_gradient and head_inputs; shapes are checked by the caller.
void predict(const Ensemble& ensemble, MatrixView<const float> coordinates, const PredictionViews& out, Precision precision,
             const Stream& stream);
void input_gradient(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> gradient,
                    Precision precision, const Stream& stream);
void head_inputs(const Ensemble& ensemble, std::size_t member, MatrixView<const float> coordinates, MatrixView<float> inputs,
                 Precision precision, const Stream& stream);

}  // namespace drift::cuda
