#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "drift/enum_words.h"
#include "drift/export.h"
#include "drift/matrix_view.h"
#include "drift/network_spec.h"
#include "drift/observations.h"
#include "drift/position.h"

namespace DRIFT_PUBLIC drift {

// Converts kilometres, degrees and days to the engine's standardised float32 rows. Everything here is plain data in double
// precision, works on any number of points in constant extra memory, and may be called from several threads at once.

enum class DomainKind {
  sphere,  // unit vectors; geodetic latitudes are taken as geocentric ones, which moves a point by at most 22 km
  plane,   // a projected coordinate reference system (CRS) of PROJ's; longitude and latitude are on that CRS's own datum
  xy,      // lon_deg and lat_deg hold plain coordinates x and y of a named unit; on the Earth or not
};
constexpr auto enum_words(DomainKind) {
  return std::to_array<EnumWord<DomainKind>>(
      {{"sphere", DomainKind::sphere}, {"plane", DomainKind::plane}, {"xy", DomainKind::xy}});
}

// number = mean + sd * engine's number
struct Standard {
  double mean = 0.0;
  double sd = 1.0;  // > 0

  double to_engine(double number) const { return (number - mean) / sd; }
  double from_engine(double number) const { return mean + sd * number; }
  bool operator==(const Standard&) const = default;
};

struct Domain {
  DomainKind kind = DomainKind::sphere;
  std::string crs;                        // plane: "EPSG:6931", "+proj=laea ...", whatever PROJ reads; otherwise empty
  std::string unit = "km";                // of lengths: centre, scale, lengthscales; only xy may have another than km
  std::array<double, 2> centre = {0, 0};  // plane and xy: the position that is the engine's (0, 0)
  double scale = kEarthRadiusKm;          // length of one engine unit, the same for both axes; on the sphere of one radian
  Standard time;                          // days
  Standard value;                         // the data's unit

  bool operator==(const Domain&) const = default;
};

// Domains as yet unfitted: centre at the origin, one engine unit to the kilometre (or unit), time and values as they are.
Domain sphere_domain();
Domain plane_domain(const std::string& crs);  // throws UsageError with PROJ's reason if there is no such projected CRS
Domain xy_domain(const std::string& unit);

// Throws UsageError, naming the field, unless the domain can be used.
void check(const Domain& domain);

// Rows of the observations that scales are taken from (those that train); none: all.
using Rows = std::optional<std::span<const std::size_t>>;

// The same domain with centre and scale (pooled standard deviation of both axes), time and value taken from observations.
// A quantity that does not vary has sd 1. Throws Error naming the row on a number that is not finite and on a position outside
// the domain.
Domain fit_domain(Domain domain, const Observations& observations, const Rows& rows = {});

// A domain for these positions, and its scales; the first of these that applies:
//   all north (south) of 50 degrees           EPSG:6931 (6932), EASE-Grid 2.0: Lambert azimuthal equal-area from the pole
//   over 120 degrees of longitude, or over 90 of latitude      the sphere
//   else                                      a Lambert azimuthal equal-area plane about the middle of the positions' extent
Domain choose_domain(const Observations& observations, const Rows& rows = {});

// Coordinates of a network for this domain.
Space space_of(const Domain& domain);
int space_coordinates(const Domain& domain);  // 3 on the sphere, else 2

// rows [n, space_coordinates + 1] from n positions and n times; one time serves for all; no time: rows [n, space_coordinates].
// Throws Error with the position on a latitude beyond 90 degrees and on a position that the projection does not reach.
void engine_rows(const Domain& domain, std::span<const double> lon_deg, std::span<const double> lat_deg,
                 std::span<const double> time_days, MatrixView<float> rows);
void engine_rows(const Domain& domain, std::span<const double> lon_deg, std::span<const double> lat_deg,
                 std::span<const double> time_days, MatrixView<double> rows);

// The way back, from the spatial coordinates of rows. Longitudes in [-180, 180]; NaN where the plane has no position.
void positions_of_rows(const Domain& domain, MatrixView<const double> rows, std::span<double> lon_deg, std::span<double> lat_deg);

// Lengths in km (xy: in its unit) and days against the engine's lengthscales.
double lengthscale_to_engine(const Domain& domain, double length);
double lengthscale_from_engine(const Domain& domain, double lengthscale);
double time_lengthscale_to_engine(const Domain& domain, double days);
double time_lengthscale_from_engine(const Domain& domain, double lengthscale);

// Standard deviations have no mean to add; values go through domain.value.
double sd_from_engine(const Domain& domain, double sd);

// Slope of a field over the ground, in the data's unit.
struct GroundGradient {
  double east = 0.0;     // per km towards the east; xy: per unit of x
  double north = 0.0;    // per km towards the north; xy: per unit of y
  double per_day = 0.0;  // zero when rows have no time
};

// From Engine::input_gradient of one output: gradient [n, space_coordinates or one more], standardised value per engine unit. On
// the plane the projection's scale, shear and convergence at each position are undone (to 1e-7 of the gradient). At a pole, east
// and north are those of the meridian named by its longitude.
void ground_gradient(const Domain& domain, std::span<const double> lon_deg, std::span<const double> lat_deg,
                     MatrixView<const float> gradient, std::span<GroundGradient> out);

// For a model file's metadata. Reading is strict: every key there, none unknown. Numbers come back to the last bit.
std::string to_json(const Domain& domain);
Domain domain_from_json(const std::string& text);

}  // namespace drift
