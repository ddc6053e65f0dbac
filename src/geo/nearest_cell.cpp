#include "geo/nearest_cell.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/degree.h"
#include "geo/point_tree.h"

namespace drift {
namespace {

UnitVector on_sphere(double lon_deg, double lat_deg) {
  const double lon = lon_deg * kDegree, lat = lat_deg * kDegree;
  return {std::cos(lat) * std::cos(lon), std::cos(lat) * std::sin(lon), std::sin(lat)};
}

double distance2(const UnitVector& a, const UnitVector& b) {
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

bool is_position(double lon_deg, double lat_deg) { return std::isfinite(lon_deg) && std::abs(lat_deg) <= 90.0; }

}  // namespace

struct NearestCell::Index {
  PointCloud cloud;                // unit vectors
  std::vector<std::size_t> cells;  // of the grid, that they are the centres of
  double reach2 = 0.0;             // square of the distance within which a centre counts, on the unit sphere
  std::unique_ptr<const PointTree> tree;
};

NearestCell::NearestCell(std::span<const double> lon_deg, std::span<const double> lat_deg, std::size_t columns) {
  auto index = std::make_unique<Index>();
  std::vector<double> steps;  // squares of the distances to the next cell of the row
  for (std::size_t i = 0; i < lon_deg.size(); ++i) {
    if (!is_position(lon_deg[i], lat_deg[i])) continue;
    index->cloud.points.push_back(on_sphere(lon_deg[i], lat_deg[i]));
    if (i % columns != 0 && !index->cells.empty() && index->cells.back() == i - 1)
      steps.push_back(distance2(index->cloud.points.back(), *(index->cloud.points.end() - 2)));
    index->cells.push_back(i);
  }
  constexpr double kReach = 0.75;                             // of a step: half a cell's diagonal, and a little
  constexpr double kUsual = 0.1, kLeast = 1e-5, kMost = 0.5;  // steps
  double step = kUsual;
  if (!steps.empty()) {  // their ninth decile
    const auto at = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() * 9 / 10);
    std::nth_element(steps.begin(), at, steps.end());
    step = std::clamp(std::sqrt(*at), kLeast, kMost);
  }
  index->reach2 = kReach * step * kReach * step;
  auto tree = std::make_unique<PointTree>(3, index->cloud, nanoflann::KDTreeSingleIndexAdaptorParams(16));
  tree->buildIndex();
  index->tree = std::move(tree);
  index_ = std::move(index);
}

NearestCell::~NearestCell() = default;
NearestCell::NearestCell(NearestCell&&) noexcept = default;
NearestCell& NearestCell::operator=(NearestCell&&) noexcept = default;

void NearestCell::find(std::span<const double> lon_deg, std::span<const double> lat_deg, std::span<std::size_t> cell) const {
  for (std::size_t i = 0; i < cell.size(); ++i) {
    cell[i] = kNoCell;
    if (index_->cells.empty() || !is_position(lon_deg[i], lat_deg[i])) continue;
    const UnitVector at = on_sphere(lon_deg[i], lat_deg[i]);
    std::size_t found = 0;
    double squared = 0.0;
    index_->tree->knnSearch(at.data(), 1, &found, &squared);
    if (squared < index_->reach2) cell[i] = index_->cells[found];
  }
}

}  // namespace drift
