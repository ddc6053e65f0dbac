#include "gp/likelihood.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace drift::gp {
namespace {

struct Case {
  LikelihoodSpec spec;
  double tolerance;  // of the quadrature, on values of order one
};

const Case kGaussian{{.kind = LikelihoodKind::gaussian}, 1e-10};
const Case kStudent{{.kind = LikelihoodKind::student, .nu = 4.0}, 1e-4};   // poles of log p at |u| = 2i
const Case kHuber{{.kind = LikelihoodKind::huber, .delta = 1.345}, 5e-3};  // a second derivative that jumps

// E log p by Simpson's rule on +-12 standard deviations.
double by_simpson(const Likelihood& likelihood, double y, double mean, double variance, double s) {
  const int n = 40000;
  const double h = 24.0 / n;
  double sum = 0.0;
  for (int i = 0; i <= n; ++i) {
    const double z = -12.0 + h * i;
    const double weight = (i == 0 || i == n) ? 1.0 : (i % 2 == 1 ? 4.0 : 2.0);
    sum += weight * std::exp(-0.5 * z * z) * likelihood.log_density(y, mean + std::sqrt(variance) * z, s);
  }
  return sum * h / 3.0 / std::sqrt(2.0 * std::numbers::pi);
}

TEST(Likelihood, ExpectationsAgreeWithNumericalIntegrals) {
  for (const Case& each : {kGaussian, kStudent, kHuber}) {
    const Likelihood likelihood(each.spec);
    for (const double y : {-3.0, 0.1, 1.2, 8.0}) {
      for (const double variance : {1e-4, 0.3, 2.0}) {
        const double expected = by_simpson(likelihood, y, 0.4, variance, 0.7);
        EXPECT_NEAR(likelihood.expected(y, 0.4, variance, 0.7).value, expected, each.tolerance * (1.0 + std::abs(expected)))
            << y << " " << variance;
      }
    }
  }
}

TEST(Likelihood, SlopesAgreeWithDifferences) {
  for (const Case& each : {kGaussian, kStudent, kHuber}) {
    const Likelihood likelihood(each.spec);
    const double y = 1.3, mean = 0.2, variance = 0.5, s = 0.8, step = 1e-6;
    const auto value = [&](double m, double v, double scale) { return likelihood.expected(y, m, v, scale).value; };
    const auto found = likelihood.expected(y, mean, variance, s);
    EXPECT_NEAR(found.mean, (value(mean + step, variance, s) - value(mean - step, variance, s)) / (2 * step), 1e-7);
    EXPECT_NEAR(found.variance, (value(mean, variance + step, s) - value(mean, variance - step, s)) / (2 * step), 1e-7);
    EXPECT_NEAR(found.log_scale,
                (value(mean, variance, s * std::exp(step)) - value(mean, variance, s * std::exp(-step))) / (2 * step), 1e-7);
    // The control: a slope of the other sign would be far outside.
    EXPECT_GT(std::abs(2.0 * found.mean), 1e-2);
    EXPECT_GT(std::abs(2.0 * found.variance), 1e-2);
  }
}

// With so many degrees of freedom or so wide a core, both are the Gaussian, whose expectation is known in closed form.
TEST(Likelihood, QuadratureGivesTheClosedFormOfTheGaussian) {
  const Likelihood gaussian(kGaussian.spec), huber({.kind = LikelihoodKind::huber, .delta = 1e3}),
      student({.kind = LikelihoodKind::student, .nu = 1e9});
  for (const double variance : {1e-3, 0.7}) {
    const auto expected = gaussian.expected(1.0, -0.5, variance, 0.6);
    for (const Likelihood* other : {&huber, &student}) {
      const auto found = other->expected(1.0, -0.5, variance, 0.6);
      EXPECT_NEAR(found.value, expected.value, 1e-5);
      EXPECT_NEAR(found.mean, expected.mean, 1e-5);
      EXPECT_NEAR(found.variance, expected.variance, 1e-5);
      EXPECT_NEAR(found.log_scale, expected.log_scale, 1e-5);
    }
  }
}

TEST(Likelihood, DensitiesIntegrateToOneAndHaveTheStatedVariance) {
  for (const LikelihoodSpec& spec :
       {LikelihoodSpec{.kind = LikelihoodKind::gaussian}, LikelihoodSpec{.kind = LikelihoodKind::huber},
        LikelihoodSpec{.kind = LikelihoodKind::student, .nu = 9.0}}) {
    const Likelihood likelihood(spec);
    double mass = 0.0, second = 0.0;
    const double h = 1e-3;
    for (double r = -60.0; r < 60.0; r += h) {
      const double density = std::exp(likelihood.log_density(r, 0.0, 0.5));
      mass += h * density;
      second += h * density * r * r;
    }
    EXPECT_NEAR(mass, 1.0, 1e-6);
    EXPECT_NEAR(second, 0.25 * likelihood.noise_variance(), 1e-5);
  }
}

TEST(GaussHermite, IntegratesPowersExactly) {
  Eigen::VectorXd nodes, weights;
  gauss_hermite(8, nodes, weights);
  const double moments[] = {1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 15.0, 0.0, 105.0};
  for (int power = 0; power <= 8; ++power) {
    EXPECT_NEAR((weights.array() * nodes.array().pow(power)).sum(), moments[power], 1e-9 * (1.0 + moments[power]));
  }
}

}  // namespace
}  // namespace drift::gp
