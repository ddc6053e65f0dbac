#include "gp/sgpr.h"

#include <gtest/gtest.h>

#include "gp/exact.h"
#include "gp/gp_testing.h"
#include "gp/simulated_testing.h"

namespace drift::gp {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

Simulated simulated_with_errors() {
  Simulated s = simulated_plane(60, 31);
  s.data.known_variance = 0.02 * normal_numbers(60, 32).array().square();
  return s;
}

TEST(Sgpr, BoundIsBelowTheEvidenceAndRisesWithInducingPoints) {
  const Simulated s = simulated_with_errors();
  const VectorXd theta = s.parameters.packed();
  const double evidence = log_evidence(s.spec, s.data, theta, std::nullopt, false).value;
  double before = -1e9;
  for (const Eigen::Index m : {5, 15, 40}) {
    const double bound = sgpr_bound(s.spec, s.data, s.data.points.leftCols(m), theta, std::nullopt, false).value;
    EXPECT_GT(bound, before);
    EXPECT_LT(bound, evidence);
    before = bound;
  }
}

TEST(Sgpr, WithInducingPointsAtTheObservationsIsTheExactProcess) {
  const Simulated s = simulated_with_errors();
  const VectorXd theta = s.parameters.packed();
  const Evidence exact = log_evidence(s.spec, s.data, theta, std::nullopt, true);
  const Evidence bound = sgpr_bound(s.spec, s.data, s.data.points, theta, std::nullopt, true);
  EXPECT_NEAR(bound.value, exact.value, 1e-7);
  EXPECT_NEAR(bound.mean, exact.mean, 1e-7);
  EXPECT_LT((bound.gradient - exact.gradient).cwiseAbs().maxCoeff(), 1e-5);

  const MatrixXd x = plane_points(3, 30, 33);
  VectorXd mean(30), variance, exact_mean(30), exact_variance;
  SgprGp(s.spec, s.parameters, s.data, s.data.points, "test").predict(x, mean, &variance);
  ExactGp(s.spec, s.parameters, s.data, "test").predict(x, exact_mean, &exact_variance);
  EXPECT_LT((mean - exact_mean).cwiseAbs().maxCoeff(), 1e-8);
  EXPECT_LT((variance - exact_variance).cwiseAbs().maxCoeff(), 1e-8);
}

TEST(Sgpr, GradientAgreesWithFiniteDifferences) {
  const Simulated s = simulated_with_errors();
  const MatrixXd inducing = plane_points(3, 12, 34);
  const VectorXd theta = s.parameters.packed();
  const auto f = [&](const VectorXd& t) { return sgpr_bound(s.spec, s.data, inducing, t, std::nullopt, false).value; };
  const VectorXd gradient = sgpr_bound(s.spec, s.data, inducing, theta, std::nullopt, true).gradient;
  EXPECT_LT(gradient_error(f, theta, gradient), 1e-7);
  for (Eigen::Index i = 0; i < theta.size(); ++i) {
    VectorXd wrong = gradient;
    wrong[i] = -wrong[i];
    EXPECT_GT(gradient_error(f, theta, wrong), 1e-3) << i;
  }
}

}  // namespace
}  // namespace drift::gp
