#include "train/variational.h"

#include <cassert>
#include <cmath>

namespace drift {

std::vector<MatrixPlace> trained_matrices(const Plan& plan) {
  const auto size = [](int count) { return static_cast<std::size_t>(count); };
  std::vector<MatrixPlace> places;
  for (const LayerPlan& layer : plan.layers) {
    places.push_back({.offset = layer.bottleneck,
                      .rows = size(layer.matrix_rows()),
                      .cols = size(layer.outputs),
                      .droppable = layer.kind == FeatureKind::coordinates ? 0 : size(layer.features)});
  }
  if (plan.has_head) {
    places.push_back({plan.head, size(plan.head_inputs), size(plan.spec.outputs), size(plan.head_inputs)});
  }
  return places;
}

double kl_from_prior(std::span<const float> means, std::span<const float> log_sds) {
  assert(means.size() == log_sds.size());
  double sum = 0.0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    const double mean = means[i], log_sd = log_sds[i];
    sum += 0.5 * (mean * mean + std::expm1(2.0 * log_sd)) - log_sd;
  }
  return sum;
}

void variances_of(std::span<const float> log_sds, std::span<float> variances) {
  assert(log_sds.size() == variances.size());
  for (std::size_t i = 0; i < log_sds.size(); ++i) variances[i] = std::exp(2.0F * log_sds[i]);
}

void to_log_sd_gradient(std::span<const float> variances, float decay, std::span<float> gradient) {
  assert(variances.size() == gradient.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = 2.0F * variances[i] * gradient[i] + decay * (variances[i] - 1.0F);
  }
}

}  // namespace drift
