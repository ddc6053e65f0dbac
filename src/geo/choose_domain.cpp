// Means and standard deviations in one pass (Welford 1962): with the n-th number x,
//   mean' = mean + (x - mean) / n,   sum of squares' = sum of squares + (x - mean) (x - mean').

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "drift/domain.h"
#include "drift/error.h"
#include "geo/longitude_extent.h"
#include "geo/plane.h"
#include "geo/projection.h"

namespace drift {
namespace {

class Moments {
 public:
  void add(double number) {
    const double before = number - mean_;
    mean_ += before / ++count_;
    squares_ += before * (number - mean_);
  }
  double mean() const { return mean_; }
  double variance() const { return squares_ / count_; }
  // Of numbers that are all the same, rounding aside, the spread is of no use as a scale.
  Standard standard() const { return {mean_, spread(variance(), mean_)}; }
  static double spread(double variance, double size) {
    constexpr double kRounding = 1e-12;
    const double sd = std::sqrt(variance);
    return sd > kRounding * std::abs(size) ? sd : 1.0;
  }

 private:
  double count_ = 0.0, mean_ = 0.0, squares_ = 0.0;
};

// The rows asked for, one after the other.
class RowList {
 public:
  RowList(const Observations& observations, const Rows& rows) : rows_(rows), size_(rows ? rows->size() : observations.size()) {
    const std::size_t n = observations.size();
    if (observations.lon_deg.size() != n || observations.lat_deg.size() != n ||
        (!observations.time_days.empty() && observations.time_days.size() != n)) {
      throw UsageError(fmt::format("observations: {} values but {} longitudes, {} latitudes and {} times", n,
                                   observations.lon_deg.size(), observations.lat_deg.size(), observations.time_days.size()));
    }
    if (size_ == 0) throw UsageError("a domain needs at least one observation to take its scales from");
    for (std::size_t i = 0; rows && i < size_; ++i) {
      if ((*rows)[i] >= n) throw UsageError(fmt::format("row {} is requested, but there are {} observations", (*rows)[i], n));
    }
  }
  std::size_t size() const { return size_; }
  std::size_t operator[](std::size_t i) const { return rows_ ? (*rows_)[i] : i; }

 private:
  Rows rows_;
  std::size_t size_;
};

double finite(double number, const char* what, std::size_t row) {
  if (!std::isfinite(number)) throw Error(fmt::format("observation {}: its {} is {}, not a finite number", row, what, number));
  return number;
}

void fit_plane(Domain& domain, const Observations& observations, const RowList& rows) {
  Moments x, y;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // One at a time, so that a message names the observation's own row.
    const std::size_t row = rows[i];
    double x_here = 0.0, y_here = 0.0;
    to_plane(domain, {&observations.lon_deg[row], 1}, {&observations.lat_deg[row], 1}, row, {&x_here, 1}, {&y_here, 1});
    x.add(x_here);
    y.add(y_here);
  }
  domain.centre = {x.mean(), y.mean()};
  domain.scale = Moments::spread(0.5 * (x.variance() + y.variance()), std::hypot(x.mean(), y.mean()));
}

Domain domain_for(const Arc& lon, double south_deg, double north_deg) {
  constexpr double kCapDeg = 50.0, kWidestDeg = 120.0, kTallestDeg = 90.0;
  if (south_deg >= kCapDeg) return plane_domain("EPSG:6931");
  if (north_deg <= -kCapDeg) return plane_domain("EPSG:6932");
  if (lon.span_deg > kWidestDeg || north_deg - south_deg > kTallestDeg) return sphere_domain();
  const double middle = lon.west_deg + 0.5 * lon.span_deg;
  // A hundredth of a degree is close enough for the middle, and reads better.
  return plane_domain(fmt::format("+proj=laea +lat_0={:.2f} +lon_0={:.2f} +datum=WGS84 +units=m +no_defs +type=crs",
                                  0.5 * (south_deg + north_deg), std::remainder(middle, 360.0)));
}

}  // namespace

Domain fit_domain(Domain domain, const Observations& observations, const Rows& rows) {
  const RowList list(observations, rows);
  Moments time, value;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::size_t row = list[i];
    value.add(finite(observations.value[row], "value", row));
    if (!observations.time_days.empty()) time.add(finite(observations.time_days[row], "time", row));
    if (domain.kind == DomainKind::sphere) check_position(observations.lon_deg[row], observations.lat_deg[row], row);
  }
  domain.value = value.standard();
  domain.time = observations.time_days.empty() ? Standard{} : time.standard();
  if (domain.kind != DomainKind::sphere) fit_plane(domain, observations, list);
  check(domain);
  return domain;
}

Domain choose_domain(const Observations& observations, const Rows& rows) {
  const RowList list(observations, rows);
  LongitudeExtent longitudes;
  double south = std::numeric_limits<double>::infinity(), north = -south;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const double lon = observations.lon_deg[list[i]], lat = observations.lat_deg[list[i]];
    check_position(lon, lat, list[i]);
    longitudes.add(lon);
    south = std::min(south, lat);
    north = std::max(north, lat);
  }
  return fit_domain(domain_for(longitudes.arc(), south, north), observations, rows);
}

}  // namespace drift
