#pragma once

#include <vector>

#include "engine/cuda/device.h"
#include "engine/scales.h"

namespace drift::cuda {

// The numbers that hyperparameters put into the layers (engine/scales.h), on the device: of every member
//   [coordinates] inverse lengthscales, [layers] amplitudes, [layers] the bottlenecks' factors, the head's factor.
// They come from the host's resolver at first; where hyperparameters are trained, a kernel makes them anew after every step.
struct ScaleLayer {
  int amplitude;  // hyperparameters, kNone where absent
  int next_lengthscale;
  int sphere_amplitude;
  int sphere_index;  // of the layer among the spherical ones
  double divisor;
  std::size_t degrees;  // offset into the fixed numbers
};
struct ScaleUpdate {
  int members, coordinates, layers, features;
  const double* values;               // [hyperparameters]
  const int* coordinate_lengthscale;  // [coordinates]
  const ScaleLayer* plan;             // [layers]
  const float* logarithms;            // [members, parameters_stride]
  std::size_t parameters_stride;
  const float* fixed;
  std::size_t fixed_stride;
  float head_scale;
  float* scales;
  std::size_t scales_stride;
  // The sphere's:
  int sphere_lengthscale;  // kNone: no sphere
  Covariance covariance;
  int degrees;
  const double* drawn_mass;  // [degrees]
  double* mass;              // [members, 2 degrees] for work: masses, slopes
  float* sphere_scales;      // [members, spherical layers, features]
  float* sphere_slopes;
  std::size_t sphere_stride;
};
void update_scales(const ScaleUpdate& u, cudaStream_t stream);

class DeviceScales {
 public:
  DeviceScales(const ScaleResolver& resolver, std::size_t members);

  // From the host's numbers.
  void set(std::size_t member, const Scales& scales, const Stream& stream);
  // From the device's: `logarithms` [members, stride] begins at the first hyperparameter. Members' plans must then be the same.
  void prepare_updates(const float* fixed, std::size_t fixed_stride, const float* logarithms, std::size_t stride,
                       const Stream& stream);
  void enqueue_update(cudaStream_t stream) const { update_scales(update_, stream); }

  ConstMatrices inverse_lengthscale() const { return at(0); }
  ConstMatrices amplitude(std::size_t layer) const { return at(coordinates_ + layer); }
  ConstMatrices output(std::size_t layer) const { return at(coordinates_ + layers_ + layer); }
  ConstMatrices head() const { return at(coordinates_ + 2 * layers_); }
  ConstMatrices sphere(std::size_t layer) const { return sphere_at(sphere_scales_, layer); }
  ConstMatrices sphere_slope(std::size_t layer) const { return sphere_at(sphere_slopes_, layer); }

 private:
  ConstMatrices at(std::size_t index) const { return {scales_.data() + index, stride_, stride_}; }
  ConstMatrices sphere_at(const DeviceArray<float>& array, std::size_t layer) const {
    return {array.data() + sphere_index_[layer] * features_, features_, sphere_layers_ * features_};
  }

  const ScaleResolver& resolver_;
  std::size_t members_, coordinates_, layers_, features_, stride_, sphere_layers_ = 0;
  std::vector<std::size_t> sphere_index_;  // [layers]
  DeviceArray<float> scales_, sphere_scales_, sphere_slopes_;
  DeviceArray<double> values_, drawn_mass_, mass_;
  DeviceArray<int> coordinate_lengthscale_;
  DeviceArray<ScaleLayer> layer_plan_;
  ScaleUpdate update_ = {};
};

}  // namespace drift::cuda
