#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/random.h"
#include "core/threads.h"
#include "gp/exact.h"
#include "gp/nearest.h"

namespace drift::gp {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kSettled = 0.1;  // change of a log lengthscale between rounds below which another is not worth while
constexpr std::size_t kTargetsTask = 64;

// Every observation given the k nearest of those before it, by looking at all of them.
std::vector<Conditional> all_in_order(const MatrixXd& points, const std::vector<Index>& order, std::size_t k) {
  std::vector<Conditional> out(order.size());
  std::vector<std::pair<double, Index>> before;
  for (std::size_t r = 0; r < order.size(); ++r) {
    out[r].target = order[r];
    before.clear();
    for (std::size_t e = 0; e < r; ++e)
      before.emplace_back((points.col(order[e]) - points.col(order[r])).squaredNorm(), order[e]);
    const std::size_t taken = std::min(r, k);
    std::partial_sort(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(taken), before.end());
    for (std::size_t i = 0; i < taken; ++i) out[r].given.push_back(before[i].second);
  }
  return out;
}

void leave_out(Index target, std::size_t most, std::vector<Index>& given) {
  std::erase(given, target);
  if (given.size() > most) given.resize(most);
}

// Observations of some folds, each given the nearest of all other folds: nothing of its own track or block.
std::vector<Conditional> across_folds(const MatrixXd& points, const GpData& data, const std::vector<Index>& order,
                                      const NearestSettings& settings) {
  constexpr int kMostFolds = 3;  // trees of all others have to be made for each
  const int folds = std::min(kMostFolds, *std::max_element(data.fold.begin(), data.fold.end()) + 1);
  std::vector<Conditional> out;
  for (int fold = 0; fold < folds; ++fold) {
    std::vector<Index> others;
    std::vector<Conditional> own;
    const std::size_t most = settings.subset / static_cast<std::size_t>(folds);
    for (const Index row : order) {
      if (data.fold[static_cast<std::size_t>(row)] != fold)
        others.push_back(row);
      else if (own.size() < most)
        own.push_back({.target = row, .given = {}});
    }
    if (others.empty()) continue;
    std::sort(others.begin(), others.end());
    const NeighbourFinder near(points(Eigen::all, others), random_order(static_cast<Index>(others.size()), settings.seed),
                               settings.thinning);
    const int threads = std::max(1, settings.threads);
    run_on_threads(threads, [&](int thread) {
      for (auto i = static_cast<std::size_t>(thread); i < own.size(); i += static_cast<std::size_t>(threads)) {
        near.find(points.col(own[i].target).data(), settings.neighbours, own[i].given);
        for (Index& row : own[i].given) row = others[static_cast<std::size_t>(row)];
      }
    });
    out.insert(out.end(), own.begin(), own.end());
  }
  return out;
}

bool has_folds(const GpData& data) { return !data.fold.empty() && *std::max_element(data.fold.begin(), data.fold.end()) > 0; }

}  // namespace

std::vector<Conditional> choose_conditionals(const KernelSpec& spec, const GpData& data, const KernelParameters& parameters,
                                             const NearestSettings& settings) {
  const Index n = data.size();
  const std::vector<Index> order = random_order(n, settings.seed);
  const MatrixXd points = inverse_lengthscales(spec, parameters).asDiagonal() * data.points;
  if (has_folds(data)) return across_folds(points, data, order, settings);
  if (static_cast<std::size_t>(n) <= settings.subset) return all_in_order(points, order, settings.neighbours);

  // Targets are the last of the order, neighbours from thinnings the first.
  std::vector<NeighbourTree> thinnings;
  for (Index size = n / 8; size >= 16 * static_cast<Index>(settings.neighbours); size /= 8) {
    std::vector<Index> rows(order.begin(), order.begin() + size);
    std::sort(rows.begin(), rows.end());
    MatrixXd part = points(Eigen::all, rows);
    thinnings.emplace_back(std::move(part), std::move(rows));
  }
  const NeighbourFinder near(points, order, settings.thinning);
  std::vector<Conditional> out(settings.subset);
  const std::size_t tasks = (out.size() + kTargetsTask - 1) / kTargetsTask;
  const int threads = std::max(1, settings.threads);
  run_on_threads(threads, [&](int thread) {
    for (auto t = static_cast<std::size_t>(thread); t < tasks; t += static_cast<std::size_t>(threads)) {
      for (std::size_t i = t * kTargetsTask; i < std::min(out.size(), (t + 1) * kTargetsTask); ++i) {
        Conditional& c = out[i];
        c.target = order[static_cast<std::size_t>(n) - 1 - i];
        const double* point = points.col(c.target).data();
        if (thinnings.empty() || i % 2 == 0) {
          near.find(point, settings.neighbours + 1, c.given);
        } else {
          thinnings[(i / 2) % thinnings.size()].find(point, settings.neighbours + 1, c.given);
        }
        leave_out(c.target, settings.neighbours, c.given);
      }
    }
  });
  return out;
}

Found fit_nearest(const KernelSpec& spec, const GpData& data, const NearestSettings& settings, const std::string& where,
                  const Control& control) {
  control.report(0.0, "parameters");
  Found found = fit_exact(spec, data,
                          {.subset = settings.start,
                           .evaluations = 40,
                           .lengthscales = settings.lengthscales,
                           .seed = settings.seed,
                           .threads = settings.threads},
                          where, {.stop = control.stop});
  SearchBox box = search_box(spec, data, settings.lengthscales);
  for (int round = 0; round < settings.rounds; ++round) {
    control.report((1.0 + round) / (1.0 + settings.rounds), "parameters");
    const std::vector<Conditional> conditionals = choose_conditionals(spec, data, found.parameters.kernel, settings);
    const VectorXd before = found.parameters.packed();
    box.starts = {before.cwiseMax(box.low).cwiseMin(box.high)};
    const double mean = vecchia_likelihood(spec, data, conditionals, box.starts[0], found.parameters.mean, settings.threads).mean;
    const auto likelihood = [&](const VectorXd& theta, VectorXd& gradient, double& best_mean) {
      VecchiaSum sum = vecchia_likelihood(spec, data, conditionals, theta, mean, settings.threads);
      gradient = std::move(sum.gradient);
      best_mean = sum.mean;
      return sum.value;
    };
    const int evaluations = found.evaluations;
    found = search(likelihood, box, settings.evaluations, 1, where, control);
    found.evaluations += evaluations;
    const Index q = spec.lengthscales;
    if ((found.parameters.packed() - before).head(q).cwiseAbs().maxCoeff() < kSettled) break;
  }
  return found;
}

}  // namespace drift::gp
