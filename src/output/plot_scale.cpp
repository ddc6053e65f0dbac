#include "output/plot_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/significant_digits.h"
#include "drift/error.h"
#include "output/ticks.h"

namespace drift {
namespace {

struct Quantiles {
  double least, low, high, greatest;
};

Quantiles quantiles_of(const std::vector<float>& values) {
  std::vector<float> known;
  for (const float value : values) {
    if (std::isfinite(value)) known.push_back(value);
  }
  if (known.empty()) return {0.0, 0.0, 0.0, 0.0};
  const auto quantile = [&](double share) {
    const auto at = known.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(known.size() - 1));
    std::nth_element(known.begin(), at, known.end());
    return static_cast<double>(*at);
  };
  return {quantile(0.0), quantile(0.005), quantile(0.995), quantile(1.0)};
}

// 0.35 for 0.35000000000000003.
double tidy(double number) { return to_digits(number, 10); }

// To half the step of the colour bar's labels: 0.0137 to 0.4921 becomes 0 to 0.5.
void round_outwards(double& low, double& high) {
  if (!(high > low)) {
    const double around = std::max(std::abs(low), 1e-12) * 0.1;
    low -= around, high += around;
  }
  const std::vector<Tick> ticks = nice_ticks(low, high, 7);
  if (ticks.size() < 2) return;
  const double step = 0.5 * (ticks[1].value - ticks[0].value);
  low = tidy(std::floor(low / step + 1e-6) * step);
  high = tidy(std::ceil(high / step - 1e-6) * step);
}

void note_beyond(PlotScale& scale, const Quantiles& q) {
  const double slack = 1e-6 * (scale.high - scale.low);
  scale.below = q.least < scale.low - slack;
  scale.above = q.greatest > scale.high + slack;
}

}  // namespace

PlotScale make_scale(const std::vector<float>& values, const QuantityColours& quantity, const std::string& colours) {
  const Quantiles q = quantiles_of(values);
  PlotScale scale = {.colours = quantity.colours, .share = quantity.share, .low = q.low, .high = q.high};
  bool diverging = quantity.diverging;
  if (!colours.empty()) {
    scale.share = 1.0;
    scale.reversed = colours.ends_with("_r");
    scale.colours = scale.reversed ? colours.substr(0, colours.size() - 2) : colours;
    diverging = is_diverging(scale.colours);
  }
  if (quantity.from_zero) {
    scale.low = 0.0, scale.high = q.high > 0.0 ? q.high : 1.0;
    round_outwards(scale.low, scale.high);
  } else if (diverging) {
    scale.high = std::max(std::abs(q.low), std::abs(q.high));
    if (scale.high == 0.0) scale.high = 1.0;
    double low = -scale.high;
    round_outwards(low, scale.high);
    scale.low = -scale.high;
  } else {
    round_outwards(scale.low, scale.high);
  }
  note_beyond(scale, q);
  return scale;
}

void set_limits(PlotScale& scale, const std::array<double, 2>& limits, const std::vector<float>& values) {
  if (!std::isfinite(limits[0]) || !std::isfinite(limits[1]) || !(limits[0] < limits[1])) {
    throw UsageError(fmt::format("colour limits {} to {}: the first must be the smaller", limits[0], limits[1]));
  }
  scale.low = limits[0], scale.high = limits[1];
  note_beyond(scale, quantiles_of(values));
}

}  // namespace drift
