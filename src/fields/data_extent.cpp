#include "fields/data_extent.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace drift {

std::array<double, 4> extent_of(const Domain& domain, const Observations& observations, const Rows& rows) {
  double x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY;
  constexpr int kBins = 3600;
  std::vector<bool> taken(kBins, false);
  const std::size_t count = rows ? rows->size() : observations.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = rows ? (*rows)[i] : i;
    const double x = observations.lon_deg[row], y = observations.lat_deg[row];
    x0 = std::min(x0, x), x1 = std::max(x1, x), y0 = std::min(y0, y), y1 = std::max(y1, y);
    if (domain.kind == DomainKind::xy) continue;
    const double turns = (x + 180.0) / 360.0;
    taken[static_cast<std::size_t>((turns - std::floor(turns)) * kBins) % kBins] = true;
  }
  if (domain.kind == DomainKind::xy) return {x0, y0, x1, y1};
  int widest = 0, end = 0, empty = 0;  // the gap that ends before bin `end`
  for (int i = 0; i < 2 * kBins; ++i) {
    empty = taken[static_cast<std::size_t>(i % kBins)] ? 0 : empty + 1;
    if (empty > widest) widest = empty, end = i + 1;
  }
  if (widest == 0) return {-180.0, y0, 180.0, y1};
  const auto degrees = [](int bin) { return -180.0 + 0.1 * (bin % kBins); };
  const double west = degrees(end), east = degrees(end + kBins - widest);
  return {west, y0, east == -180.0 ? 180.0 : east, y1};
}

}  // namespace drift
