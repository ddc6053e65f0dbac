#pragma once

#include <span>
#include <vector>

#include "drift/domain.h"

namespace drift {

// 1 where the domain has a place for a position: everywhere but where a plane's projection does not reach. Positions are finite;
// throws UsageError for one that is none on the Earth.
std::vector<char> reached(const Domain& domain, std::span<const double> lon_deg, std::span<const double> lat_deg);

}  // namespace drift
