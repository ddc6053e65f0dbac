#include "simulate/truth_stencil.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/longitude.h"
#include "drift/error.h"
#include "geo/point_tree.h"
#include "geo/projection.h"

namespace drift {
namespace {

// Between which two points of an axis, and how far from the first to the second.
struct Place {
  std::size_t first;
  double share;  // 0 to 1; negative: outside
};

// Of a step, or of a turn: positions come through sines and cosines, and a point of the grid must stay one.
constexpr double kRounding = 1e-9;

Place place_on(const std::vector<double>& axis, double number) {
  if (axis.size() < 2) return {0, -1.0};
  const auto after = std::upper_bound(axis.begin() + 1, axis.end() - 1, number);
  const auto first = static_cast<std::size_t>(after - axis.begin()) - 1;
  const double share = (number - axis[first]) / (axis[first + 1] - axis[first]);
  if (!(share >= -kRounding && share <= 1.0 + kRounding)) return {0, -1.0};
  return {first, share < kRounding ? 0.0 : share > 1.0 - kRounding ? 1.0 : share};
}

Stencil bilinear(const Place& x, const Place& y, std::size_t columns) {
  if (x.share < 0.0 || y.share < 0.0) return {};
  const std::size_t corner = y.first * columns + x.first;
  return {{corner, corner + 1, corner + columns, corner + columns + 1},
          {(1.0 - x.share) * (1.0 - y.share), x.share * (1.0 - y.share), (1.0 - x.share) * y.share, x.share * y.share}};
}

double widest_gap(const std::vector<double>& axis) {
  double widest = 0.0;
  for (std::size_t i = 1; i < axis.size(); ++i) widest = std::max(widest, axis[i] - axis[i - 1]);
  return widest;
}

class GeographicStencils : public StencilFinder {
 public:
  explicit GeographicStencils(const GriddedVariable& gridded) : lon_(gridded.x.at), lat_(gridded.y.at) {
    constexpr double kNext = 1.5;  // steps: what is no further than the next point would be is within the grid
    const double open = 360.0 - (lon_.back() - lon_.front());
    const bool around = open < kNext * widest_gap(lon_);
    closed = around && open > 1e-6;
    const double lat_step = widest_gap(lat_);
    const auto near_pole = [&](double lat) { return around && lat < 90.0 && 90.0 - lat < kNext * lat_step; };
    pole_south = near_pole(-lat_.front());
    pole_north = near_pole(lat_.back());
    if (closed) lon_.push_back(lon_.front() + 360.0);
    if (pole_south) lat_.insert(lat_.begin(), -90.0);
    if (pole_north) lat_.push_back(90.0);
    rows = lat_.size();
    columns = lon_.size();
  }

  void find(std::span<const UnitVector> points, std::span<Stencil> stencils) const override {
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Position position = position_of(points[i]);
      const double lon = turned_from(lon_.front() - 360.0 * kRounding, position.lon_deg);
      stencils[i] = bilinear(place_on(lon_, lon), place_on(lat_, position.lat_deg), columns);
    }
  }

 private:
  std::vector<double> lon_, lat_;
};

class ProjectedStencils : public StencilFinder {
 public:
  explicit ProjectedStencils(const GriddedVariable& gridded) : crs_(gridded.crs), x_(gridded.x.at), y_(gridded.y.at) {
    projection_of(crs_);  // refuses what PROJ cannot use
    rows = y_.size();
    columns = x_.size();
  }

  void find(std::span<const UnitVector> points, std::span<Stencil> stencils) const override {
    std::vector<double> x(points.size()), y(points.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Position position = position_of(points[i]);
      x[i] = position.lon_deg;
      y[i] = position.lat_deg;
    }
    projection_of(crs_)->forward(x, y);
    for (std::size_t i = 0; i < points.size(); ++i) stencils[i] = bilinear(place_on(x_, x[i]), place_on(y_, y[i]), columns);
  }

