// On the sphere a row is s = (cos lat cos lon, cos lat sin lon, sin lat); on a plane (x - centre) / scale.

#include "drift/domain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/blocks.h"
#include "core/degree.h"
#include "drift/error.h"
#include "geo/number_limits.h"
#include "geo/plane.h"
#include "geo/projection.h"

namespace drift {
namespace {

// Statistics that a prediction, its square and a map's float32 can hold.
void check_standard(const Standard& standard, const char* name) {
  if (!(std::abs(standard.mean) <= kLargestNumber))
    throw UsageError(fmt::format("domain: {}.mean must be at most {:g} in size but is {}", name, kLargestNumber, standard.mean));
  if (!(standard.sd > 0.0)) throw UsageError(fmt::format("domain: {}.sd must be positive but is {}", name, standard.sd));
  if (!(standard.sd >= 1.0 / kLargestNumber && standard.sd <= kLargestNumber)) {
    throw UsageError(fmt::format("domain: {}.sd must be from {:g} to {:g} but is {}", name, 1.0 / kLargestNumber, kLargestNumber,
                                 standard.sd));
  }
}

void check_counts(const char* what, std::size_t lon, std::size_t lat, std::size_t rows) {
  if (lon != lat || lon != rows) {
    throw UsageError(fmt::format("{}: {} longitudes and {} latitudes for {} rows", what, lon, lat, rows));
  }
}

void check_columns(const Domain& domain, const char* what, std::size_t cols, bool time) {
  const std::size_t wanted = static_cast<std::size_t>(space_coordinates(domain)) + (time ? 1 : 0);
  if (cols != wanted) throw UsageError(fmt::format("{}: rows have {} columns but the domain needs {}", what, cols, wanted));
}

template <class Real>
void fill_space(const Domain& domain, std::span<const double> lon, std::span<const double> lat, std::size_t first,
                MatrixView<Real> rows) {
  if (domain.kind == DomainKind::sphere) {
    for (std::size_t i = 0; i < lon.size(); ++i) {
      check_position(lon[i], lat[i], first + i);
      const double lambda = lon[i] * kDegree, phi = lat[i] * kDegree;
      rows(i, 0) = static_cast<Real>(std::cos(phi) * std::cos(lambda));
      rows(i, 1) = static_cast<Real>(std::cos(phi) * std::sin(lambda));
      rows(i, 2) = static_cast<Real>(std::sin(phi));
    }
    return;
  }
  std::array<double, kDomainBlock> x, y;
  to_plane(domain, lon, lat, first, std::span(x).first(lon.size()), std::span(y).first(lon.size()));
  for (std::size_t i = 0; i < lon.size(); ++i) {
    rows(i, 0) = static_cast<Real>((x[i] - domain.centre[0]) / domain.scale);
    rows(i, 1) = static_cast<Real>((y[i] - domain.centre[1]) / domain.scale);
  }
}

template <class Real>
void fill_rows(const Domain& domain, std::span<const double> lon, std::span<const double> lat, std::span<const double> time,
               MatrixView<Real> rows) {
  const std::size_t n = lon.size();
  check_counts("engine rows", n, lat.size(), rows.rows);
  check_columns(domain, "engine rows", rows.cols, !time.empty());
  if (time.size() > 1 && time.size() != n)
    throw UsageError(fmt::format("engine rows: {} times for {} positions", time.size(), n));
  for_blocks(n, kDomainBlock, [&](std::size_t first, std::size_t count) {
    fill_space(domain, lon.subspan(first, count), lat.subspan(first, count), first, rows.middle_rows(first, count));
  });
  for (std::size_t i = 0; i < n && !time.empty(); ++i) {
    const double days = time[time.size() == 1 ? 0 : i];
    if (!std::isfinite(days)) throw Error(fmt::format("engine rows: time {} is not a finite number", i));
    rows(i, rows.cols - 1) = static_cast<Real>(domain.time.to_engine(days));
  }
}

double positive(double number, const char* what) {
  if (!(number > 0.0) || !std::isfinite(number)) throw UsageError(fmt::format("{} must be positive but is {}", what, number));
  return number;
}

}  // namespace

Domain sphere_domain() { return {}; }

Domain plane_domain(const std::string& crs) {
  projection_of(crs);
  Domain domain;
  domain.kind = DomainKind::plane;
  domain.crs = crs;
  domain.scale = 1.0;
  return domain;
}

Domain xy_domain(const std::string& unit) {
  Domain domain;
  domain.kind = DomainKind::xy;
  domain.unit = unit;
  domain.scale = 1.0;
  check(domain);
  return domain;
}

void check(const Domain& domain) {
  const bool plane = domain.kind == DomainKind::plane, sphere = domain.kind == DomainKind::sphere;
  if (domain.crs.empty() == plane) {
    throw UsageError(plane ? "domain: a plane needs a crs, such as EPSG:6931"
                           : fmt::format("domain: only a plane has a crs, but it is '{}'", domain.crs));
  }
  if (domain.kind != DomainKind::xy && domain.unit != "km") {
    throw UsageError(fmt::format("domain: the unit of a plane and of the sphere is km, not '{}'", domain.unit));
  }
  if (domain.unit.empty()) throw UsageError("domain: the unit of x and y is empty; name it, for instance \"km\"");
  if (!std::isfinite(domain.centre[0]) || !std::isfinite(domain.centre[1])) {
    throw UsageError(fmt::format("domain: centre must be finite but is {}, {}", domain.centre[0], domain.centre[1]));
  }
  if (sphere && (domain.centre[0] != 0.0 || domain.centre[1] != 0.0))
    throw UsageError("domain: the sphere has no other centre than 0, 0");
  positive(domain.scale, "domain: scale");
  check_standard(domain.time, "time");
  check_standard(domain.value, "value");
  if (plane) projection_of(domain.crs);
}

void to_plane(const Domain& domain, std::span<const double> lon_deg, std::span<const double> lat_deg, std::size_t first,
              std::span<double> x, std::span<double> y) {
  constexpr double kKmPerMetre = 1e-3;
  std::copy(lon_deg.begin(), lon_deg.end(), x.begin());
  std::copy(lat_deg.begin(), lat_deg.end(), y.begin());
  if (domain.kind == DomainKind::xy) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!std::isfinite(x[i]) || !std::isfinite(y[i])) {
        throw Error(fmt::format("position {}: x {}, y {}: coordinates must be finite", first + i, x[i], y[i]));
      }
    }
    return;
  }
  for (std::size_t i = 0; i < x.size(); ++i) check_position(x[i], y[i], first + i);
  projection_of(domain.crs)->forward(x, y);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!std::isfinite(x[i])) {
      throw Error(
          fmt::format("position {}: longitude {}, latitude {} cannot be projected to {}: leave it out or choose another domain",
                      first + i, lon_deg[i], lat_deg[i], domain.crs));
    }
    x[i] *= kKmPerMetre;
    y[i] *= kKmPerMetre;
  }
}

