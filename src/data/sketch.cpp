#include <algorithm>
#include <cmath>

#include "core/degree.h"
#include "core/longitude.h"
#include "drift/error.h"
#include "drift/summary.h"
#include "geo/longitude_extent.h"

namespace drift {
namespace {

// Evenly from the least to the most; the last bin holds the most.
class Bins {
 public:
  Bins(double least, double most, int count) : least_(least), width_((most - least) / count), count_(count) {}

  std::size_t of(double number) const {
    const double at = width_ > 0.0 ? std::floor((number - least_) / width_) : 0.0;
    return static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(count_ - 1)));
  }

 private:
  double least_, width_;
  int count_;
};

char mark(std::size_t count, std::size_t most) {
  const double share = static_cast<double>(count) / static_cast<double>(most);
  return count == 0 ? ' ' : share < 0.05 ? '.' : share < 0.25 ? ':' : share < 0.6 ? 'o' : '#';
}

std::vector<std::string> marks(const std::vector<std::size_t>& counts, std::size_t columns) {
  const std::size_t most = std::max<std::size_t>(1, *std::max_element(counts.begin(), counts.end()));
  std::vector<std::string> rows(counts.size() / columns, std::string(columns, ' '));
  for (std::size_t i = 0; i < counts.size(); ++i) rows[i / columns][i % columns] = mark(counts[i], most);
  return rows;
}

}  // namespace

Sketch sketch_map(const Dataset& data, int columns) {
  const Observations& o = data.observations;
  if (o.size() == 0 || columns < 1) throw UsageError("a sketch needs observations and at least one column");
  const auto [south, north] = std::minmax_element(o.lat_deg.begin(), o.lat_deg.end());
  double west = 0.0, width = 0.0;
  if (data.on_plane) {
    const auto [least, most] = std::minmax_element(o.lon_deg.begin(), o.lon_deg.end());
    west = *least, width = *most - *least;
  } else {
    LongitudeExtent extent;
    for (const double lon : o.lon_deg) extent.add(lon);
    constexpr double kAllAround = 300.0;  // degrees: then the map is cut where maps are
    const Arc arc = extent.arc();
    west = arc.span_deg > kAllAround ? -180.0 : arc.west_deg, width = arc.span_deg > kAllAround ? 360.0 : arc.span_deg;
  }
  const double on_ground = data.on_plane ? 1.0 : std::cos(0.5 * (*south + *north) * kDegree);
  const double shape = (*north - *south) / std::max(width * on_ground, 1e-12);
  constexpr double kFewest = 1.0, kMost = 24.0;
  const auto rows = static_cast<int>(std::clamp(std::round(0.5 * columns * shape), kFewest, kMost));
  const Bins x(west, west + width, columns), y(*south, *north, rows);
  std::vector<std::size_t> counts(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0);
  for (std::size_t i = 0; i < o.size(); ++i) {
    const double lon = data.on_plane ? o.lon_deg[i] : turned_from(west, o.lon_deg[i]);
    const std::size_t row = static_cast<std::size_t>(rows) - 1 - y.of(o.lat_deg[i]);
    ++counts[row * static_cast<std::size_t>(columns) + x.of(lon)];
  }
  return {marks(counts, static_cast<std::size_t>(columns)), west, *south, west + width, *north,
          *std::max_element(counts.begin(), counts.end())};
}

std::string sketch_times(const Dataset& data, int columns) {
  const std::vector<double>& times = data.observations.time_days;
  if (times.empty() || columns < 1) return {};
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  const Bins bins(*least, *most, columns);
  std::vector<std::size_t> counts(static_cast<std::size_t>(columns), 0);
  for (const double time : times) ++counts[bins.of(time)];
  return marks(counts, counts.size()).front();
}

}  // namespace drift
