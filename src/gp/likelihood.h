#pragma once

#include <Eigen/Core>
#include <string>

#include "drift/enum_words.h"

namespace drift::gp {

// Distribution of observations y about the field f, u = (y - f) / s:
//   gaussian  log p = -u^2 / 2 - log s - log(2 pi) / 2
//   student   log p = -(nu + 1) / 2 log(1 + u^2 / nu) - log s - log B(nu),  nu degrees of freedom
//   huber     log p = -rho(u) - log s - log C(delta),  rho Huber's loss: u^2 / 2 up to delta, delta (|u| - delta / 2) beyond
// s is trained, as its logarithm; the known error of an observation adds to it (src/gp/gp_data.h).
enum class LikelihoodKind { gaussian, student, huber };
constexpr auto enum_words(LikelihoodKind) {
  return std::to_array<EnumWord<LikelihoodKind>>(
      {{"gaussian", LikelihoodKind::gaussian}, {"student", LikelihoodKind::student}, {"huber", LikelihoodKind::huber}});
}

struct LikelihoodSpec {
  LikelihoodKind kind = LikelihoodKind::gaussian;
  double nu = 4.0;       // > 2, so that there is a variance
  double delta = 1.345;  // > 0, in units of s; 1.345 loses 5 % where errors are Gaussian after all (Huber 1981)
  int nodes = 32;        // of the Gauss-Hermite rule, for all but the Gaussian
};

// Expectations under f ~ N(mean, variance), by closed form (Gaussian) or Gauss-Hermite quadrature.
class Likelihood {
 public:
  explicit Likelihood(const LikelihoodSpec& spec);

  const LikelihoodSpec& spec() const { return spec_; }

  struct Expected {
    double value = 0.0;      // E log p(y | f)
    double mean = 0.0;       // its slope in the mean
    double variance = 0.0;   // in the variance
    double log_scale = 0.0;  // in log s
  };
  Expected expected(double y, double mean, double variance, double s) const;

  double log_density(double y, double f, double s) const;
  double noise_variance() const { return unit_variance_; }  // of y - f where s = 1

 private:
  struct Point {
    double value, slope;  // log p without -log s and constants, and its slope in u
  };
  Point at(double u) const;

  LikelihoodSpec spec_;
  double log_constant_ = 0.0;  // of the density at s = 1
  double unit_variance_ = 1.0;
  Eigen::VectorXd nodes_, weights_;  // of the rule for N(0, 1)
};

// The Gauss-Hermite rule of n nodes for the standard normal density: exact for polynomials up to degree 2 n - 1. By the
// eigenvalues of the recurrence's matrix (Golub & Welsch 1969).
void gauss_hermite(int n, Eigen::VectorXd& nodes, Eigen::VectorXd& weights);

}  // namespace drift::gp
