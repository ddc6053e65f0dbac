// Scores of Gaussian forecasts. With z = (y - mean) / sd, phi and Phi the standard normal density and distribution:
//   CRPS = sd (z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi))                 Gneiting & Raftery 2007, section 4.2
//   NLL  = log(sd) + z^2 / 2 + log(2 pi) / 2
// 2 Phi(z) - 1 = erf(z / sqrt 2) is the probability of the central interval that y just touches, so that coverage needs no
// quantile: y lies inside the central interval of probability p when erf(|z| / sqrt 2) <= p.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "drift/error.h"
#include "drift/score.h"
#include "math/huber.h"

namespace drift {
namespace {

using std::numbers::inv_sqrtpi;
using std::numbers::pi;
using std::numbers::sqrt2;

void check_lengths(const char* score, std::span<const double> y, std::span<const double> mean) {
  if (y.empty()) throw UsageError(fmt::format("{}: no forecasts to score", score));
  if (y.size() != mean.size()) throw UsageError(fmt::format("{}: {} values but {} means", score, y.size(), mean.size()));
}

void check_spread(const char* score, std::span<const double> y, std::span<const double> sd, bool zero_allowed) {
  if (y.size() != sd.size()) {
    throw UsageError(fmt::format("{}: {} values but {} standard deviations", score, y.size(), sd.size()));
  }
  for (std::size_t i = 0; i < sd.size(); ++i) {
    if (sd[i] > 0.0 || (zero_allowed && sd[i] == 0.0)) continue;
    throw UsageError(fmt::format("{}: the standard deviation of forecast {} is {}; it must be {}", score, i, sd[i],
                                 zero_allowed ? "zero or more" : "greater than zero (an ensemble of one member has no spread)"));
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

// With r ~ N(m, sd^2), a = (-delta - m) / sd and b = (delta - m) / sd: the second moment of r between -delta and delta, and its
// first beyond them (moments of a truncated normal distribution).
double gaussian_huber(double y, double mean, double sd, double delta) {
  const double m = y - mean;
  if (sd == 0.0) return huber_value(m, delta);
  const auto density = [](double z) { return std::exp(-0.5 * z * z) * inv_sqrtpi / sqrt2; };
  const auto below = [](double z) { return 0.5 * std::erfc(-z / sqrt2); };
  const double a = (-delta - m) / sd, b = (delta - m) / sd;
  const double core = (m * m + sd * sd) * (below(b) - below(a)) - sd * sd * (b * density(b) - a * density(a)) -
                      2.0 * m * sd * (density(b) - density(a));
  const double upper = (m - 0.5 * delta) * below(-b) + sd * density(b);
  const double lower = (-m - 0.5 * delta) * below(a) + sd * density(a);
  return 0.5 * core + delta * (upper + lower);
}

double interval_score(double y, double low, double high, double alpha) {
  return high - low + 2.0 / alpha * (std::max(0.0, low - y) + std::max(0.0, y - high));
}

// Acklam's rational approximation (1.15e-9 relative), then one step of Halley's method on erfc.
double normal_quantile(double p) {
  if (!(p > 0.0 && p < 1.0)) throw UsageError(fmt::format("normal quantile: p is {}; it must lie between 0 and 1", p));
  constexpr std::array<double, 6> a = {-3.969683028665376e+01, 2.209460984245205e+02,  -2.759285104469687e+02,
                                       1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00};
  constexpr std::array<double, 5> b = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                                       6.680131188771972e+01, -1.328068155288572e+01};
  constexpr std::array<double, 6> c = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                                       -2.549732539343734e+00, 4.374664141464968e+00,  2.938163982698783e+00};
  constexpr std::array<double, 4> d = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                                       3.754408661907416e+00};
  constexpr double kTail = 0.02425;
  double x = 0.0;
  if (p < kTail || p > 1.0 - kTail) {
    const double q = std::sqrt(-2.0 * std::log(std::min(p, 1.0 - p)));
    const double tail = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
                        ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1.0);
    x = p < kTail ? tail : -tail;
  } else {
    const double q = p - 0.5, r = q * q;
    x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
        (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1.0);
  }
  const double error = 0.5 * std::erfc(-x / sqrt2) - p;
  const double step = error * std::sqrt(2.0 * pi) * std::exp(0.5 * x * x);
  return x - step / (1.0 + 0.5 * x * step);
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

double mean_interval_score(std::span<const double> y, std::span<const double> mean, std::span<const double> sd, double alpha) {
  check_lengths("interval score", y, mean);
  check_spread("interval score", y, sd, true);
  const double reach = normal_quantile(1.0 - 0.5 * alpha);
  return mean_of([&](double at, double m, double s) { return interval_score(at, m - reach * s, m + reach * s, alpha); }, y, mean,
                 sd);
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
