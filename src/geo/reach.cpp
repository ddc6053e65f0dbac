#include "geo/reach.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/blocks.h"
#include "geo/projection.h"

namespace drift {

std::vector<char> reached(const Domain& domain, std::span<const double> lon_deg, std::span<const double> lat_deg) {
  std::vector<char> reach(lon_deg.size(), 1);
  if (domain.kind == DomainKind::xy) return reach;
  for (std::size_t i = 0; i < lon_deg.size(); ++i) check_position(lon_deg[i], lat_deg[i], i);
  if (domain.kind == DomainKind::sphere) return reach;
  constexpr std::size_t kTogether = 1024;  // points, so that their copies stay in the cache
  std::array<double, kTogether> x, y;
  for_blocks(lon_deg.size(), kTogether, [&](std::size_t first, std::size_t count) {
    std::copy_n(lon_deg.begin() + static_cast<std::ptrdiff_t>(first), count, x.begin());
    std::copy_n(lat_deg.begin() + static_cast<std::ptrdiff_t>(first), count, y.begin());
    projection_of(domain.crs)->forward(std::span(x).first(count), std::span(y).first(count));
    for (std::size_t i = 0; i < count; ++i) reach[first + i] = std::isfinite(x[i]) ? 1 : 0;
  });
  return reach;
}

}  // namespace drift
