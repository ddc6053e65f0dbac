// Geostrophic balance: f v = g dh/dx, f u = -g dh/dy, with f = 2 Omega sin(latitude). Gravity at latitude phi by the normal
// gravity formula of WGS 84 (Somigliana), Omega = 7.292115e-5 rad/s.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

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

// CF's names, and the older ones they are aliases of. Heights above the ellipsoid, tides and corrections are left out on purpose:
// the slope of the first is the geoid's, a hundred times that of the sea above it.
constexpr std::array<std::string_view, 2> kAbsolute = {"sea_surface_height_above_geoid",
                                                       "sea_surface_height_above_geopotential_datum"};
constexpr std::array<std::string_view, 2> kAnomaly = {"sea_surface_height_above_mean_sea_level",
                                                      "sea_surface_height_above_sea_level"};
// Without a standard name: products' own names that leave no doubt. "ssh" does, and is not among them.
constexpr std::array<std::string_view, 2> kAbsoluteNames = {"adt", "zos"};
constexpr std::array<std::string_view, 4> kAnomalyNames = {"sla", "ssha", "sla_filtered", "sla_unfiltered"};

constexpr std::array<std::pair<std::string_view, double>, 7> kUnits = {
    {{"m", 1.0}, {"metre", 1.0}, {"meter", 1.0}, {"metres", 1.0}, {"meters", 1.0}, {"cm", 0.01}, {"mm", 0.001}}};

SeaSurfaceHeight::Kind kind_of(const VariableInfo& value) {
  const auto among = [](const auto& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const bool by_name = value.standard_name.empty();
  const std::string& name = by_name ? value.name : value.standard_name;
  if (by_name ? among(kAbsoluteNames, name) : among(kAbsolute, name)) return SeaSurfaceHeight::Kind::absolute;
  if (by_name ? among(kAnomalyNames, name) : among(kAnomaly, name)) return SeaSurfaceHeight::Kind::anomaly;
  return SeaSurfaceHeight::Kind::none;
}

std::string why_not(const VariableInfo& value, const std::string& called) {
  if (value.standard_name.empty() && value.name.starts_with("ssh")) {
    return called +
           " has no known reference surface: give it a standard_name, or call it adt if that is the geoid and sla if "
           "it is the mean sea level";
  }
  if (value.standard_name.starts_with("sea_surface_height")) {
    return called +
           " is neither a height above the geoid (sea_surface_height_above_geoid) nor above the mean sea level "
           "(sea_surface_height_above_mean_sea_level), whose slopes alone drive currents";
  }
  return called + " is not a height of the sea surface";
}

}  // namespace

Velocity geostrophic_velocity(double lat_deg, double slope_east_per_km, double slope_north_per_km) {
  if (std::abs(lat_deg) < kEquatorDeg) return {std::nan(""), std::nan("")};
  const double sine = std::sin(lat_deg * kDegree);
  const double factor = normal_gravity(sine) / (2.0 * kOmega * sine) / 1000.0;  // slopes are per km
  return {-factor * slope_north_per_km, factor * slope_east_per_km};
}

SeaSurfaceHeight sea_surface_height(const VariableInfo& value) {
  using Kind = SeaSurfaceHeight::Kind;
  const std::string called =
      value.standard_name.empty() ? fmt::format("'{}'", value.name) : fmt::format("'{}' ({})", value.name, value.standard_name);
  const Kind kind = kind_of(value);
  if (kind == Kind::none) return {.why_none = why_not(value, called)};
  for (const auto& [unit, metres] : kUnits) {
    if (value.unit == unit) return {.kind = kind, .metres = metres, .why_none = {}};
  }
  return {.why_none = fmt::format("{} is in \"{}\"; m, cm and mm are understood", called, value.unit)};
}

}  // namespace drift
