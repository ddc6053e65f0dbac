// A field f(x(e, n), y(e, n)) over east e and north n, with J the projection's derivatives at the place:
//   df/de = df/dx dx/de + df/dy dy/de,   df/dn = df/dx dx/dn + df/dy dy/dn.
// On the sphere the engine's gradient g is tangent and per radian, and
//   df/de = g . (-sin lon, cos lon, 0) / R,   df/dn = g . (-sin lat cos lon, -sin lat sin lon, cos lat) / R.

#include <fmt/format.h>

#include <cmath>

#include "core/degree.h"
#include "drift/domain.h"
#include "drift/error.h"
#include "geo/projection.h"

namespace drift {
namespace {

// Per engine unit, east and north.
std::array<double, 2> along_sphere(double lon_deg, double lat_deg, const float* g) {
  const double lon = lon_deg * kDegree, lat = lat_deg * kDegree;
  const double outward = g[0] * std::cos(lon) + g[1] * std::sin(lon);  // horizontally, away from the axis
  return {g[1] * std::cos(lon) - g[0] * std::sin(lon), g[2] * std::cos(lat) - outward * std::sin(lat)};
}

std::array<double, 2> along_plane(const Projection& projection, double lon_deg, double lat_deg, const float* g) {
  const Projection::Jacobian j = projection.jacobian({lon_deg, lat_deg});
  return {g[0] * j.x_east + g[1] * j.y_east, g[0] * j.x_north + g[1] * j.y_north};
}

}  // namespace

void ground_gradient(const Domain& domain, std::span<const double> lon_deg, std::span<const double> lat_deg,
                     MatrixView<const float> gradient, std::span<GroundGradient> out) {
  const std::size_t n = lon_deg.size(), space = static_cast<std::size_t>(space_coordinates(domain));
  if (lat_deg.size() != n || gradient.rows != n || out.size() != n) {
    throw UsageError(fmt::format("ground gradient: {} longitudes, {} latitudes and {} gradients for {} results", n,
                                 lat_deg.size(), gradient.rows, out.size()));
  }
  if (gradient.cols != space && gradient.cols != space + 1) {
    throw UsageError(
        fmt::format("ground gradient: {} columns but the domain has {} spatial coordinates, and time", gradient.cols, space));
  }
  const auto projection = domain.kind == DomainKind::plane ? projection_of(domain.crs) : nullptr;
  const double per_length = domain.value.sd / domain.scale, per_day = domain.value.sd / domain.time.sd;
  for (std::size_t i = 0; i < n; ++i) {
    const float* g = gradient.row(i);
    if (domain.kind != DomainKind::xy) check_position(lon_deg[i], lat_deg[i], i);
    const std::array<double, 2> ground = domain.kind == DomainKind::sphere  ? along_sphere(lon_deg[i], lat_deg[i], g)
                                         : domain.kind == DomainKind::plane ? along_plane(*projection, lon_deg[i], lat_deg[i], g)
                                                                            : std::array<double, 2>{g[0], g[1]};
    out[i] = {ground[0] * per_length, ground[1] * per_length, gradient.cols > space ? g[space] * per_day : 0.0};
  }
}

}  // namespace drift
