// Geostrophic balance: f v = g dh/dx, f u = -g dh/dy, with f = 2 Omega sin(latitude). Gravity at latitude phi by the normal
// gravity formula of WGS 84 (Somigliana), Omega = 7.292115e-5 rad/s.

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/degree.h"
#include "drift/predict.h"

namespace drift {
namespace {

constexpr double kOmega = 7.292115e-5;
constexpr double kEquatorDeg = 5.0;

double normal_gravity(double sin_latitude) {
  const double square = sin_latitude * sin_latitude;
  return 9.7803253359 * (1.0 + 0.00193185265241 * square) / std::sqrt(1.0 - 0.00669437999014 * square);
}

}  // namespace

Velocity geostrophic_velocity(double lat_deg, double slope_east_per_km, double slope_north_per_km) {
  if (std::abs(lat_deg) < kEquatorDeg) return {std::nan(""), std::nan("")};
  const double sine = std::sin(lat_deg * kDegree);
  const double factor = normal_gravity(sine) / (2.0 * kOmega * sine) / 1000.0;  // slopes are per km
  return {-factor * slope_north_per_km, factor * slope_east_per_km};
}

std::optional<double> sea_surface_metres(const VariableInfo& value) {
  constexpr std::array<std::string_view, 8> kNames = {"sla", "ssh",      "adt", "ssha", "sla_filtered", "sla_unfiltered",
                                                      "zos", "ssh_karin"};
  const bool height = value.standard_name.starts_with("sea_surface_height") ||
                      std::find(kNames.begin(), kNames.end(), value.name) != kNames.end();
  if (!height) return std::nullopt;
  if (value.unit == "m" || value.unit == "metre" || value.unit == "meter" || value.unit == "metres" || value.unit == "meters")
    return 1.0;
  if (value.unit == "cm") return 0.01;
  if (value.unit == "mm") return 0.001;
  return std::nullopt;
}

}  // namespace drift
