#include "gp/likelihood.h"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include "math/huber.h"

namespace drift::gp {
namespace {

constexpr double kLeastVariance = 1e-12;  // in units of s^2: the slope in the variance divides by its root

}  // namespace

void gauss_hermite(int n, Eigen::VectorXd& nodes, Eigen::VectorXd& weights) {
  Eigen::VectorXd off(n - 1);
  for (int i = 1; i < n; ++i) off[i - 1] = std::sqrt(static_cast<double>(i));
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(Eigen::VectorXd::Zero(n), off);
  nodes = solver.eigenvalues();
  weights = solver.eigenvectors().row(0).array().square();
}

Likelihood::Likelihood(const LikelihoodSpec& spec) : spec_(spec) {
  gauss_hermite(spec.nodes, nodes_, weights_);
  constexpr double kPi = std::numbers::pi;
  if (spec.kind == LikelihoodKind::gaussian) {
    log_constant_ = 0.5 * std::log(2.0 * kPi);
  } else if (spec.kind == LikelihoodKind::student) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): what threads share of it is the sign, which is not used
    log_constant_ = std::lgamma(spec.nu / 2.0) - std::lgamma((spec.nu + 1.0) / 2.0) + 0.5 * std::log(spec.nu * kPi);
    unit_variance_ = spec.nu / (spec.nu - 2.0);
  } else {
    // Within delta a normal density, beyond it an exponential one.
    const double d = spec.delta, edge = std::exp(-0.5 * d * d);
    const double within = std::sqrt(2.0 * kPi) * std::erf(d / std::numbers::sqrt2);
    const double constant = within + 2.0 * edge / d;
    log_constant_ = std::log(constant);
    unit_variance_ = (within - 2.0 * d * edge + 2.0 * edge * (d + 2.0 / d + 2.0 / (d * d * d))) / constant;
  }
}

Likelihood::Point Likelihood::at(double u) const {
  switch (spec_.kind) {
    case LikelihoodKind::gaussian:
      return {-0.5 * u * u, -u};
    case LikelihoodKind::student:
      return {-0.5 * (spec_.nu + 1.0) * std::log1p(u * u / spec_.nu), -(spec_.nu + 1.0) * u / (spec_.nu + u * u)};
    case LikelihoodKind::huber:
      break;
  }
  return {-huber_value(u, spec_.delta), -huber_slope(u, spec_.delta)};
}

double Likelihood::log_density(double y, double f, double s) const { return at((y - f) / s).value - std::log(s) - log_constant_; }

Likelihood::Expected Likelihood::expected(double y, double mean, double variance, double s) const {
  const double r = (y - mean) / s;
  const double constant = std::log(s) + log_constant_;
  if (spec_.kind == LikelihoodKind::gaussian) {
    const double squares = r * r + variance / (s * s);
    return {-0.5 * squares - constant, r / s, -0.5 / (s * s), squares - 1.0};
  }
  const double sd = std::sqrt(std::max(variance / (s * s), kLeastVariance));
  Expected out;
  double along = 0.0;
  for (Eigen::Index k = 0; k < nodes_.size(); ++k) {
    const double u = r - sd * nodes_[k];
    const Point point = at(u);
    out.value += weights_[k] * point.value;
    out.mean -= weights_[k] * point.slope;
    along -= weights_[k] * point.slope * nodes_[k];
    out.log_scale -= weights_[k] * point.slope * u;
  }
  out.value -= constant;
  out.mean /= s;
  out.variance = along / (2.0 * sd * s * s);
  out.log_scale -= 1.0;
  return out;
}

}  // namespace drift::gp
