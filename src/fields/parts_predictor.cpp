#include "fields/parts_predictor.h"

#include <algorithm>

#include "fields/blended_point.h"

namespace drift {
namespace {

// Takes a part into the base's forecast.
void blend(const BlendWeight& weight, PartForecast part, PartForecast& base) {
  const std::size_t n = base.mean.size(), columns = base.gradient.size() / std::max<std::size_t>(1, n);
  for (std::size_t i = 0; i < n; ++i) {
    const BlendedPoint point = blended(weight, base.mean[i], base.variance[i], part.mean[i]);
    for (std::size_t pair = 2 * i; pair < 2 * i + 2 && !base.around_mean.empty(); ++pair) {
      double* const mean = &base.around_mean[2 * pair];
      const double* const other = &part.around_mean[2 * pair];
      const double apart = (other[1] - mean[1]) - (other[0] - mean[0]);
      base.difference_variance[pair] += point.share * (1.0 - point.share) * apart * apart;
      for (const std::size_t end : {0U, 1U}) mean[end] = blended(weight, mean[end], 0.0, other[end]).mean;
    }
    for (std::size_t k = i * columns; k < (i + 1) * columns; ++k)
      base.gradient[k] = point.by_network * part.gradient[k] + (1.0 - point.by_network) * base.gradient[k];
    base.mean[i] = point.mean, base.variance[i] = point.variance;
  }
  base.members = std::move(part.members);
}

}  // namespace

PartsPredictor::PartsPredictor(Engine& engine, const FieldModel& model) : model_(model) {
  for (const Part& part : parts_of(model)) parts_.push_back(part.prepare(engine));
}

std::size_t PartsPredictor::block() const {
  return std::min_element(parts_.begin(), parts_.end(), [](const auto& a, const auto& b) { return a.block < b.block; })->block;
}

PartForecast PartsPredictor::operator()(MatrixView<const float> rows, const PartWants& wants) const {
  PartForecast out = parts_.back().predict(rows, wants);
  PartWants of_others = wants;
  of_others.spread = false;
  for (std::size_t part = 0; part + 1 < parts_.size(); ++part) blend(model_.weight, parts_[part].predict(rows, of_others), out);
  for (std::size_t i = 0; i < out.local.size(); ++i) out.variance[i] *= out.local[i];
  for (std::size_t i = 0; i < out.difference_variance.size() && !out.local.empty(); ++i)
    out.difference_variance[i] *= out.local[i / 2];
  return out;
}

}  // namespace drift
