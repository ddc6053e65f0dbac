// Scores of Gaussian forecasts. With z = (y - mean) / sd, phi and Phi the standard normal density and distribution:
//   CRPS = sd (z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi))                 Gneiting & Raftery 2007, section 4.2
//   NLL  = log(sd) + z^2 / 2 + log(2 pi) / 2
// 2 Phi(z) - 1 = erf(z / sqrt 2) is the probability of the central interval that y just touches, so that coverage needs no
// quantile: y lies inside the central interval of probability p when erf(|z| / sqrt 2) <= p.

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "drift/error.h"
#include "drift/score.h"

namespace drift {
namespace {

using std::numbers::inv_sqrtpi;
using std::numbers::pi;
using std::numbers::sqrt2;

void check_lengths(const char* score, std::span<const double> y, std::span<const double> mean) {
  if (y.empty()) throw UsageError(fmt::format("{}: there is nothing to score", score));
  if (y.size() != mean.size()) throw UsageError(fmt::format("{}: {} values but {} means", score, y.size(), mean.size()));
}

void check_spread(const char* score, std::span<const double> y, std::span<const double> sd, bool zero_allowed) {
  if (y.size() != sd.size()) {
    throw UsageError(fmt::format("{}: {} values but {} standard deviations", score, y.size(), sd.size()));
  }
  for (std::size_t i = 0; i < sd.size(); ++i) {
    if (sd[i] > 0.0 || (zero_allowed && sd[i] == 0.0)) continue;
    throw UsageError(fmt::format("{}: the standard deviation of forecast {} is {}; it must be {}", score, i, sd[i],
                                 zero_allowed ? "zero or more" : "more than zero (an ensemble of one member has no spread)"));
  }
}

template <class Score>
double mean_of(Score score, std::span<const double> y, std::span<const double> mean, std::span<const double> sd) {
  double sum = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += score(y[i], mean[i], sd[i]);
  return sum / static_cast<double>(y.size());
}

}  // namespace

double gaussian_crps(double y, double mean, double sd) {
  if (sd == 0.0) return std::abs(y - mean);
  const double z = (y - mean) / sd;
  const double density = std::exp(-0.5 * z * z) * inv_sqrtpi / sqrt2;
  return sd * (z * std::erf(z / sqrt2) + 2.0 * density - inv_sqrtpi);
}

double gaussian_nll(double y, double mean, double sd) {
  const double z = (y - mean) / sd;
  return std::log(sd) + 0.5 * z * z + 0.5 * std::log(2.0 * pi);
}

double rmse(std::span<const double> y, std::span<const double> mean) {
  check_lengths("rmse", y, mean);
  double sum = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += (y[i] - mean[i]) * (y[i] - mean[i]);
  return std::sqrt(sum / static_cast<double>(y.size()));
}

double mean_absolute_error(std::span<const double> y, std::span<const double> mean) {
  check_lengths("mean absolute error", y, mean);
  double sum = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += std::abs(y[i] - mean[i]);
  return sum / static_cast<double>(y.size());
}

double mean_crps(std::span<const double> y, std::span<const double> mean, std::span<const double> sd) {
  check_lengths("crps", y, mean);
  check_spread("crps", y, sd, true);
  return mean_of(gaussian_crps, y, mean, sd);
}

double mean_nll(std::span<const double> y, std::span<const double> mean, std::span<const double> sd) {
  check_lengths("nll", y, mean);
  check_spread("nll", y, sd, false);
  return mean_of(gaussian_nll, y, mean, sd);
}

double coverage(std::span<const double> y, std::span<const double> mean, std::span<const double> sd, double level) {
  check_lengths("coverage", y, mean);
  check_spread("coverage", y, sd, false);
  if (!(level > 0.0 && level < 1.0))
    throw UsageError(fmt::format("coverage: the level is {}; it must lie between 0 and 1", level));
  const auto inside = [level](double value, double centre, double spread) {
    return std::erf(std::abs(value - centre) / (spread * sqrt2)) <= level ? 1.0 : 0.0;
  };
  return mean_of(inside, y, mean, sd);
}

}  // namespace drift
