#pragma once

#include <cmath>

namespace drift {

// Longitudes in degrees east. None of these depends on whole turns of its arguments, but for rounding.

// Files count from -180 or from 0, and beyond 360 where an orbit crosses the meridian: more than this is no longitude.
inline constexpr double kMostLongitudeDeg = 540.0;

// The longitude in [start, start + 360).
inline double turned_from(double start_deg, double lon_deg) {
  const double turned = lon_deg - 360.0 * std::floor((lon_deg - start_deg) / 360.0);
  return turned < start_deg + 360.0 ? turned : start_deg;  // just below `start`, the sum rounds up
}

// The longitude in [-180, 180).
inline double wrapped_longitude(double lon_deg) { return turned_from(-180.0, lon_deg); }

// Degrees from one longitude eastwards to the other, [0, 360).
inline double degrees_eastwards(double from_deg, double to_deg) { return turned_from(0.0, to_deg - from_deg); }

// The longitude that is at most half a turn from `near`: continues an axis over the date line.
inline double turned_near(double near_deg, double lon_deg) { return lon_deg - 360.0 * std::round((lon_deg - near_deg) / 360.0); }

// On the way from west eastwards to east, both included; everywhere, if they are a whole turn or more apart.
inline bool lies_between(double west_deg, double east_deg, double lon_deg) {
  return std::abs(east_deg - west_deg) >= 360.0 || degrees_eastwards(west_deg, lon_deg) <= degrees_eastwards(west_deg, east_deg);
}

}  // namespace drift
