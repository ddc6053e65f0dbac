#include "fields/data_extent.h"

#include <algorithm>
#include <cmath>

#include "geo/longitude_extent.h"

namespace drift {

std::array<double, 4> extent_of(const Domain& domain, const Observations& observations, const Rows& rows) {
  double x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY;
  LongitudeExtent longitudes;
  const std::size_t count = rows ? rows->size() : observations.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = rows ? (*rows)[i] : i;
    const double x = observations.lon_deg[row], y = observations.lat_deg[row];
    x0 = std::min(x0, x), x1 = std::max(x1, x), y0 = std::min(y0, y), y1 = std::max(y1, y);
    if (domain.kind != DomainKind::xy) longitudes.add(x);
  }
  if (domain.kind == DomainKind::xy) return {x0, y0, x1, y1};
  // In tenths of a degree from the date line, whole ones.
  constexpr int kAround = 3600;
  const auto tenth = [](double lon_deg) { return static_cast<int>(std::floor(10.0 * (lon_deg + 180.0) + 1e-6)); };
  const auto degrees = [](int tenths) { return -180.0 + 0.1 * (tenths % kAround); };
  const Arc arc = longitudes.arc();
  const int west = tenth(arc.west()), east = tenth(arc.east()) + 1;
  const bool around = arc.span_deg > 180.0 && (west - east + kAround) % kAround == 0;
  if (around || arc.span_deg >= 360.0 - 0.1) return {-180.0, y0, 180.0, y1};
  return {degrees(west), y0, east % kAround == 0 ? 180.0 : degrees(east), y1};
}

}  // namespace drift
