#pragma once

#include <array>

#include "drift/domain.h"
#include "drift/observations.h"

namespace drift {

// Smallest box around the observations of `rows` (none: all): x0, y0, x1, y1 on an xy domain, else degrees, with longitudes by
// the widest empty gap between them, outwards to a tenth of a degree, and west > east across the date line.
std::array<double, 4> extent_of(const Domain& domain, const Observations& observations, const Rows& rows = {});

}  // namespace drift
