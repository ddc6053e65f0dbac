#include "gp/nearest_choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/threads.h"

namespace drift::gp {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

constexpr std::size_t kTargets = 2000;             // predicted in all
constexpr std::size_t kManyObservations = 300000;  // beyond, two folds are left out in turn, not all: trees take seconds
constexpr double kWorthMore = 0.01;                // nats per observation that more neighbours have to gain

// One fold left out: what is left, and some of what was.
struct Left {
  GpData others, targets;
};

std::vector<Left> leave_out_folds(const GpData& data, std::uint64_t seed) {
  const int folds = data.fold.empty() ? 0 : *std::max_element(data.fold.begin(), data.fold.end()) + 1;
  std::vector<Left> out;
  if (folds < 2) return out;
  const int used = static_cast<std::size_t>(data.size()) > kManyObservations ? std::min(folds, 2) : folds;
  for (int fold = 0; fold < used; ++fold) {
    std::vector<Index> inside, outside;
    for (Index i = 0; i < data.size(); ++i) (data.fold[static_cast<std::size_t>(i)] == fold ? inside : outside).push_back(i);
    if (inside.empty() || outside.size() < 3) continue;
    std::vector<Index> chosen;
    const std::size_t wanted = kTargets / static_cast<std::size_t>(used);
    for (const Index i : random_order(static_cast<Index>(inside.size()), seed + static_cast<std::uint64_t>(fold))) {
      if (chosen.size() == wanted) break;
      chosen.push_back(inside[static_cast<std::size_t>(i)]);
    }
    std::sort(chosen.begin(), chosen.end());
    out.push_back({subset(data, outside), subset(data, chosen)});
  }
  return out;
}

double score(const KernelSpec& spec, const GpParameters& parameters, const std::vector<Left>& parts,
             const NearestSettings& settings) {
  std::vector<double> errors, variances;
  for (const Left& part : parts) {
    const NearestGp gp(spec, parameters, part.others, settings);
    const Index n = part.targets.size();
    VectorXd mean(n), variance(n);
    constexpr Index kTask = 32;
    const int threads = std::max(1, settings.threads);
    run_on_threads(threads, [&](int thread) {
      for (Index first = kTask * thread; first < n; first += kTask * threads) {
        const Index count = std::min(kTask, n - first);
        VectorXd m(count), v(count);
        gp.predict(part.targets.points.middleCols(first, count), m, v);
        mean.segment(first, count) = m, variance.segment(first, count) = v;
      }
    });
    for (Index i = 0; i < n; ++i) {
      errors.push_back(part.targets.values[i] - mean[i]);
      variances.push_back(variance[i] + parameters.noise_variance() + part.targets.known(i));
    }
  }
  return held_out_density(Eigen::Map<VectorXd>(errors.data(), static_cast<Index>(errors.size())),
                          Eigen::Map<VectorXd>(variances.data(), static_cast<Index>(variances.size())));
}

}  // namespace

double held_out_density(const VectorXd& error, const VectorXd& variance) {
  const double squares = (error.array().square() / variance.array()).mean();
  return -0.5 * (std::log(squares) + variance.array().log().mean() + 1.0 + std::log(2.0 * std::numbers::pi));
}

NearestChoice choose_nearest(const std::function<KernelSpec(double nu)>& spec_of, const GpData& data,
                             const NearestSettings& settings, const NearestCandidates& candidates, const std::string& where,
                             const Control& control) {
  const auto fitted = [&](double nu, double from, double to) {
    return fit_nearest(spec_of(nu), data, settings, where, control.part(from, to));
  };
  const bool one = candidates.nu.size() == 1 && candidates.mean.size() == 1 && candidates.neighbours.size() == 1;
  const std::vector<Left> parts = one ? std::vector<Left>() : leave_out_folds(data, settings.seed);
  if (parts.empty()) {
    const bool usual = std::find(candidates.nu.begin(), candidates.nu.end(), 1.5) != candidates.nu.end();
    NearestChoice only = {
        .nu = usual ? 1.5 : candidates.nu[0], .neighbours = candidates.neighbours[0], .mean = candidates.mean[0]};
    only.found = fitted(only.nu, 0.0, 1.0);
    return only;
  }
  NearestChoice best = {.density = -std::numeric_limits<double>::infinity()};
  NearestSettings trial = settings;
  trial.neighbours = candidates.neighbours[0];
  const double step = 1.0 / static_cast<double>(candidates.nu.size());
  for (std::size_t i = 0; i < candidates.nu.size(); ++i) {
    const double nu = candidates.nu[i], from = static_cast<double>(i) * step;
    const Found found = fitted(nu, from, from + 0.9 * step);
    for (const MeanKind mean : candidates.mean) {
      control.check_stop();
      trial.mean = mean;
      const double density = score(spec_of(nu), found.parameters, parts, trial);
      if (best.found.evaluations == 0 || density > best.density)
        best = {.nu = nu, .neighbours = trial.neighbours, .mean = mean, .found = found, .density = density};
    }
  }
  trial.mean = best.mean;
  for (std::size_t i = 1; i < candidates.neighbours.size(); ++i) {
    control.check_stop();
    trial.neighbours = candidates.neighbours[i];
    const double density = score(spec_of(best.nu), best.found.parameters, parts, trial);
    if (density > best.density + kWorthMore) best.neighbours = trial.neighbours, best.density = density;
  }
  return best;
}

}  // namespace drift::gp
