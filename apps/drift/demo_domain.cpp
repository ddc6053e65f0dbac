// Lambert's azimuthal equal-area projection from the north pole, on the sphere (Snyder 1987, section 24):
//   r = 2 R sin((90 deg - lat) / 2),  x = r sin(lon),  y = -r cos(lon).

#include "demo_domain.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

using drift::kEarthRadiusKm;

namespace {

constexpr double kDegree = std::numbers::pi / 180.0;

template <class Number>
Standard standard_of(std::size_t count, Number number) {
  Standard standard = {0.0, 0.0};
  for (std::size_t i = 0; i < count; ++i) standard.mean += number(i) / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) standard.sd += std::pow(number(i) - standard.mean, 2) / static_cast<double>(count);
  standard.sd = standard.sd > 0.0 ? std::sqrt(standard.sd) : 1.0;
  return standard;
}

float standardise(const Standard& standard, double number) { return static_cast<float>((number - standard.mean) / standard.sd); }

}  // namespace

double parallel_radius_km(double lat_deg) { return 2.0 * kEarthRadiusKm * std::sin(0.5 * (90.0 - lat_deg) * kDegree); }

PlanePosition to_plane(const drift::Position& position) {
  const double r = parallel_radius_km(position.lat_deg), lon = position.lon_deg * kDegree;
  return {r * std::sin(lon), -r * std::cos(lon)};
}

drift::Position from_plane(const PlanePosition& plane) {
  const double r = std::hypot(plane.x_km, plane.y_km);
  return {std::atan2(plane.x_km, -plane.y_km) / kDegree, 90.0 - 2.0 * std::asin(0.5 * r / kEarthRadiusKm) / kDegree};
}

DemoDomain::DemoDomain(const drift::Observations& observations, std::span<const std::size_t> rows) {
  std::vector<PlanePosition> plane;
  plane.reserve(rows.size());
  for (std::size_t row : rows) plane.push_back(to_plane({observations.lon_deg[row], observations.lat_deg[row]}));
  x_ = standard_of(rows.size(), [&](std::size_t i) { return plane[i].x_km; });
  y_ = standard_of(rows.size(), [&](std::size_t i) { return plane[i].y_km; });
  x_.sd = y_.sd = std::sqrt(0.5 * (x_.sd * x_.sd + y_.sd * y_.sd));
  time_ = standard_of(rows.size(), [&](std::size_t i) { return observations.time_days[rows[i]]; });
  value_ = standard_of(rows.size(), [&](std::size_t i) { return observations.value[rows[i]]; });
}

std::vector<float> DemoDomain::coordinates(const drift::Observations& observations, std::span<const std::size_t> rows) const {
  std::vector<float> result;
  result.reserve(3 * rows.size());
  for (std::size_t row : rows) {
    const PlanePosition plane = to_plane({observations.lon_deg[row], observations.lat_deg[row]});
    result.insert(result.end(),
                  {standardise(x_, plane.x_km), standardise(y_, plane.y_km), standardise(time_, observations.time_days[row])});
  }
  return result;
}

std::vector<float> DemoDomain::coordinates(std::span<const PlanePosition> plane) const {
  std::vector<float> result;
  result.reserve(3 * plane.size());
  for (const PlanePosition& p : plane) result.insert(result.end(), {standardise(x_, p.x_km), standardise(y_, p.y_km), 0.0f});
  return result;
}

std::vector<float> DemoDomain::values(const drift::Observations& observations, std::span<const std::size_t> rows) const {
  std::vector<float> result;
  result.reserve(rows.size());
  for (std::size_t row : rows) result.push_back(standardise(value_, observations.value[row]));
  return result;
}

std::string DemoDomain::to_json() const {
  return nlohmann::ordered_json{{"projection", "north polar Lambert azimuthal equal-area, sphere"},
                                {"earth_radius_km", kEarthRadiusKm},
                                {"x_mean_km", x_.mean},
                                {"y_mean_km", y_.mean},
                                {"km_per_unit", x_.sd},
                                {"time_mean_days", time_.mean},
                                {"days_per_unit", time_.sd},
                                {"value_mean", value_.mean},
                                {"value_sd", value_.sd}}
      .dump();
}