 private:
  std::string crs_;
  std::vector<double> x_, y_;
};

class CurvilinearStencils : public StencilFinder {
 public:
  explicit CurvilinearStencils(const GriddedVariable& gridded) {
    rows = gridded.rows();
    columns = gridded.columns();
    for (std::size_t i = 0; i < gridded.lon.size(); ++i) {
      if (std::isnan(gridded.lon[i]) || std::isnan(gridded.lat[i])) continue;
      cell_.push_back(i);
      nodes_.points.push_back(unit_vector({gridded.lon[i], gridded.lat[i]}));
    }
    if (nodes_.points.empty()) throw Error(fmt::format("variable '{}' has no positions", gridded.variable->name));
    spacing_ = spacings();
    tree_ = std::make_unique<PointTree>(3, nodes_, nanoflann::KDTreeSingleIndexAdaptorParams(16));
    tree_->buildIndex();
  }

  void find(std::span<const UnitVector> points, std::span<Stencil> stencils) const override {
    for (std::size_t i = 0; i < points.size(); ++i) stencils[i] = at(points[i]);
  }

 private:
  static double distance(const UnitVector& a, const UnitVector& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

  // The distance from each node to the furthest of its neighbours along rows and columns.
  std::vector<double> spacings() const {
    constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
    std::vector<std::size_t> node_of(rows * columns, kNone);
    for (std::size_t n = 0; n < cell_.size(); ++n) node_of[cell_[n]] = n;
    std::vector<double> furthest(cell_.size(), 0.0);
    const auto join = [&](std::size_t a, std::size_t b) {
      if (node_of[a] == kNone || node_of[b] == kNone) return;
      const double apart = distance(nodes_.points[node_of[a]], nodes_.points[node_of[b]]);
      for (const std::size_t cell : {a, b}) furthest[node_of[cell]] = std::max(furthest[node_of[cell]], apart);
    };
    for (std::size_t cell = 0; cell < node_of.size(); ++cell) {
      if (cell % columns + 1 < columns) join(cell, cell + 1);
      if (cell + columns < node_of.size()) join(cell, cell + columns);
    }
    return furthest;
  }

  Stencil at(const UnitVector& point) const {
    constexpr double kWithin = 0.75;  // of the spacing: the middle of a cell is 0.71 from its corners
    constexpr double kSame = 1e-9;    // of the Earth's radius: 6 mm
    std::array<std::size_t, 4> node = {};
    std::array<double, 4> squared = {};
    const std::size_t count = tree_->knnSearch(point.data(), node.size(), node.data(), squared.data());
    const double nearest = std::sqrt(squared[0]);
    Stencil stencil;
    if (nearest < kSame) {
      stencil.at[0] = cell_[node[0]];
      stencil.weight[0] = 1.0;
      return stencil;
    }
    if (nearest > kWithin * spacing_[node[0]]) return stencil;
    double sum = 0.0;
    for (std::size_t k = 0; k < count; ++k) {
      stencil.at.at(k) = cell_[node.at(k)];
      stencil.weight.at(k) = 1.0 / std::sqrt(squared.at(k));
      sum += stencil.weight.at(k);
    }
    for (double& weight : stencil.weight) weight /= sum;
    return stencil;
  }

  PointCloud nodes_;
  std::vector<std::size_t> cell_;  // of each node: row * columns + column
  std::vector<double> spacing_;    // of each node, chords of the unit sphere
  std::unique_ptr<PointTree> tree_;
};

}  // namespace

std::unique_ptr<StencilFinder> make_stencil_finder(const GriddedVariable& gridded) {
  switch (gridded.kind) {
    case NcGridKind::geographic:
      return std::make_unique<GeographicStencils>(gridded);
    case NcGridKind::projected:
      return std::make_unique<ProjectedStencils>(gridded);
    case NcGridKind::curvilinear:
      return std::make_unique<CurvilinearStencils>(gridded);
    case NcGridKind::plane:
      break;
  }
  throw UsageError(
      fmt::format("variable '{}' lies on x and y without a grid mapping, so nowhere on the Earth", gridded.variable->name));
}

}  // namespace drift
