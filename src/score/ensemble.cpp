// Scores of forecasts by draws.
//   CRPS = E|x - y| - E|x - x'| / 2                                                        Gneiting & Raftery 2007, eq. 21
// With the draws in ascending order x_1 ... x_n, the sum of |x_i - x_j| over pairs is sum_i (2 i - n - 1) x_i: no double loop.
// Dividing by the n (n - 1) pairs of different draws makes the estimate unbiased (Ferro 2014).
// Huber's density with z = (y - f) / sd and threshold k:
//   p = exp(-rho(z)) / (sd Z),  rho(z) = z^2 / 2 for |z| <= k, k |z| - k^2 / 2 beyond,
//   Z = sqrt(2 pi) erf(k / sqrt 2) + 2 exp(-k^2 / 2) / k.                                             Huber 1964

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drift/error.h"
#include "drift/score.h"

namespace drift {
namespace {

using std::numbers::pi;
using std::numbers::sqrt2;

void check(std::span<const double> y, MatrixView<const float> draws) {
  if (y.empty() || draws.rows == 0) throw UsageError("scores of draws: there is nothing to score");
  if (draws.cols != y.size()) throw UsageError(fmt::format("scores of draws: {} values but draws of {}", y.size(), draws.cols));
}

void check(const Likelihood& likelihood) {
  if (!(likelihood.sd > 0.0)) throw UsageError(fmt::format("likelihood: sd is {}; it must be more than zero", likelihood.sd));
  if (likelihood.kind == Likelihood::Kind::huber && !(likelihood.threshold > 0.0)) {
    throw UsageError(fmt::format("likelihood: threshold is {}; it must be more than zero", likelihood.threshold));
  }
}

double log_normaliser(const Likelihood& likelihood) {
  const double k = likelihood.threshold;
  const double area = likelihood.kind == Likelihood::Kind::gaussian
                          ? std::sqrt(2.0 * pi)
                          : std::sqrt(2.0 * pi) * std::erf(k / sqrt2) + 2.0 * std::exp(-0.5 * k * k) / k;
  return std::log(likelihood.sd * area);
}

double penalty(const Likelihood& likelihood, double z) {
  const double k = likelihood.threshold, size = std::abs(z);
  return likelihood.kind == Likelihood::Kind::gaussian || size <= k ? 0.5 * z * z : k * size - 0.5 * k * k;
}

}  // namespace

double empirical_crps(double y, std::span<const double> draws) {
  if (draws.empty()) throw UsageError("empirical CRPS: there are no draws");
  std::vector<double> sorted(draws.begin(), draws.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  double distance = 0.0, pairs = 0.0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    distance += std::abs(sorted[i] - y);
    pairs += (2.0 * static_cast<double>(i + 1) - n - 1.0) * sorted[i];
  }
  return distance / n - (sorted.size() > 1 ? pairs / (n * (n - 1.0)) : 0.0);
}

double mean_empirical_crps(std::span<const double> y, MatrixView<const float> draws) {
  check(y, draws);
  double sum = 0.0;
  std::vector<double> column(draws.rows);
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = 0; j < draws.rows; ++j) column[j] = draws(j, i);
    sum += empirical_crps(y[i], column);
  }
  return sum / static_cast<double>(y.size());
}

double log_likelihood(const Likelihood& likelihood, double y, double f) {
  check(likelihood);
  return -penalty(likelihood, (y - f) / likelihood.sd) - log_normaliser(likelihood);
}

double ensemble_nlpd(std::span<const double> y, MatrixView<const float> draws, const Likelihood& likelihood) {
  check(y, draws);
  check(likelihood);
  const double normaliser = log_normaliser(likelihood), count = static_cast<double>(draws.rows);
  double sum = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    double least = INFINITY;  // taken out before the exponential, which would vanish
    for (std::size_t j = 0; j < draws.rows; ++j)
      least = std::min(least, penalty(likelihood, (y[i] - draws(j, i)) / likelihood.sd));
    double density = 0.0;
    for (std::size_t j = 0; j < draws.rows; ++j) {
      density += std::exp(least - penalty(likelihood, (y[i] - draws(j, i)) / likelihood.sd)) / count;
    }
    sum += least - std::log(density) + normaliser;
  }
  return sum / static_cast<double>(y.size());
}

double ensemble_nlpd_bound(std::span<const double> y, MatrixView<const float> draws, const Likelihood& likelihood) {
  check(y, draws);
  check(likelihood);
  const double normaliser = log_normaliser(likelihood);
  double sum = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    for (std::size_t j = 0; j < draws.rows; ++j) sum += penalty(likelihood, (y[i] - draws(j, i)) / likelihood.sd);
  }
  return sum / static_cast<double>(y.size() * draws.rows) + normaliser;
}

}  // namespace drift
