#include "tune/latin_hypercube.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/random.h"
#include "tune/streams.h"

namespace drift {
namespace {

constexpr std::uint32_t kDesigns = 25;  // drawn, of which the best is kept

Eigen::MatrixXd one_design(Eigen::Index count, Eigen::Index coordinates, RandomStream& random) {
  Eigen::MatrixXd places(count, coordinates);
  std::vector<Eigen::Index> slice(static_cast<std::size_t>(count));
  for (Eigen::Index j = 0; j < coordinates; ++j) {
    std::iota(slice.begin(), slice.end(), 0);
    for (std::size_t i = slice.size(); i > 1; --i) {  // Fisher-Yates
      std::swap(slice[i - 1], slice[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
    }
    for (Eigen::Index i = 0; i < count; ++i) {
      places(i, j) = (static_cast<double>(slice[static_cast<std::size_t>(i)]) + random.uniform()) / static_cast<double>(count);
    }
  }
  return places;
}

}  // namespace

double smallest_distance(const Eigen::MatrixXd& places) {
  double smallest = std::numeric_limits<double>::infinity();
  for (Eigen::Index i = 0; i < places.rows(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) smallest = std::min(smallest, (places.row(i) - places.row(j)).norm());
  }
  return smallest;
}

Eigen::MatrixXd latin_hypercube(Eigen::Index count, Eigen::Index coordinates, std::uint64_t seed) {
  Eigen::MatrixXd best;
  double best_distance = -1.0;
  for (std::uint32_t design = 0; design < kDesigns; ++design) {
    RandomStream random = tuning_stream(seed, TuningStream::hypercube, design);
    Eigen::MatrixXd places = one_design(count, coordinates, random);
    const double distance = smallest_distance(places);
    if (distance > best_distance) {
      best_distance = distance;
      best = std::move(places);
    }
  }
  return best;
}

}  // namespace drift
