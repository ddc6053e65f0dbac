#include "tune/expected_improvement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tune/gradient_testing.h"

namespace drift {
namespace {

// log h by its definition, h(z) = integral over s > 0 of s phi(s - z), so h / phi(z) = integral of s exp(zs - s^2/2): nothing
// cancels, nothing underflows. Simpson's rule where the integrand lives.
double log_h_by_integral(double z) {
  const double peak = 0.5 * (z + std::sqrt(z * z + 4.0));  // where log s + zs - s^2/2 is largest
  const double log_peak = std::log(peak) + z * peak - 0.5 * peak * peak;
  const double reach = 60.0 * std::min(1.0, peak) + std::max(z, 0.0);
  constexpr int kSteps = 400000;
  const double width = (peak + reach) / kSteps;
  double sum = 0.0;
  for (int i = 1; i <= kSteps; ++i) {
    const double s = width * i;
    sum += (i == kSteps ? 1.0 : (i % 2 == 1 ? 4.0 : 2.0)) * std::exp(std::log(s) + z * s - 0.5 * s * s - log_peak);
  }
  return std::log(sum * width / 3.0) + log_peak - 0.5 * z * z - 0.5 * std::log(2.0 * std::numbers::pi);
}

TEST(LogH, AgreesWithItsIntegralFromTheCentreFarIntoTheTail) {
  for (const double z : {3.0, 1.0, 0.0, -1.0, -1.9, -1.999999, -2.000001, -2.1, -5.0, -10.0, -40.0, -300.0, -1e4, -1e6}) {
    const double expected = log_h_by_integral(z);
    EXPECT_NEAR(log_h(z).value, expected, 1e-10 * std::max(1.0, std::abs(expected))) << "z = " << z;
  }
}

TEST(LogH, IsFiniteWherePlainExpectedImprovementIsZero) {
  const double z = -40.0;
  const double phi = std::exp(-0.5 * z * z) / std::sqrt(2.0 * std::numbers::pi);
  EXPECT_EQ(phi + z * 0.5 * std::erfc(-z / std::numbers::sqrt2), 0.0);  // what the plain formula gives
  EXPECT_TRUE(std::isfinite(log_h(z).value));
  EXPECT_TRUE(std::isfinite(log_h(-1e100).value));
}

TEST(LogH, HasTheAsymptoteOfTheTail) {
  for (const double z : {-1e5, -1e8}) {
    const double asymptote = -0.5 * z * z - 0.5 * std::log(2.0 * std::numbers::pi) - 2.0 * std::log(-z);
    EXPECT_NEAR(log_h(z).value / asymptote, 1.0, 1e-14);
    EXPECT_NEAR(log_h(z).slope / -z, 1.0, 1e-9);
  }
}

TEST(LogH, SlopeAgreesWithFiniteDifferencesFarInTheTail) {
  const auto value = [](const Eigen::VectorXd& z) { return log_h(z[0]).value; };
  for (const double z : {2.0, 0.0, -1.0, -1.99, -2.01, -8.0, -40.0, -100.0}) {
    const Eigen::VectorXd at = Eigen::VectorXd::Constant(1, z);
    const Eigen::VectorXd slope = Eigen::VectorXd::Constant(1, log_h(z).slope);
    EXPECT_LT(gradient_error(value, at, slope), kGradientTolerance) << "z = " << z;
    EXPECT_GT(gradient_error(value, at, 1.001 * slope), 100.0 * kGradientTolerance) << "z = " << z;  // negative control
  }
}

GaussianProcess some_process() {
  GpData data{.places = Eigen::MatrixXd(5, 2), .values = Eigen::VectorXd(5), .is_choice = {false, false}};
  data.places << 0.1, 0.2, 0.8, 0.3, 0.5, 0.5, 0.3, 0.9, 0.9, 0.9;
  data.values << 0.5, -0.7, 0.1, 1.2, -0.2;
  return {data, {.lengthscale = Eigen::Vector2d(0.5, 0.8), .variance = 1.0, .noise = 1e-3, .mean = 0.0}};
}

TEST(LogExpectedImprovement, IsTheLogarithmOfTheMeanImprovement) {
  const GaussianProcess process = some_process();
  const Eigen::Vector2d place(0.6, 0.2);
  const auto posterior = process.at(place);
  const double sd = std::sqrt(posterior.variance);
  double improvement = 0.0;  // midpoint rule over the posterior
  for (int i = 0; i < 200000; ++i) {
    const double u = -10.0 + 20.0 * (i + 0.5) / 200000.0;
    const double gain = std::max(0.0, -0.7 - (posterior.mean + sd * u));
    improvement += gain * std::exp(-0.5 * u * u) / std::sqrt(2.0 * std::numbers::pi) * 20.0 / 200000.0;
  }
  EXPECT_NEAR(log_expected_improvement(process, -0.7, Eigen::VectorXd(place)).value, std::log(improvement), 1e-7);
}

TEST(LogExpectedImprovement, GradientAgreesWithFiniteDifferencesNearAndFarInTheTail) {
  const GaussianProcess process = some_process();
  const Eigen::Vector2d place(0.62, 0.41);
  const double sd = std::sqrt(process.at(place).variance);
  for (const double z : {1.0, -1.0, -5.0, -40.0}) {
    const double best = process.at(place).mean + z * sd;
    const auto value = [&](const Eigen::VectorXd& x) { return log_expected_improvement(process, best, x).value; };
    const Eigen::VectorXd slope = log_expected_improvement(process, best, Eigen::VectorXd(place)).slope;
    EXPECT_LT(gradient_error(value, place, slope), kGradientTolerance) << "z = " << z;
    const Eigen::VectorXd flipped = Eigen::Vector2d(slope[0], -slope[1]);
    EXPECT_GT(gradient_error(value, place, flipped), 100.0 * kGradientTolerance) << "z = " << z;
  }
}

TEST(LogExpectedImprovement, IsTheSameForManyPlacesAtOnce) {
  const GaussianProcess process = some_process();
  Eigen::MatrixXd places(3, 2);
  places << 0.1, 0.1, 0.5, 0.5, 0.99, 0.01;
  const Eigen::VectorXd all = log_expected_improvement(process, -0.7, places);
  for (Eigen::Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(all[i], log_expected_improvement(process, -0.7, Eigen::VectorXd(places.row(i).transpose())).value, 1e-9);
  }
}

}  // namespace
}  // namespace drift
