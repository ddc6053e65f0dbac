#include "tune/expected_improvement.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace drift {
namespace {

constexpr double kFarFrom = -2.0;  // below it the continued fraction
constexpr int kTerms = 120;        // enough for full precision at t = 2; fewer are needed beyond

// At a place already tried, rounding may leave a variance of 0 or below. As a share of the process's own variance.
constexpr double kSmallestVariance = 1e-12;

double usable_variance(const GaussianProcess& process, double variance) {
  return std::max(variance, kSmallestVariance * process.hyperparameters().variance);
}

}  // namespace

LogH log_h(double z) {
  static const double log_root_2pi = 0.5 * std::log(2.0 * std::numbers::pi);
  if (z > kFarFrom) {
    const double density = std::exp(-0.5 * z * z - log_root_2pi);
    const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2);
    const double h = density + z * below;
    return {.value = std::log(h), .slope = below / h};
  }
  const double t = -z;
  double r = 0.0;
  for (int n = kTerms; n >= 2; --n) r = 1.0 / (t + n * r);
  const double r1 = r;
  const double r0 = 1.0 / (t + r1);
  return {.value = -0.5 * z * z - log_root_2pi + std::log(r0) + std::log(r1), .slope = 1.0 / r1};
}

LogImprovement log_expected_improvement(const GaussianProcess& process, double best, const Eigen::VectorXd& place) {
  const GaussianProcess::Posterior p = process.at(place);
  const double variance = usable_variance(process, p.variance);
  const double sd = std::sqrt(variance);
  const double z = (best - p.mean) / sd;
  const LogH h = log_h(z);
  Eigen::VectorXd slope = -h.slope / sd * p.mean_slope;
  // log sd + log h(z): by the variance, (1 - z h'/h) / (2 variance).
  if (variance == p.variance) slope += (1.0 - z * h.slope) / (2.0 * variance) * p.variance_slope;
  return {.value = std::log(sd) + h.value, .slope = std::move(slope)};
}

Eigen::VectorXd log_expected_improvement(const GaussianProcess& process, double best, const Eigen::MatrixXd& places) {
  Eigen::VectorXd mean;
  Eigen::VectorXd variance;
  process.at(places, mean, variance);
  for (Eigen::Index i = 0; i < mean.size(); ++i) {
    const double sd = std::sqrt(usable_variance(process, variance[i]));
    mean[i] = std::log(sd) + log_h((best - mean[i]) / sd).value;
  }
  return mean;
}

}  // namespace drift
