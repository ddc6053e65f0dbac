#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/random.h"
#include "drift/error.h"
#include "drift/score.h"

namespace drift {
namespace {

// The definition: integral over x of (F(x) - [x >= y])^2, by Simpson's rule on either side of the jump at y.
double crps_by_integration(double y, double mean, double sd) {
  const auto distribution = [&](double x) { return 0.5 * std::erfc(-(x - mean) / (sd * std::numbers::sqrt2)); };
  const auto integrate = [&](double from, double to, auto integrand) {
    constexpr int kIntervals = 20000;
    const double h = (to - from) / kIntervals;
    double sum = integrand(from) + integrand(to);
    for (int i = 1; i < kIntervals; ++i) sum += (i % 2 == 1 ? 4.0 : 2.0) * integrand(from + i * h);
    return sum * h / 3.0;
  };
  const double low = std::min(mean - 12.0 * sd, y), high = std::max(mean + 12.0 * sd, y);
  return integrate(low, y, [&](double x) { return distribution(x) * distribution(x); }) +
         integrate(y, high, [&](double x) { return (1.0 - distribution(x)) * (1.0 - distribution(x)); });
}

TEST(GaussianCrps, IsTheIntegralItIsDefinedBy) {
  for (double y : {-3.0, -0.4, 0.0, 0.7, 5.0}) {
    for (double mean : {-1.0, 0.0, 2.5}) {
      for (double sd : {0.05, 1.0, 3.0}) {
        EXPECT_NEAR(gaussian_crps(y, mean, sd), crps_by_integration(y, mean, sd), 1e-9) << y << " " << mean << " " << sd;
      }
    }
  }
}

TEST(GaussianCrps, OfAPerfectMeanIsTheKnownMultipleOfTheSpread) {
  EXPECT_NEAR(gaussian_crps(1.5, 1.5, 2.0), 2.0 * (std::numbers::sqrt2 - 1.0) / std::sqrt(std::numbers::pi), 1e-15);
}

TEST(GaussianCrps, TendsToTheAbsoluteErrorAsTheSpreadVanishes) {
  EXPECT_EQ(gaussian_crps(3.0, 1.0, 0.0), 2.0);
  EXPECT_NEAR(gaussian_crps(3.0, 1.0, 1e-6), 2.0, 1e-6);
}

// Simpson's rule on the three pieces of the loss.
double huber_by_integration(double y, double mean, double sd, double delta) {
  const auto integrate = [&](double from, double to) {
    constexpr int kIntervals = 4000;
    const double h = (to - from) / kIntervals;
    double sum = 0.0;
    for (int i = 0; i <= kIntervals; ++i) {
      const double field = from + i * h, size = std::abs(y - field);
      const double loss = size <= delta ? 0.5 * size * size : delta * (size - 0.5 * delta);
      sum += (i == 0 || i == kIntervals ? 1.0 : i % 2 == 1 ? 4.0 : 2.0) * loss * std::exp(-gaussian_nll(field, mean, sd));
    }
    return sum * h / 3.0;
  };
  const double low = mean - 12.0 * sd, high = mean + 12.0 * sd;
  const double a = std::clamp(y - delta, low, high), b = std::clamp(y + delta, low, high);
  return integrate(low, a) + integrate(a, b) + integrate(b, high);
}

TEST(GaussianHuber, IsTheExpectationOfTheLoss) {
  for (double y : {-3.0, -0.1, 0.0, 0.7}) {
    for (double sd : {0.01, 0.3, 2.0}) {
      for (double delta : {0.1, 1.5}) {
        EXPECT_NEAR(gaussian_huber(y, 0.2, sd, delta), huber_by_integration(y, 0.2, sd, delta), 1e-9)
            << y << " " << sd << " " << delta;
      }
    }
  }
}

TEST(GaussianHuber, OfACertainFieldIsTheLossItself) {
  EXPECT_EQ(gaussian_huber(1.05, 1.0, 0.0, 0.1), 0.5 * (1.05 - 1.0) * (1.05 - 1.0));
  EXPECT_NEAR(gaussian_huber(3.0, 1.0, 0.0, 0.1), 0.1 * (2.0 - 0.05), 1e-15);
  EXPECT_NEAR(gaussian_huber(1.3, 1.0, 1e-9, 0.1), gaussian_huber(1.3, 1.0, 0.0, 0.1), 1e-9);
}

TEST(GaussianNll, IsMinusTheLogarithmOfTheDensity) {
  const double density = std::exp(-0.5 * 0.25) / (2.0 * std::sqrt(2.0 * std::numbers::pi));  // N(1, 2^2) at 2
  EXPECT_NEAR(gaussian_nll(2.0, 1.0, 2.0), -std::log(density), 1e-15);
}

// Draws from N(0, 1) scored under forecasts with other means and spreads.
class ProperScores : public ::testing::Test {
 protected:
  ProperScores() : draws_(20000) {
    RandomStream stream({.seed = 3, .purpose = Purpose::simulation});
    for (double& draw : draws_) draw = stream.normal();
  }
  std::vector<double> same(double value) const { return std::vector<double>(draws_.size(), value); }

