// Positions of observations are kept as bits of a lattice of cells. An observation is at most a cell's half
// diagonal away from its cell's centre, so a position within `distance` of an observation is within distance + half a diagonal of
// a centre (the triangle inequality, on the sphere for chords). That is the test: it never refuses a position near an
// observation, and lets through none that is farther than distance + a whole diagonal.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "core/degree.h"
#include "core/longitude.h"
#include "drift/error.h"
#include "drift/field_model.h"
#include "fields/data_extent.h"
#include "geo/point_tree.h"

namespace drift {
namespace {

constexpr double kMostCells = 1 << 22;  // half a megabyte of bits: 14 km wide on the whole Earth, 2 km on 40 by 30 degrees
constexpr int kMostSide = 1 << 15;      // what a model file may have
constexpr double kLeastCellDeg = 0.005;
constexpr double kRounding = 1e-9;  // degrees by which an observation may lie west of the extent's rounded edge

std::size_t cell_of(const DataCells& cells, double x, double y) {
  const auto place = [](double at, double low, double high, int count) {
    return static_cast<std::size_t>(std::clamp(std::floor((at - low) / (high - low) * count), 0.0, count - 1.0));
  };
  const auto& [x0, y0, x1, y1] = cells.extent;
  return place(y, y0, y1, cells.rows) * static_cast<std::size_t>(cells.columns) + place(x, x0, x1, cells.columns);
}

// The largest cosine of the latitudes between two.
double most_cosine(double south_deg, double north_deg) {
  const double nearest = south_deg * north_deg <= 0.0 ? 0.0 : std::min(std::abs(south_deg), std::abs(north_deg));
  return std::cos(nearest * kDegree);
}

// Cells about as wide as high over the extent, `x_scale` times x being as long as y; none of zero width.
DataCells cells_over(std::array<double, 4> extent, double x_scale, double least) {
  auto& [x0, y0, x1, y1] = extent;
  x1 = std::max(x1, x0 + least), y1 = std::max(y1, y0 + least);
  const double width = (x1 - x0) * x_scale, height = y1 - y0;
  const double side = std::max({std::sqrt(width * height / kMostCells), least, std::max(width, height) / kMostSide});
  const auto count = [&](double length) { return std::clamp(static_cast<int>(std::ceil(length / side)), 1, kMostSide); };
  return {count(width), count(height), extent, {}};
}

// In the space in which distances are straight lines (geo/point_tree.h).
UnitVector point_of(const Domain& domain, double x, double y) {
  if (domain.kind == DomainKind::xy) return {x, y, 0.0};
  return unit_vector({x, y});
}

// From a cell's centre to its farthest corner, of the largest cell; in that space.
double half_diagonal(const Domain& domain, const DataCells& cells) {
  const auto& [x0, y0, x1, y1] = cells.extent;
  const double half_x = 0.5 * (x1 - x0) / cells.columns, half_y = 0.5 * (y1 - y0) / cells.rows;
  if (domain.kind == DomainKind::xy) return std::hypot(half_x, half_y);
  return 2.0 * std::hypot(std::sin(0.5 * half_y * kDegree), most_cosine(y0, y1) * std::sin(0.5 * half_x * kDegree));
}

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
  const bool plane = domain.kind == DomainKind::xy;
  std::array<double, 4> extent = count > 0 ? extent_of(domain, observations, rows) : std::array{0.0, 0.0, 0.0, 0.0};
  auto& [x0, y0, x1, y1] = extent;
  if (!plane && x1 < x0) x1 += 360.0;
  const double least = plane
                           ? std::max({1e-6 * (x1 - x0), 1e-6 * (y1 - y0), 1e-15 * std::max(std::abs(x0), std::abs(y0)), 1e-300})
                           : kLeastCellDeg;
  DataCells cells = cells_over(extent, plane ? 1.0 : most_cosine(y0, y1), least);
  cells.bits.assign((static_cast<std::size_t>(cells.columns) * static_cast<std::size_t>(cells.rows) + 7) / 8, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = rows ? (*rows)[i] : i;
    const double lon = observations.lon_deg[row], x = plane ? lon : turned_from(cells.extent[0] - kRounding, lon);
    const std::size_t cell = cell_of(cells, x, observations.lat_deg[row]);
    cells.bits[cell / 8] |= static_cast<std::uint8_t>(1U << (cell % 8));
  }
  return cells;
}

CellCorners corners_of(const DataCells& cells) {
  const auto columns = static_cast<std::size_t>(cells.columns), rows = static_cast<std::size_t>(cells.rows);
  std::vector<bool> touched((columns + 1) * (rows + 1), false);
  for (std::size_t cell = 0; cell < columns * rows; ++cell) {
    if ((cells.bits[cell / 8] >> (cell % 8) & 1U) == 0) continue;
    const std::size_t corner = cell / columns * (columns + 1) + cell % columns;
    for (const std::size_t step : {std::size_t{0}, std::size_t{1}, columns + 1, columns + 2}) touched[corner + step] = true;
  }
  CellCorners corners;
  const auto& [x0, y0, x1, y1] = cells.extent;
  for (std::size_t corner = 0; corner < touched.size(); ++corner) {
    if (!touched[corner]) continue;
    const std::size_t across = corner % (columns + 1), up = corner / (columns + 1);
    const auto column = static_cast<double>(across), row = static_cast<double>(up);
    corners.lon_deg.push_back(x0 + column * (x1 - x0) / cells.columns);
    corners.lat_deg.push_back(y0 + row * (y1 - y0) / cells.rows);
  }
  return corners;
}

struct NearData::Index {
  Domain domain;
  double reach;  // squared, in the space of points
  PointCloud cloud;
  std::unique_ptr<PointTree> tree;
};

NearData::NearData(const Domain& domain, const DataCells& cells, double distance) {
  if (!(distance > 0.0)) throw UsageError(fmt::format("the distance to data is {}; it must be more than zero", distance));
  // On the sphere by the chord.
  const double straight = domain.kind == DomainKind::xy
                              ? distance
                              : 2.0 * std::sin(std::min(0.5 * distance / kEarthRadiusKm, 0.5 * std::numbers::pi));
  const double reach = straight + half_diagonal(domain, cells);
  auto index =
      std::make_shared<Index>(Index{.domain = domain, .reach = reach * reach, .cloud = centres(domain, cells), .tree = nullptr});
  if (!index->cloud.points.empty()) index->tree = std::make_unique<PointTree>(3, index->cloud);
  index_ = std::move(index);
}

std::vector<char> NearData::operator()(std::span<const double> lon_deg, std::span<const double> lat_deg) const {
  if (lat_deg.size() != lon_deg.size()) {
    throw UsageError(fmt::format("near data: {} longitudes but {} latitudes", lon_deg.size(), lat_deg.size()));
  }
  std::vector<char> near(lon_deg.size(), 0);
  for (std::size_t i = 0; i < near.size() && index_->tree; ++i) {
    if (!std::isfinite(lon_deg[i]) || !std::isfinite(lat_deg[i])) continue;
    const UnitVector point = point_of(index_->domain, lon_deg[i], lat_deg[i]);
    std::size_t nearest = 0;
    double square = 0.0;
    index_->tree->knnSearch(point.data(), 1, &nearest, &square);
    near[i] = square <= index_->reach ? 1 : 0;
  }
  return near;
}

}  // namespace drift
