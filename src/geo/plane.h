#pragma once

#include <span>

#include "drift/domain.h"

namespace drift {

// Points that go through a domain together: two columns of doubles in the first-level cache.
inline constexpr std::size_t kDomainBlock = 1024;

// The domain's plane, before standardising: km on a projected plane, x and y as they are on xy, for at most kDomainBlock points.
// `first` is the first point's index, for messages. Throws Error on a position outside the domain.
void to_plane(const Domain& domain, std::span<const double> lon_deg, std::span<const double> lat_deg, std::size_t first,
              std::span<double> x, std::span<double> y);

}  // namespace drift