Space space_of(const Domain& domain) { return domain.kind == DomainKind::sphere ? Space::sphere : Space::plane; }

int space_coordinates(const Domain& domain) { return domain.kind == DomainKind::sphere ? 3 : 2; }

void engine_rows(const Domain& domain, std::span<const double> lon_deg, std::span<const double> lat_deg,
                 std::span<const double> time_days, MatrixView<float> rows) {
  fill_rows(domain, lon_deg, lat_deg, time_days, rows);
}

void engine_rows(const Domain& domain, std::span<const double> lon_deg, std::span<const double> lat_deg,
                 std::span<const double> time_days, MatrixView<double> rows) {
  fill_rows(domain, lon_deg, lat_deg, time_days, rows);
}

void positions_of_rows(const Domain& domain, MatrixView<const double> rows, std::span<double> lon_deg,
                       std::span<double> lat_deg) {
  constexpr double kMetresPerKm = 1e3;
  check_counts("positions of rows", lon_deg.size(), lat_deg.size(), rows.rows);
  const std::size_t space = static_cast<std::size_t>(space_coordinates(domain));
  if (rows.cols != space) check_columns(domain, "positions of rows", rows.cols, true);
  for (std::size_t i = 0; i < rows.rows; ++i) {
    if (domain.kind == DomainKind::sphere) {
      lon_deg[i] = std::atan2(rows(i, 1), rows(i, 0)) / kDegree;
      lat_deg[i] = std::atan2(rows(i, 2), std::hypot(rows(i, 0), rows(i, 1))) / kDegree;
    } else {
      const double to_metres = domain.kind == DomainKind::plane ? kMetresPerKm : 1.0;
      lon_deg[i] = to_metres * (domain.centre[0] + domain.scale * rows(i, 0));
      lat_deg[i] = to_metres * (domain.centre[1] + domain.scale * rows(i, 1));
    }
  }
  if (domain.kind == DomainKind::plane) projection_of(domain.crs)->inverse(lon_deg, lat_deg);
}

double lengthscale_to_engine(const Domain& domain, double length) { return positive(length, "a lengthscale") / domain.scale; }

double lengthscale_from_engine(const Domain& domain, double lengthscale) {
  return positive(lengthscale, "a lengthscale") * domain.scale;
}

double time_lengthscale_to_engine(const Domain& domain, double days) {
  return positive(days, "a time lengthscale") / domain.time.sd;
}

double time_lengthscale_from_engine(const Domain& domain, double lengthscale) {
  return positive(lengthscale, "a time lengthscale") * domain.time.sd;
}

double sd_from_engine(const Domain& domain, double sd) { return domain.value.sd * sd; }

}  // namespace drift
