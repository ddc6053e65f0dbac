#include "drift/position.h"

#include <cmath>

#include "core/degree.h"

namespace drift {
namespace {}

UnitVector unit_vector(const Position& position) {
  const double lon = position.lon_deg * kDegree, lat = position.lat_deg * kDegree;
  return {std::cos(lat) * std::cos(lon), std::cos(lat) * std::sin(lon), std::sin(lat)};
}

Position position_of(const UnitVector& v) {
  return {std::atan2(v[1], v[0]) / kDegree, std::atan2(v[2], std::hypot(v[0], v[1])) / kDegree};
}

}  // namespace drift
