#include "engine/cuda/scales.h"

#include <algorithm>

namespace drift::cuda {
namespace {

std::size_t size(int count) { return static_cast<std::size_t>(count); }

}  // namespace

DeviceScales::DeviceScales(const ScaleResolver& resolver, std::size_t members)
    : resolver_(resolver),
      members_(members),
      coordinates_(size(resolver.plan().coordinates)),
      layers_(resolver.plan().layers.size()) {
  features_ = 0;
  for (const LayerPlan& layer : resolver.plan().layers) {
    sphere_index_.push_back(sphere_layers_);
    if (!layer.sphere) continue;
    ++sphere_layers_;
    features_ = std::max(features_, size(layer.features));
  }
  stride_ = coordinates_ + 2 * layers_ + 1;
  scales_ = DeviceArray<float>(members * stride_);
  sphere_scales_ = DeviceArray<float>(members * sphere_layers_ * features_);
  sphere_slopes_ = DeviceArray<float>(sphere_scales_.size());
}

void DeviceScales::set(std::size_t member, const Scales& scales, const Stream& stream) {
  std::vector<float> numbers;
  for (const double inverse : scales.inverse_lengthscale) numbers.push_back(static_cast<float>(inverse));
  for (const LayerScales& layer : scales.layers) numbers.push_back(static_cast<float>(layer.amplitude));
  for (const LayerScales& layer : scales.layers) numbers.push_back(static_cast<float>(layer.output));
  numbers.push_back(static_cast<float>(resolver_.plan().head_scale));
  scales_.upload(numbers.data(), numbers.size(), member * stride_, stream);
  for (std::size_t i = 0; i < layers_; ++i) {
    const LayerScales& layer = scales.layers[i];
    if (layer.sphere.empty()) continue;
    const std::size_t place = (member * sphere_layers_ + sphere_index_[i]) * features_;
    const std::vector<float> sphere(layer.sphere.begin(), layer.sphere.end());
    const std::vector<float> slope(layer.sphere_slope.begin(), layer.sphere_slope.end());
    sphere_scales_.upload(sphere.data(), sphere.size(), place, stream);
    sphere_slopes_.upload(slope.data(), slope.size(), place, stream);
  }
}

void DeviceScales::prepare_updates(const float* fixed, std::size_t fixed_stride, const float* logarithms, std::size_t stride,
                                   const Stream& stream) {
  const Plan& plan = resolver_.plan();
  std::vector<double> values;
  for (const Hyperparameter& hyper : plan.hyperparameters) values.push_back(hyper.value);
  std::vector<ScaleLayer> layers;
  int sphere_lengthscale = kNone;
  for (std::size_t i = 0; i < layers_; ++i) {
    const LayerPlan& layer = plan.layers[i];
    layers.push_back({.amplitude = layer.planar() ? layer.amplitude : kNone,
                      .next_lengthscale = layer.next >= 0 ? plan.layers[size(layer.next)].hidden_lengthscale : kNone,
                      .sphere_amplitude = layer.sphere ? layer.sphere_amplitude : kNone,
                      .sphere_index = static_cast<int>(sphere_index_[i]),
                      .divisor = layer.divisor,
                      .degrees = layer.degrees});
    if (!layer.sphere || sphere_lengthscale != kNone) continue;
    sphere_lengthscale = layer.sphere_lengthscale;
    const SphericalSpectrum drawn(layer.sphere_covariance, plan.hyperparameters[size(sphere_lengthscale)].value,
                                  plan.spec.sphere_tail_mass, plan.spec.sphere_max_degree);
    std::vector<double> mass;
    for (int degree = 0; degree <= drawn.max_degree(); ++degree) mass.push_back(drawn.mass(degree));
    drawn_mass_ = DeviceArray<double>(mass.size());
    drawn_mass_.upload(mass, stream);
    mass_ = DeviceArray<double>(members_ * 2 * mass.size());
    update_.covariance = layer.sphere_covariance;
  }
  values_ = DeviceArray<double>(values.size());
  values_.upload(values, stream);
  layer_plan_ = DeviceArray<ScaleLayer>(layers.size());
  layer_plan_.upload(layers, stream);
  coordinate_lengthscale_ = DeviceArray<int>(coordinates_);
  coordinate_lengthscale_.upload(plan.coordinate_lengthscale, stream);
  update_.members = static_cast<int>(members_);
  update_.coordinates = static_cast<int>(coordinates_);
  update_.layers = static_cast<int>(layers_);
  update_.features = static_cast<int>(features_);
  update_.values = values_.data();
  update_.coordinate_lengthscale = coordinate_lengthscale_.data();
  update_.plan = layer_plan_.data();
  update_.logarithms = logarithms;
  update_.parameters_stride = stride;
  update_.fixed = fixed;
  update_.fixed_stride = fixed_stride;
  update_.head_scale = static_cast<float>(plan.head_scale);
  update_.scales = scales_.data();
  update_.scales_stride = stride_;
  update_.sphere_lengthscale = sphere_lengthscale;
  update_.degrees = static_cast<int>(drawn_mass_.size());
  update_.drawn_mass = drawn_mass_.data();
  update_.mass = mass_.data();
  update_.sphere_scales = sphere_scales_.data();
  update_.sphere_slopes = sphere_slopes_.data();
  update_.sphere_stride = sphere_layers_ * features_;
}

}  // namespace drift::cuda
