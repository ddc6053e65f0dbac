#include "gp/inducing.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/random.h"
#include "gp/variational_layer_tasks.h"
#include "math/eigen_index.h"

namespace drift::gp {
namespace {

constexpr double kSame = 1e-12;            // squared scaled distance of points that count as one
constexpr std::size_t kCandidates = 4096;  // candidates, one task

// The first in a random order, then each with a probability proportional to its squared distance from those already chosen; or,
// without weights, in that random order alone.
class Seeding {
 public:
  Seeding(const Eigen::MatrixXd& x, const InducingOptions& options) : x_(x), options_(options), nearest_(x.cols()) {
    nearest_.setConstant(std::numeric_limits<double>::max());
  }

  std::vector<Eigen::Index> choose() {
    RandomStream stream({.seed = options_.seed, .purpose = Purpose::bottleneck}, 1);
    const auto n = static_cast<double>(x_.cols());
    std::vector<Eigen::Index> chosen;
    Eigen::Index next = std::min(x_.cols() - 1, static_cast<Eigen::Index>(stream.uniform() * n));
    while (true) {
      chosen.push_back(next);
      const double left = lower_distances(next);
      if (chosen.size() >= options_.count || left <= 0.0) return chosen;
      next = options_.kmeans ? by_distance(stream.uniform() * left) : by_chance(stream.uniform());
    }
  }

 private:
  // The sum of what is left, zero when every candidate is chosen or coincides with one.
  double lower_distances(Eigen::Index chosen) {
    const auto n = static_cast<std::size_t>(x_.cols());
    sums_.assign(range_count(n, kCandidates), 0.0);
    run_tasks(options_.threads, sums_.size(), [&](std::size_t part) {
      const Range range = range_at(n, kCandidates, part);
      const Eigen::Index first = index(range.first), count = index(range.size());
      auto nearest = nearest_.segment(first, count);
      nearest = nearest.cwiseMin((x_.middleCols(first, count).colwise() - x_.col(chosen)).colwise().squaredNorm().transpose());
      nearest = (nearest.array() <= kSame).select(0.0, nearest);
      sums_[part] = nearest.sum();
    });
    double sum = 0.0;
    for (const double part : sums_) sum += part;
    return sum;
  }

  Eigen::Index by_distance(double left) const {
    Eigen::Index last = 0;
    for (std::size_t part = 0; part < sums_.size(); ++part) {
      if (left > sums_[part]) {
        left -= sums_[part];
        continue;
      }
      const Range range = range_at(static_cast<std::size_t>(x_.cols()), kCandidates, part);
      for (std::size_t i = range.first; i < range.last; ++i) {
        left -= nearest_[index(i)];
        if (nearest_[index(i)] > 0.0) last = index(i);
        if (left <= 0.0 && nearest_[index(i)] > 0.0) return last;
      }
    }
    if (nearest_[last] > 0.0) return last;
    return by_chance(0.0);
  }

  // The first candidate still free from a random place on.
  Eigen::Index by_chance(double uniform) const {
    const Eigen::Index n = x_.cols(), start = static_cast<Eigen::Index>(uniform * static_cast<double>(n));
    for (Eigen::Index i = 0; i < n; ++i) {
      if (nearest_[(start + i) % n] > 0.0) return (start + i) % n;
    }
    return 0;
  }

  const Eigen::MatrixXd& x_;
  const InducingOptions& options_;
  Eigen::VectorXd nearest_;  // squared distance to the nearest chosen point
  std::vector<double> sums_;
};

// Index of the centre nearest to each candidate.
std::vector<Eigen::Index> nearest_centres(const Eigen::MatrixXd& x, const Eigen::MatrixXd& centres, int threads) {
  std::vector<Eigen::Index> out(static_cast<std::size_t>(x.cols()));
  const Eigen::VectorXd squares = 0.5 * centres.colwise().squaredNorm().transpose();
  constexpr std::size_t kRows = 256;
  run_tasks(threads, range_count(out.size(), kRows), [&](std::size_t part) {
    const Range range = range_at(out.size(), kRows, part);
    const Eigen::MatrixXd products = centres.transpose() * x.middleCols(index(range.first), index(range.size()));
    for (std::size_t i = range.first; i < range.last; ++i) {
      (squares - products.col(index(i - range.first))).minCoeff(&out[i]);
    }
  });
  return out;
}

// Each centre becomes the mean of the candidates nearest to it; one without any stays.
void lloyd_step(const Eigen::MatrixXd& x, Eigen::MatrixXd& centres, int threads) {
  const std::vector<Eigen::Index> owner = nearest_centres(x, centres, threads);
  Eigen::MatrixXd sums = Eigen::MatrixXd::Zero(centres.rows(), centres.cols());
  Eigen::VectorXd counts = Eigen::VectorXd::Zero(centres.cols());
  for (std::size_t i = 0; i < owner.size(); ++i) {
    sums.col(owner[i]) += x.col(index(i));
    counts[owner[i]] += 1.0;
  }
  for (Eigen::Index c = 0; c < centres.cols(); ++c) {
    if (counts[c] > 0.0) centres.col(c) = sums.col(c) / counts[c];
  }
}

}  // namespace

std::size_t inducing_candidates(std::size_t count, std::size_t observations) {
  return std::min(observations, std::max<std::size_t>(20 * count, 5000));
}

Eigen::MatrixXd choose_inducing(Points candidates, const Eigen::VectorXd& lengthscales, const InducingOptions& options) {
  const Eigen::MatrixXd x = lengthscales.cwiseInverse().asDiagonal() * candidates;
  const std::vector<Eigen::Index> chosen = Seeding(x, options).choose();
  Eigen::MatrixXd centres(x.rows(), index(chosen.size()));
  for (std::size_t i = 0; i < chosen.size(); ++i) centres.col(index(i)) = x.col(chosen[i]);
  // As many points as candidates that differ: nothing to average.
  const bool all = chosen.size() < options.count || static_cast<Eigen::Index>(chosen.size()) == x.cols();
  for (int step = 0; options.kmeans && !all && step < options.lloyd_steps; ++step) lloyd_step(x, centres, options.threads);
  Eigen::MatrixXd out = lengthscales.asDiagonal() * centres;
  if (options.sphere_first >= 0) {
    for (Eigen::Index i = 0; i < out.cols(); ++i) out.col(i).segment(options.sphere_first, 3).normalize();
  }
  return out;
}

}  // namespace drift::gp
