#pragma once

#include "drift/engine.h"
#include "engine/cuda/device.h"

namespace drift::cuda {

// An ensemble on one device, ready to predict with: weights, what the passes make of them, and room for a block of points stay
// from call to call. Shapes are checked by the caller. One call at a time, on the device that it was made on.
class DevicePredictor {
 public:
  DevicePredictor(const Ensemble& ensemble, Precision precision);
  ~DevicePredictor();

  void predict(MatrixView<const float> coordinates, const PredictionViews& out);
  void input_gradient(MatrixView<const float> coordinates, MatrixView<float> gradient);
  void head_inputs(MatrixView<const float> coordinates, MatrixView<float> inputs);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace drift::cuda
