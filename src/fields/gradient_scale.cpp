#include "fields/gradient_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drift/error.h"
#include "fields/part.h"

namespace drift {

double gradient_scale(const FieldModel& model, const PredictWants& wants) {
  constexpr double kLength = 0.1;  // engine units, where there is no lengthscale
  constexpr double kLeast = 1e-4;  // engine units, that single precision resolves to a thousandth
  const double least = lengthscale_from_engine(model.domain, kLeast);
  if (wants.gradient_scale) {
    const double scale = *wants.gradient_scale;
    if (scale == 0.0 || (std::isfinite(scale) && scale >= least)) return scale;
    throw UsageError(fmt::format("gradient scale: {:g} {} is neither 0, for the slope of the mean itself, nor at least {:.2g} {}",
                                 scale, model.domain.unit, least, model.domain.unit));
  }
  const Part base = base_of(model);
  const double length = std::min(base.lengthscales[0], base.lengthscales[1]);
  const bool known = std::isfinite(length) && length > 0.0;
  return std::max(base.slope_share * (known ? length : lengthscale_from_engine(model.domain, kLength)), least);
}

std::string why_no_slope_sd(const FieldModel& model, double gradient_scale) {
  return gradient_scale > 0.0 ? base_of(model).no_slope_sd : std::string();
}

bool has_slope_sd(const FieldModel& model, double gradient_scale) {
  return gradient_scale > 0.0 && why_no_slope_sd(model, gradient_scale).empty();
}

}  // namespace drift
