#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "drift/position.h"

namespace drift {

// A projected CRS: metres on its plane against longitude and latitude on its own datum (no datum shift is ever applied). Always x
// then y and longitude then latitude, whatever order the CRS declares. For one thread at a time: see projection_of.
class Projection {
 public:
  explicit Projection(const std::string& crs);  // throws UsageError with PROJ's reason

  // In place: degrees become metres, infinite where the projection does not reach.
  void forward(std::span<double> lon_to_x, std::span<double> lat_to_y) const;
  // In place: metres become degrees, longitude in [-180, 180]; NaN where there is no position.
  void inverse(std::span<double> x_to_lon, std::span<double> y_to_lat) const;

  double metres_per_unit() const { return metres_per_unit_; }  // of the CRS's own axes

  // Image on the plane of a step of one metre over the ellipsoid.
  struct Jacobian {
    double x_east, y_east;    // a step to the east
    double x_north, y_north;  // a step to the north
  };
  Jacobian jacobian(const Position& position) const;  // throws Error where the projection does not reach

  // xmin, ymin, xmax, ymax in metres of the CRS's area of use; none when it declares none, as PROJ strings do.
  std::optional<std::array<double, 4>> area_of_use() const;

 private:
  struct Handles;
  std::shared_ptr<Handles> handles_;
  double metres_per_unit_ = 1.0;
  double semi_major_m_ = 0.0;
  double eccentricity2_ = 0.0;  // first eccentricity squared
};

// This thread's own, made when first asked for: PROJ's contexts and objects must not be shared between threads.
std::shared_ptr<const Projection> projection_of(const std::string& crs);

// Throws UsageError naming position `index` unless longitude is within +-360 degrees and latitude within +-90.
void check_position(double lon_deg, double lat_deg, std::size_t index);

}  // namespace drift
