#include "gp/nearest_choice.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <map>
#include <numbers>

#include "gp/gp_testing.h"
#include "gp/simulated_testing.h"

namespace drift::gp {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

KernelSpec plane_of(double nu) { return space_time_kernel(Space::plane, 2, true, {Family::matern, nu}, true); }

// The system of ordinary kriging, with a Lagrange multiplier for weights that sum to one (Cressie 1993, section 3.2).
TEST(LocalMean, IsOrdinaryKriging) {
  const Simulated s = simulated_plane(40, 5);
  NearestSettings settings;
  settings.neighbours = 40;
  settings.merge = 0.0;
  settings.mean = MeanKind::local;
  const NearestGp gp(s.spec, s.parameters, s.data, settings);
  const MatrixXd points = plane_points(3, 20, 9);
  VectorXd mean(20), variance(20);
  gp.predict(points, mean, variance);
  const Kernel kernel(s.spec, s.parameters.kernel);
  MatrixXd system = MatrixXd::Ones(41, 41);
  kernel.symmetric(s.data.points, system.topLeftCorner(40, 40));
  system.diagonal().head(40).array() += s.parameters.noise_variance();
  system(40, 40) = 0.0;
  for (Index p = 0; p < 20; ++p) {
    VectorXd right = VectorXd::Ones(41);
    MatrixXd k(40, 1);
    kernel.matrix(s.data.points, points.col(p), k);
    right.head(40) = k;
    const VectorXd weights = system.fullPivLu().solve(right);
    EXPECT_NEAR(mean[p], weights.head(40).dot(s.data.values), 1e-8);
    EXPECT_NEAR(variance[p], kernel.variance() - weights.dot(right), 1e-8);
  }
}

TEST(HeldOutDensity, IsThatOfTheBestCommonFactor) {
  const VectorXd error = normal_numbers(50, 3), variance = 0.3 * normal_numbers(50, 4).array().square() + 0.1;
  double best = -1e300;
  for (double factor = 0.01; factor < 100.0; factor *= 1.001) {
    const Eigen::ArrayXd v = factor * variance.array();
    best = std::max(best, (-0.5 * (2.0 * std::numbers::pi * v).log() - 0.5 * error.array().square() / v).mean());
  }
  EXPECT_NEAR(held_out_density(error, variance), best, 1e-6);
}

// Fields of either smoothness, seen along lines: the folds are whole lines.
TEST(ChooseNearest, TakesRoughFieldsForRougherThanSmoothOnes) {
  std::map<double, double> chosen;  // by the field's own smoothness
  for (const double nu : {0.5, 2.5}) {
    MatrixXd points(3, 900);
    for (Index i = 0; i < 900; ++i) {
      const auto line = static_cast<double>(i / 30), along = static_cast<double>(i % 30);
      points.col(i) = Eigen::Vector3d(-1.0 + line / 15.0 + 0.01 * along, -1.0 + along / 15.0, std::sin(7.0 * line));
    }
    GpParameters parameters{
        .kernel = Eigen::Vector3d(std::log(0.6), std::log(2.0), 0.0), .log_noise = std::log(0.02), .mean = 0.4};
    Simulated s = simulated(plane_of(nu), parameters, points, 21);
    for (Index i = 0; i < 900; ++i) s.data.fold.push_back(static_cast<std::uint8_t>((i / 30) % 5));
    NearestSettings settings;
    settings.neighbours = 24;
    settings.subset = 300;
    settings.threads = 2;
    const NearestChoice choice = choose_nearest(plane_of, s.data, settings, {.neighbours = {24}}, "test");
    chosen[nu] = choice.nu;
    EXPECT_NE(choice.density, 0.0);
    s.data.fold.clear();
    EXPECT_EQ(choose_nearest(plane_of, s.data, settings, {.neighbours = {24}}, "test").nu, 1.5) << "nothing to judge by";
  }
  EXPECT_LT(chosen[0.5], chosen[2.5]);
}

}  // namespace
}  // namespace drift::gp
