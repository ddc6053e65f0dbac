#include "geo/around.h"

#include <geodesic.h>

#include <array>

namespace drift {

void positions_around(const Domain& domain, std::span<const double> lon_deg, std::span<const double> lat_deg, double distance,
                      std::span<double> around_lon_deg, std::span<double> around_lat_deg) {
  constexpr double kEquatorialKm = 6378.137, kFlattening = 1.0 / 298.257223563;  // of WGS 84
  constexpr std::array<double, 4> kAzimuth = {-90.0, 90.0, 180.0, 0.0};
  constexpr std::array<double, 4> kX = {-1.0, 1.0, 0.0, 0.0}, kY = {0.0, 0.0, -1.0, 1.0};
  const bool sphere = domain.kind == DomainKind::sphere;
  const double half = 0.5 * distance;
  geod_geodesic earth;
  geod_init(&earth, sphere ? kEarthRadiusKm : kEquatorialKm, sphere ? 0.0 : kFlattening);
  for (std::size_t i = 0; i < lon_deg.size(); ++i) {
    for (std::size_t d = 0; d < 4; ++d) {
      double &lon = around_lon_deg[4 * i + d], &lat = around_lat_deg[4 * i + d];
      if (domain.kind == DomainKind::xy) {
        lon = lon_deg[i] + kX.at(d) * half, lat = lat_deg[i] + kY.at(d) * half;
      } else {
        geod_direct(&earth, lat_deg[i], lon_deg[i], kAzimuth.at(d), half, &lat, &lon, nullptr);
      }
    }
  }
}

}  // namespace drift
