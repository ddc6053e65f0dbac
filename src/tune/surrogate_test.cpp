#include "tune/surrogate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "math/minimise.h"
#include "tune/gradient_testing.h"
#include "tune/latin_hypercube.h"

namespace drift {
namespace {

using Values = std::vector<std::optional<double>>;

TEST(RobustValues, LeaveTheGoodSideAloneAndCutTheBadOne) {
  const Eigen::VectorXd robust = robust_values(Values{1.0, 2.0, 3.0, 1e30, -1.0});
  EXPECT_EQ(robust[0], 1.0);
  EXPECT_EQ(robust[1], 2.0);
  EXPECT_EQ(robust[4], -1.0);
  EXPECT_EQ(robust[2], 3.0);
  EXPECT_LT(robust[3], 20.0);
}

TEST(RobustValues, CountFailuresAsTheWorst) {
  const Eigen::VectorXd robust = robust_values(Values{1.0, std::nullopt, 3.0});
  EXPECT_EQ(robust[1], robust[2]);
  const Eigen::VectorXd one = robust_values(Values{std::nullopt, 2.0});
  EXPECT_EQ(one[0], 2.0);
}

TEST(LogPrior, GradientAgreesWithFiniteDifferences) {
  const Eigen::VectorXd packed = Eigen::VectorXd::LinSpaced(6, -2.0, 1.0);
  Eigen::VectorXd gradient;
  log_prior(packed, gradient);
  const auto value = [](const Eigen::VectorXd& x) {
    Eigen::VectorXd unused;
    return log_prior(x, unused);
  };
  EXPECT_LT(gradient_error(value, packed, gradient), kGradientTolerance);
}

TEST(Minimise, FindsTheBottomOfRosenbrocksValleyAndKeepsToItsBox) {
  const Differentiable rosenbrock = [](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
    const double a = x[1] - x[0] * x[0];
    gradient << -400.0 * a * x[0] - 2.0 * (1.0 - x[0]), 200.0 * a;
    return 100.0 * a * a + (1.0 - x[0]) * (1.0 - x[0]);
  };
  const Minimum free = minimise(rosenbrock, Eigen::Vector2d(-1.2, 1.0), Eigen::Vector2d(-5, -5), Eigen::Vector2d(5, 5), 200);
  EXPECT_NEAR(free.place[0], 1.0, 1e-3);
  EXPECT_NEAR(free.place[1], 1.0, 1e-3);
  const Minimum bound = minimise(rosenbrock, Eigen::Vector2d(-1.2, 1.0), Eigen::Vector2d(-5, -5), Eigen::Vector2d(0.5, 5), 200);
  EXPECT_NEAR(bound.place[0], 0.5, 1e-6);  // the valley's floor at x = 1/2
  EXPECT_NEAR(bound.place[1], 0.25, 1e-4);
}

TEST(Minimise, SurvivesValuesThatAreNotFiniteAndPassesExceptionsOn) {
  const Differentiable broken = [](const Eigen::VectorXd& x, Eigen::VectorXd& gradient) {
    gradient = 2.0 * x;
    return x[0] > 0.5 ? NAN : x.squaredNorm();
  };
  const Minimum found = minimise(broken, Eigen::VectorXd::Constant(1, 0.4), Eigen::VectorXd::Constant(1, -1.0),
                                 Eigen::VectorXd::Constant(1, 1.0), 50);
  EXPECT_NEAR(found.place[0], 0.0, 1e-4);
  const Differentiable throwing = [](const Eigen::VectorXd&, Eigen::VectorXd&) -> double { throw std::runtime_error("no"); };
  EXPECT_THROW(
      minimise(throwing, Eigen::VectorXd::Zero(1), Eigen::VectorXd::Constant(1, -1.0), Eigen::VectorXd::Constant(1, 1.0), 50),
      std::runtime_error);
}

// Forty places of f(x, y) = sin(5x), the second coordinate idle.
Surrogate fit_of_a_sine(double outlier) {
  const Eigen::MatrixXd places = latin_hypercube(40, 2, 9);
  Values values;
  for (Eigen::Index i = 0; i < 40; ++i) values.emplace_back(std::sin(5.0 * places(i, 0)));
  if (outlier != 0.0) values[7] = outlier;
  return fit_surrogate(places, values, {false, false}, 1);
}

TEST(Surrogate, FindsTheFunctionAndTheIdleCoordinate) {
  const Surrogate surrogate = fit_of_a_sine(0.0);
  const Eigen::VectorXd lengthscale = surrogate.process.hyperparameters().lengthscale;
  EXPECT_GT(lengthscale[1], 5.0 * lengthscale[0]);
  for (const double x : {0.1, 0.33, 0.5, 0.9}) {
    const auto posterior = surrogate.process.at(Eigen::Vector2d(x, 0.4));
    const double cut = 1e-2;
    EXPECT_NEAR(surrogate.shift + surrogate.scale * posterior.mean, std::sin(5.0 * x), cut) << x;
  }
}

TEST(Surrogate, KeepsItsShapeBesideAWildOutlier) {
  const Surrogate surrogate = fit_of_a_sine(1e12);
  const auto low = surrogate.process.at(Eigen::Vector2d(0.942, 0.5));   // sin(5x) = -1
  const auto high = surrogate.process.at(Eigen::Vector2d(0.314, 0.5));  // sin(5x) = 1
  EXPECT_LT(low.mean + 0.5, high.mean);
}

TEST(Surrogate, BearsValuesThatAreAllTheSame) {
  const Eigen::MatrixXd places = latin_hypercube(6, 1, 9);
  const Surrogate surrogate = fit_surrogate(places, Values(6, 4.0), {false}, 1);
  EXPECT_NEAR(surrogate.shift + surrogate.scale * surrogate.process.at(Eigen::VectorXd::Constant(1, 0.3)).mean, 4.0, 1e-6);
}

}  // namespace
}  // namespace drift
