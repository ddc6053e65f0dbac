#include "output/plot_locator.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/degree.h"
#include "core/longitude.h"
#include "geo/projection.h"

namespace drift {
namespace {

using Vector = std::array<double, 3>;

Vector unit_vector(double lon_deg, double lat_deg) {
  const double lon = lon_deg * kDegree, lat = lat_deg * kDegree;
  return {std::cos(lat) * std::cos(lon), std::cos(lat) * std::sin(lon), std::sin(lat)};
}

// The cell between whose edges a number lies, kNoCell outside.
std::size_t cell_between(const std::vector<double>& edges, double number) {
  if (!(number >= edges.front() && number <= edges.back())) return kNoCell;
  const auto above = std::upper_bound(edges.begin(), edges.end(), number);
  return std::min(static_cast<std::size_t>(above - edges.begin()), edges.size() - 1) - 1;
}

class AxesLocator : public CellLocator {
 public:
  explicit AxesLocator(const PlotSource& source)
      : geographic_(source.space == PlotSpace::geographic), x_(edges_of(source.x)), y_(edges_of(source.y)) {
    if (source.space == PlotSpace::projected) projection_ = projection_of(source.crs);
  }

  void find(std::span<const double> lon_or_x, std::span<const double> lat_or_y, std::span<std::size_t> cell) const override {
    std::vector<double> x(lon_or_x.begin(), lon_or_x.end()), y(lat_or_y.begin(), lat_or_y.end());
    if (projection_) projection_->forward(x, y);
    for (std::size_t i = 0; i < cell.size(); ++i) {
      if (geographic_) x[i] = turned_from(x_.front(), x[i]);
      const std::size_t column = cell_between(x_, x[i]), row = cell_between(y_, y[i]);
      cell[i] = column == kNoCell || row == kNoCell ? kNoCell : row * (x_.size() - 1) + column;
    }
  }

 private:
  bool geographic_;
  std::vector<double> x_, y_;  // edges
  std::shared_ptr<const Projection> projection_;
};

// The nearest centre no further than a cell away, by boxes of unit vectors' space about a cell wide.
class NearestLocator : public CellLocator {
 public:
  explicit NearestLocator(const PlotSource& source) : columns_(source.x.size()) {
    points_.reserve(source.lon.size());
    for (std::size_t i = 0; i < source.lon.size(); ++i) {
      const bool known = std::isfinite(source.lon[i]) && std::abs(source.lat[i]) <= 90.0;
      points_.push_back(known ? unit_vector(source.lon[i], source.lat[i]) : Vector{9.0, 9.0, 9.0});
      if (known) entries_.push_back({0, i});
    }
    reach_ = typical_spacing();
    boxes_ = static_cast<long>(2.0 / reach_) + 3;
    for (Entry& entry : entries_) entry.box = box_of(points_[entry.point], {0, 0, 0});
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.box != b.box ? a.box < b.box : a.point < b.point; });
  }

  void find(std::span<const double> lon, std::span<const double> lat, std::span<std::size_t> cell) const override {
    for (std::size_t i = 0; i < cell.size(); ++i) cell[i] = nearest(unit_vector(lon[i], lat[i]));
  }

 private:
  struct Entry {
    long box;
    std::size_t point;
  };

  static double distance(const Vector& a, const Vector& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

  // The ninth decile of the distances to the next cell of the row.
  double typical_spacing() const {
    std::vector<double> spacing;
    for (std::size_t i = 0; i + 1 < points_.size(); ++i) {
      const double d = distance(points_[i], points_[i + 1]);
      if ((i + 1) % columns_ != 0 && d < 2.1) spacing.push_back(d);
    }
    if (spacing.empty()) return 0.1;
    const auto at = spacing.begin() + static_cast<std::ptrdiff_t>(spacing.size() * 9 / 10);
    std::nth_element(spacing.begin(), at, spacing.end());
    return std::clamp(*at, 1e-5, 0.5);
  }

  long box_of(const Vector& p, std::array<int, 3> step) const {
    long box = 0;
    for (std::size_t k = 0; k < 3; ++k) box = box * boxes_ + static_cast<long>((p[k] + 1.0) / reach_) + 1 + step[k];
    return box;
  }

  std::size_t nearest(const Vector& p) const {
    std::size_t best = kNoCell;
    double least = 0.75 * reach_;  // half a cell's diagonal, and a little
    for (int code = 0; code < 27; ++code) {
      const long box = box_of(p, {code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1});
      auto entry = std::lower_bound(entries_.begin(), entries_.end(), box, [](const Entry& e, long b) { return e.box < b; });
      for (; entry != entries_.end() && entry->box == box; ++entry) {
        const double d = distance(p, points_[entry->point]);
        if (d < least) least = d, best = entry->point;
      }
    }
    return best;
  }

  std::size_t columns_;
  std::vector<Vector> points_;
  std::vector<Entry> entries_;
  double reach_ = 0.0;
  long boxes_ = 0;  // along an axis
};

}  // namespace

std::vector<double> edges_of(const std::vector<double>& centres) {
  std::vector<double> edges = {centres[0] - 0.5 * (centres[1] - centres[0])};
  for (std::size_t i = 0; i + 1 < centres.size(); ++i) edges.push_back(0.5 * (centres[i] + centres[i + 1]));
  edges.push_back(centres.back() + 0.5 * (centres.back() - centres[centres.size() - 2]));
  return edges;
}

std::unique_ptr<CellLocator> make_locator(const PlotSource& source) {
  if (source.space == PlotSpace::curvilinear) return std::make_unique<NearestLocator>(source);
  return std::make_unique<AxesLocator>(source);
}

void row_positions(const PlotSource& source, std::size_t row, std::vector<double>& lon, std::vector<double>& lat) {
  const std::size_t columns = source.x.size();
  if (source.space == PlotSpace::curvilinear) {
    const auto first = static_cast<std::ptrdiff_t>(row * columns), last = first + static_cast<std::ptrdiff_t>(columns);
    lon.assign(source.lon.begin() + first, source.lon.begin() + last);
    lat.assign(source.lat.begin() + first, source.lat.begin() + last);
    return;
  }
  lon = source.x;
  lat.assign(columns, source.y[row]);
  if (source.space == PlotSpace::projected) projection_of(source.crs)->inverse(lon, lat);
}

}  // namespace drift
