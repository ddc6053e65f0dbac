#pragma once

#include <span>

#include "drift/domain.h"

namespace drift {

// Of each of n positions those half a distance (km; xy: its unit) to the west, east, south and north (-x, x, -y, y), in this
// order: [4 n]. They lie on the geodesics through the position: of a sphere's own radius on the sphere, of WGS 84 on a plane.
void positions_around(const Domain& domain, std::span<const double> lon_deg, std::span<const double> lat_deg, double distance,
                      std::span<double> around_lon_deg, std::span<double> around_lat_deg);

}  // namespace drift
