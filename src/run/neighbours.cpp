#include "run/neighbours.h"

#include <algorithm>

#include "gp/nearest_neighbours.h"
#include "run/training_rows.h"

namespace drift {
namespace {

constexpr std::size_t kNearest = 4;  // along a track: the two next to it and the two after those

// [columns, rows]
Eigen::MatrixXd scaled_points(const Domain& domain, const NetworkSpec& spec, const Observations& observations,
                              std::span<const std::size_t> rows) {
  const bool time = spec.temporal.layers > 0;
  const TrainingRows engine = training_rows(domain, observations, rows, time);
  Eigen::MatrixXd points(static_cast<Eigen::Index>(engine.columns), static_cast<Eigen::Index>(rows.size()));
  for (std::size_t i = 0; i < engine.coordinates.size(); ++i) {
    const bool is_time = time && i % engine.columns + 1 == engine.columns;
    points.data()[i] = engine.coordinates[i] / (is_time ? spec.temporal : spec.spatial).lengthscales[0];
  }
  return points;
}

}  // namespace

std::vector<Neighbours> nearest_pairs(const Domain& domain, const NetworkSpec& spec, const Observations& observations,
                                      std::span<const std::size_t> rows, std::size_t most) {
  const gp::NeighbourTree tree(scaled_points(domain, spec, observations, rows));
  const std::size_t stride = std::max<std::size_t>(1, rows.size() / most);
  std::vector<Neighbours> pairs;
  std::vector<Eigen::Index> found;
  for (std::size_t i = 0; i < rows.size(); i += stride) {
    const auto here = tree.points().col(static_cast<Eigen::Index>(i));
    tree.find(here.data(), kNearest + 1, found);
    for (const Eigen::Index other : found) {
      const auto j = static_cast<std::size_t>(other);
      if (j != i) pairs.push_back({i, j, (tree.points().col(other) - here).norm()});
    }
  }
  return pairs;
}

}  // namespace drift
