#include "gp/exact.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gp/evidence.h"
#include "gp/gp_testing.h"
#include "gp/simulated_testing.h"

namespace drift::gp {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kGolden = 1e-9;  // two programs, 40 points, condition near 1e3

VectorXd vector(const nlohmann::json& numbers) {
  const auto all = numbers.get<std::vector<double>>();
  return Eigen::Map<const VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
}

MatrixXd columns(const nlohmann::json& rows) {
  MatrixXd out(static_cast<Eigen::Index>(rows[0].size()), static_cast<Eigen::Index>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) out.col(static_cast<Eigen::Index>(i)) = vector(rows[i]);
  return out;
}

struct Golden {
  std::string name;
  KernelSpec spec;
  GpData data;
  GpParameters parameters;
  nlohmann::json numbers;
};

std::vector<Golden> golden() {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "../../tests/golden/exact_gp.json");
  const std::vector<Covariance> covariances = {
      {Family::matern, 0.5}, {Family::matern, 1.5}, {Family::matern, 2.5}, {Family::squared_exponential, 0.0}};
  std::vector<Golden> out;
  for (const nlohmann::json& numbers : nlohmann::json::parse(file)) {
    KernelParameters kernel(4);
    kernel << vector(numbers.at("lengthscales")), numbers.at("amplitude").get<double>();
    Golden g;
    g.name = numbers.at("name");
    g.spec = planar_kernel(3, covariances.at(out.size()));
    g.data = {.points = columns(numbers.at("points")), .values = vector(numbers.at("values")), .known_variance = {}};
    g.parameters = {.kernel = kernel.array().log(), .log_noise = std::log(numbers.at("noise").get<double>()), .mean = 0.0};
    g.numbers = numbers;
    out.push_back(g);
  }
  return out;
}

TEST(ExactGp, EvidenceAndGradientAreScikitLearns) {
  for (const Golden& g : golden()) {
    const Evidence e = log_evidence(g.spec, g.data, g.parameters.packed(), 0.0, true);
    EXPECT_NEAR(e.value, g.numbers.at("log_evidence").get<double>(), kGolden) << g.name;
    EXPECT_LT((e.gradient - vector(g.numbers.at("gradient"))).cwiseAbs().maxCoeff(), 100 * kGolden) << g.name;
  }
}

TEST(ExactGp, PredictionsAreScikitLearns) {
  for (const Golden& g : golden()) {
    const ExactGp gp(g.spec, g.parameters, g.data, "test");
    const MatrixXd points = columns(g.numbers.at("new_points"));
    VectorXd mean(points.cols());
    VectorXd variance;
    gp.predict(points, mean, &variance);
    EXPECT_EQ(gp.jitter(), 0.0);
    EXPECT_LT((mean - vector(g.numbers.at("mean"))).cwiseAbs().maxCoeff(), kGolden) << g.name;
    EXPECT_LT((variance.cwiseSqrt() - vector(g.numbers.at("sd"))).cwiseAbs().maxCoeff(), 10 * kGolden) << g.name;
  }
}

TEST(ExactGp, GradientHoldsWithAMeanByGeneralisedLeastSquares) {
  Golden g = golden()[1];
  g.data.values.array() += 3.0;
  g.data.known_variance = 0.05 * normal_numbers(g.data.size(), 1).array().square();
  const VectorXd theta = g.parameters.packed();
  const Evidence e = log_evidence(g.spec, g.data, theta, std::nullopt, true);
  EXPECT_NEAR(e.mean, 3.0, 1.0);
  const auto f = [&](const VectorXd& t) { return log_evidence(g.spec, g.data, t, std::nullopt, false).value; };
  EXPECT_LT(gradient_error(f, theta, e.gradient), 1e-7);
  VectorXd wrong = e.gradient;
  wrong[4] = -wrong[4];
  EXPECT_GT(gradient_error(f, theta, wrong), 0.01);
  // No other mean does better.
  for (const double other : {e.mean - 0.1, e.mean + 0.1}) {
    EXPECT_LT(log_evidence(g.spec, g.data, theta, other, false).value, e.value);
  }
}

TEST(ExactGp, TrustsAnObservationTheLessTheLargerItsKnownError) {
  Golden g = golden()[1];
  const VectorXd at = g.data.points.col(7);
  const auto mean_at = [&](double known) {
    g.data.known_variance = VectorXd::Zero(g.data.size());
    g.data.known_variance[7] = known;
    VectorXd mean(1);
    ExactGp(g.spec, g.parameters, g.data, "test").predict(at, mean, nullptr);
    return mean[0];
  };
  const double residual = std::abs(mean_at(0.0) - g.data.values[7]);
  EXPECT_GT(std::abs(mean_at(4.0) - g.data.values[7]), residual);
}

TEST(ExactGp, FindsTheParametersThatTheDataWereDrawnFrom) {
  const Simulated s = simulated_plane(400, 1);
  const Found found = fit_exact(s.spec, s.data, {}, "test");
  for (Eigen::Index i = 0; i < 4; ++i) {
    EXPECT_NEAR(found.parameters.packed()[i], s.parameters.packed()[i], 0.5) << i;  // about three of their standard deviations
  }
  const double truth = log_evidence(s.spec, s.data, s.parameters.packed(), std::nullopt, false).value;
  EXPECT_GT(found.evidence, truth - 0.5);  // the priors may cost a little
}

TEST(ExactGp, LeavesALengthscaleThatIsGiven) {
  const Simulated s = simulated_plane(80, 2);
  const Found found = fit_exact(s.spec, s.data, {.lengthscales = {0.7, std::nullopt}}, "test");
  EXPECT_EQ(found.parameters.kernel[0], std::log(0.7));
  EXPECT_NE(found.parameters.kernel[1], std::log(0.7));
}

TEST(ExactGp, FindsTheSameOnAnyNumberOfThreads) {
  const Simulated s = simulated_plane(100, 3);
  const Found one = fit_exact(s.spec, s.data, {.threads = 1}, "test");
  const Found two = fit_exact(s.spec, s.data, {.threads = 2}, "test");
  EXPECT_EQ(one.parameters.packed(), two.parameters.packed());
}

TEST(DrawnRows, AreDistinctAscendingAndKeyed) {
  const auto rows = drawn_rows(1000, 100, 1);
  ASSERT_EQ(rows.size(), 100u);
  for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_LT(rows[i - 1], rows[i]);
  EXPECT_EQ(rows, drawn_rows(1000, 100, 1));
  EXPECT_NE(rows, drawn_rows(1000, 100, 2));
  EXPECT_EQ(drawn_rows(5, 100, 1).size(), 5u);
}

}  // namespace
}  // namespace drift::gp
