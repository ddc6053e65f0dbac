#include "fields/gradient_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drift/error.h"
#include "drift/interpolator.h"

namespace drift {

std::array<double, 2> lengthscales_of(const FieldModel& model) {
  if (const auto process = process_info(model)) return {process->lengthscale_x, process->lengthscale_y};
  const std::vector<double>& spatial = model.ensemble.spec.spatial.lengthscales;
  const std::vector<double> lengths = model.method ? model.method->lengthscales() : spatial;
  if (lengths.empty()) return {};
  const double length = lengthscale_from_engine(model.domain, lengths[0]);
  return {length, length};
}

// A quarter of a lengthscale: it takes 3 % from a wave two lengthscales long and more from what no track resolves. Models
// without a process have smooth means, finer than their first layer's lengthscale: a fiftieth gives nearly the slope itself.
double gradient_scale(const FieldModel& model, const PredictWants& wants) {
  constexpr double kOfRough = 0.25, kOfSmooth = 0.02, kLength = 0.1;  // kLength: engine units, where there is no lengthscale
  constexpr double kLeast = 1e-4;  // engine units, that single precision resolves to a thousandth
  const double least = lengthscale_from_engine(model.domain, kLeast);
  if (wants.gradient_scale) {
    const double scale = *wants.gradient_scale;
    if (scale == 0.0 || (std::isfinite(scale) && scale >= least)) return scale;
    throw UsageError(fmt::format("gradient scale: {:g} {} is neither 0, for the slope of the mean itself, nor at least {:.2g} {}",
                                 scale, model.domain.unit, least, model.domain.unit));
  }
  const std::array<double, 2> lengths = lengthscales_of(model);
  const double length = std::min(lengths[0], lengths[1]);
  const bool known = std::isfinite(length) && length > 0.0;
  const double share = model.process ? kOfRough : kOfSmooth;
  return std::max(share * (known ? length : lengthscale_from_engine(model.domain, kLength)), least);
}

bool has_slope_sd(const FieldModel& model, double gradient_scale) {
  return gradient_scale > 0.0 && model.has_spread() && !model.method;
}

std::string why_no_slope_sd(const FieldModel& model, double gradient_scale) {
  if (gradient_scale == 0.0 || has_slope_sd(model, gradient_scale)) return "";
  if (!model.method) return "the model is a single network, which has no spread";
  return fmt::format("the method {} gives its errors at single points, not how they vary together from one point to the next",
                     model.method_text);
}

}  // namespace drift
