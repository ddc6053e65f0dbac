#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nanoflann.hpp>
#include <numbers>

#include "drift/error.h"
#include "drift/field_model.h"

namespace drift {
namespace {

constexpr int kCellsADegree = 2;
constexpr int kPlaneCells = 512;

std::size_t cell_of(const DataCells& cells, double x, double y) {
  const auto place = [](double at, double low, double high, int count) {
    return static_cast<std::size_t>(std::clamp(std::floor((at - low) / (high - low) * count), 0.0, count - 1.0));
  };
  const auto& [x0, y0, x1, y1] = cells.extent;
  return place(y, y0, y1, cells.rows) * static_cast<std::size_t>(cells.columns) + place(x, x0, x1, cells.columns);
}

// A point of the space in which distances are straight lines: unit vectors, or the plane itself.
using Point = std::array<double, 3>;

Point point_of(const Domain& domain, double x, double y) {
  if (domain.kind == DomainKind::xy) return {x, y, 0.0};
  return unit_vector({x, y});
}

struct PointCloud {
  std::vector<Point> points;
  std::size_t kdtree_get_point_count() const { return points.size(); }
  double kdtree_get_pt(std::size_t index, std::size_t axis) const { return points[index][axis]; }
  template <class Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};
using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, PointCloud>, PointCloud, 3>;

PointCloud centres(const Domain& domain, const DataCells& cells) {
  PointCloud cloud;
  const auto& [x0, y0, x1, y1] = cells.extent;
  for (int row = 0; row < cells.rows; ++row) {
    for (int column = 0; column < cells.columns; ++column) {
      const std::size_t cell =
          static_cast<std::size_t>(row) * static_cast<std::size_t>(cells.columns) + static_cast<std::size_t>(column);
      if ((cells.bits[cell / 8] >> (cell % 8) & 1U) == 0) continue;
      cloud.points.push_back(
          point_of(domain, x0 + (column + 0.5) * (x1 - x0) / cells.columns, y0 + (row + 0.5) * (y1 - y0) / cells.rows));
    }
  }
  return cloud;
}

}  // namespace

DataCells data_cells(const Domain& domain, const Observations& observations, const Rows& rows) {
  const std::size_t count = rows ? rows->size() : observations.size();
  const auto row_of = [&](std::size_t i) { return rows ? (*rows)[i] : i; };
  DataCells cells = {360 * kCellsADegree, 180 * kCellsADegree, {-180.0, -90.0, 180.0, 90.0}, {}};
  if (domain.kind == DomainKind::xy) {
    constexpr double kFar = std::numeric_limits<double>::infinity();
    double x0 = kFar, y0 = kFar, x1 = -kFar, y1 = -kFar;
    for (std::size_t i = 0; i < count; ++i) {
      x0 = std::min(x0, observations.lon_deg[row_of(i)]), x1 = std::max(x1, observations.lon_deg[row_of(i)]);
      y0 = std::min(y0, observations.lat_deg[row_of(i)]), y1 = std::max(y1, observations.lat_deg[row_of(i)]);
    }
    const double least = std::max({x1 - x0, y1 - y0, 1e-9 * std::max(std::abs(x0), std::abs(y0)), 1e-300});  // not of zero width
    cells = {kPlaneCells, kPlaneCells, {x0, y0, std::max(x1, x0 + 1e-6 * least), std::max(y1, y0 + 1e-6 * least)}, {}};
  }
  cells.bits.assign((static_cast<std::size_t>(cells.columns) * static_cast<std::size_t>(cells.rows) + 7) / 8, 0);
  for (std::size_t i = 0; i < count; ++i) {
    double x = observations.lon_deg[row_of(i)];
    if (domain.kind != DomainKind::xy) x -= 360.0 * std::floor((x + 180.0) / 360.0);
    const std::size_t cell = cell_of(cells, x, observations.lat_deg[row_of(i)]);
    cells.bits[cell / 8] |= static_cast<std::uint8_t>(1U << (cell % 8));
  }
  return cells;
}

std::vector<char> near_data(const Domain& domain, const DataCells& cells, std::span<const double> lon_deg,
                            std::span<const double> lat_deg, double distance) {
  if (!(distance > 0.0)) throw UsageError(fmt::format("the distance to data is {}; it must be more than zero", distance));
  const PointCloud cloud = centres(domain, cells);
  const Tree tree(3, cloud);
  const bool plane = domain.kind == DomainKind::xy;
  // On the sphere by the chord.
  const double reach = plane ? distance : 2.0 * std::sin(std::min(0.5 * distance / kEarthRadiusKm, 0.5 * std::numbers::pi));
  std::vector<char> near(lon_deg.size(), 0);
  for (std::size_t i = 0; i < near.size() && !cloud.points.empty(); ++i) {
    if (!std::isfinite(lon_deg[i]) || !std::isfinite(lat_deg[i])) continue;
    const Point point = point_of(domain, lon_deg[i], lat_deg[i]);
    std::uint32_t index = 0;
    double square = 0.0;
    tree.knnSearch(point.data(), 1, &index, &square);
    near[i] = square <= reach * reach ? 1 : 0;
  }
  return near;
}

}  // namespace drift