  std::vector<double> draws_;
};

TEST_F(ProperScores, AreBestForTheDistributionTheDrawsCameFrom) {
  const double best_crps = mean_crps(draws_, same(0.0), same(1.0));
  const double best_nll = mean_nll(draws_, same(0.0), same(1.0));
  EXPECT_NEAR(best_crps, 1.0 / std::sqrt(std::numbers::pi), 0.01);  // E|X - X'| / 2 for standard normals
  for (auto [mean, sd] : {std::pair{0.3, 1.0}, {-0.3, 1.0}, {0.0, 0.7}, {0.0, 1.4}}) {
    EXPECT_GT(mean_crps(draws_, same(mean), same(sd)), best_crps + 1e-3) << mean << " " << sd;
    EXPECT_GT(mean_nll(draws_, same(mean), same(sd)), best_nll + 1e-3) << mean << " " << sd;
  }
}

TEST_F(ProperScores, CoverageIsTheLevelForAnHonestSpreadAndNotForAWrongOne) {
  for (double level : {0.5, 0.9, 0.99}) EXPECT_NEAR(coverage(draws_, same(0.0), same(1.0), level), level, 0.01);
  EXPECT_NEAR(coverage(draws_, same(0.0), same(0.5), 0.9), 0.589, 0.012);  // erf(1.644854 / 2 / sqrt 2)
}

TEST(Rmse, IsTheRootOfTheMeanSquaredDifference) {
  const std::vector<double> y = {1.0, 2.0, 3.0}, mean = {1.0, 0.0, 4.0};
  EXPECT_NEAR(rmse(y, mean), std::sqrt(5.0 / 3.0), 1e-15);
}

TEST(Scores, RefuseWhatTheyCannotScoreAndNameThePlace) {
  const std::vector<double> two = {1.0, 2.0}, one = {1.0}, none, zero = {1.0, 0.0};
  const std::vector<double> not_a_number = {1.0, std::numeric_limits<double>::quiet_NaN()}, negative = {-1.0, 1.0};
  EXPECT_THROW(rmse(none, none), UsageError);
  EXPECT_THROW(rmse(two, one), UsageError);
  EXPECT_THROW(mean_crps(two, two, one), UsageError);
  EXPECT_THROW(mean_crps(two, two, negative), UsageError);
  EXPECT_THROW(mean_crps(two, two, not_a_number), UsageError);
  EXPECT_NO_THROW(mean_crps(two, two, zero));
  EXPECT_THROW(coverage(two, two, two, 1.0), UsageError);
  try {
    mean_nll(two, two, zero);
    FAIL() << "a zero spread has no density";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("forecast 1 is 0"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace drift
