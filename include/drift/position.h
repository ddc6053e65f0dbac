#pragma once

#include <array>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Mean radius of the Earth, (2 a + b) / 3 of the WGS 84 ellipsoid, as the IUGG defines it.
inline constexpr double kEarthRadiusKm = 6371.0088;

struct Position {
  double lon_deg;  // east of Greenwich
  double lat_deg;  // geocentric
};

// A point of the unit sphere: x towards 0 E on the equator, y towards 90 E, z north.
using UnitVector = std::array<double, 3>;

UnitVector unit_vector(const Position& position);

// Longitude in [-180, 180].
Position position_of(const UnitVector& vector);

}  // namespace drift
