#include "fitting/neighbours.h"

#include <algorithm>

#include "fitting/training_rows.h"
#include "gp/nearest_neighbours.h"

namespace drift {
namespace {

constexpr std::size_t kNearest = 4;  // along a track: the two next to it and the two after those
constexpr std::size_t kGapRows = 5000;
constexpr std::size_t kMostOfOneTrack = 512;
constexpr std::size_t kBetweenChecks = 4096;  // searches, a few milliseconds

// [columns, rows]
Eigen::MatrixXd scaled_points(const Domain& domain, const NetworkSpec& spec, const Observations& observations,
                              std::span<const std::size_t> rows, int threads) {
  const bool time = spec.temporal.layers > 0;
  const TrainingRows engine = training_rows(domain, observations, rows, time, threads);
  Eigen::MatrixXd points(static_cast<Eigen::Index>(engine.columns), static_cast<Eigen::Index>(rows.size()));
  for (std::size_t i = 0; i < engine.coordinates.size(); ++i) {
    const bool is_time = time && i % engine.columns + 1 == engine.columns;
    points.data()[i] = engine.coordinates[i] / (is_time ? spec.temporal : spec.spatial).lengthscales[0];
  }
  return points;
}

}  // namespace

std::vector<Neighbours> nearest_pairs(const Domain& domain, const NetworkSpec& spec, const Observations& observations,
                                      std::span<const std::size_t> rows, int threads, const Control& control) {
  const gp::NeighbourTree tree(scaled_points(domain, spec, observations, rows, threads), {}, control);
  std::vector<Neighbours> pairs;
  std::vector<Eigen::Index> found;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i % kBetweenChecks == 0) control.check_stop();
    const auto here = tree.points().col(static_cast<Eigen::Index>(i));
    tree.find(here.data(), kNearest + 1, found);
    for (const Eigen::Index other : found) {
      const auto j = static_cast<std::size_t>(other);
      if (j != i) pairs.push_back({i, j, (tree.points().col(other) - here).norm()});
    }
  }
  return pairs;
}

std::vector<Between> nearest_triples(const Domain& domain, const NetworkSpec& spec, const Observations& observations,
                                     std::span<const std::size_t> rows, std::span<const Neighbours> pairs, int threads) {
  constexpr double kOff = 0.3;  // of the distance between the two, that the middle may lie from half way
  const Eigen::MatrixXd points = scaled_points(domain, spec, observations, rows, threads);
  const auto point = [&](std::size_t i) { return points.col(static_cast<Eigen::Index>(i)); };
  std::vector<Between> triples;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (std::size_t j = i + 1; j < pairs.size() && pairs[j].first == pairs[i].first; ++j) {
      const std::size_t middle = pairs[i].first, one = pairs[i].second, other = pairs[j].second;
      const double off = (point(one) + point(other) - 2.0 * point(middle)).norm();
      if (off <= kOff * (point(one) - point(other)).norm()) {
        triples.push_back({middle, one, other, 0.5 * (pairs[i].distance + pairs[j].distance)});
      }
    }
  }
  return triples;
}

double gap_between_tracks(const Domain& domain, const Observations& observations, std::span<const std::size_t> rows, int threads,
                          const Control& control) {
  const TrainingRows engine = training_rows(domain, observations, rows, false, threads);
  const gp::NeighbourTree tree(
      Eigen::Map<const Eigen::MatrixXf>(engine.coordinates.data(), static_cast<Eigen::Index>(engine.columns),
                                        static_cast<Eigen::Index>(rows.size()))
          .cast<double>(),
      {}, control);
  const auto apart = [&](std::size_t i, std::size_t j) {
    return observations.track.empty() ? i != j : observations.track[rows[i]] != observations.track[rows[j]];
  };
  control.check_stop();
  std::vector<Eigen::Index> found;
  double sum = 0.0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < rows.size(); i += std::max<std::size_t>(1, rows.size() / kGapRows)) {
    const auto here = tree.points().col(static_cast<Eigen::Index>(i));
    // Its own track may have many that are nearer; one that has hundreds lies far from all others, and the last seen stands for
    // it.
    for (std::size_t k = 8; k <= kMostOfOneTrack; k *= 4) {
      tree.find(here.data(), k, found);
      const auto other =
          std::find_if(found.begin(), found.end(), [&](Eigen::Index j) { return apart(i, static_cast<std::size_t>(j)); });
      if (other == found.end() && k < kMostOfOneTrack && found.size() == k) continue;
      sum += (tree.points().col(other == found.end() ? found.back() : *other) - here).norm();
      ++count;
      break;
    }
  }
  return sum / static_cast<double>(count);
}

}  // namespace drift
