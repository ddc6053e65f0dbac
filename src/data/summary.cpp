#include "drift/summary.h"

#include <algorithm>
#include <cmath>

#include "data/check_values.h"
#include "drift/error.h"

namespace drift {
namespace {

constexpr std::array<double, 7> kShares = {0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0};

Summary::Column ends_of(const std::vector<double>& numbers) {
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  return {*least, *most};
}

}  // namespace

Summary summarise(const Dataset& data, int bins) {
  const Observations& observations = data.observations;
  if (observations.size() == 0) throw Error("there are no observations to summarise");
  Summary summary;
  summary.count = observations.size();
  summary.lon = ends_of(observations.lon_deg);
  summary.lat = ends_of(observations.lat_deg);
  summary.has_time = !observations.time_days.empty();
  if (summary.has_time) summary.time = ends_of(observations.time_days);
  for (const std::string& name : observations.platform_names) summary.platforms.push_back({name, 0});
  for (const std::uint8_t platform : observations.platform) ++summary.platforms[platform].count;

  std::vector<double> values = observations.value;
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  for (std::size_t i = 0; i < kShares.size(); ++i)
    summary.quantiles.at(i) = values[static_cast<std::size_t>(std::round(kShares.at(i) * last))];
  for (const double value : values) summary.mean += value / static_cast<double>(values.size());
  for (const double value : values) summary.sd += std::pow(value - summary.mean, 2) / static_cast<double>(values.size());
  summary.sd = std::sqrt(summary.sd);

  constexpr std::size_t kEnds = 5;
  const auto ends = static_cast<std::ptrdiff_t>(std::min(kEnds, values.size()));
  summary.lowest.assign(values.begin(), values.begin() + ends);
  summary.highest.assign(values.rbegin(), values.rbegin() + ends);
  summary.tails = heavy_tails(values, summary.sd);

  const double low = summary.quantiles[1], width = (summary.quantiles[5] - low) / bins;
  if (!(width > 0.0)) return summary;
  for (int bin = 0; bin < bins; ++bin) {
    const double from = low + bin * width, to = bin + 1 == bins ? summary.quantiles[5] : from + width;
    const auto begin = std::lower_bound(values.begin(), values.end(), from);
    const auto end =
        bin + 1 == bins ? std::upper_bound(values.begin(), values.end(), to) : std::lower_bound(values.begin(), values.end(), to);
    summary.histogram.push_back({from, to, static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, end - begin))});
  }
  return summary;
}

}  // namespace drift
