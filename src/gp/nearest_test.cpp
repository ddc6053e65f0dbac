#include "gp/nearest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gp/evidence.h"
#include "gp/exact.h"
#include "gp/gp_testing.h"
#include "gp/simulated_testing.h"

namespace drift::gp {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::vector<Simulated> plane_and_sphere(Index n) { return {simulated_plane(n, 11), simulated_sphere(n, 12)}; }

MatrixXd places(const Simulated& s, Index n) {
  return s.spec.dimensions == 4 ? sphere_points(true, n, 77) : plane_points(3, n, 77);
}

// Every observation on its own.
NearestSettings with_neighbours(std::size_t k) {
  NearestSettings settings;
  settings.neighbours = k;
  settings.merge = 0.0;
  return settings;
}

TEST(Vecchia, GivenAllBeforeItIsTheEvidence) {
  for (Simulated s : plane_and_sphere(60)) {
    s.data.known_variance = 0.01 * normal_numbers(60, 3).array().square();
    const NearestSettings settings = with_neighbours(60);
    const auto conditionals = choose_conditionals(s.spec, s.data, s.parameters.kernel, settings);
    const VecchiaSum sum = vecchia_likelihood(s.spec, s.data, conditionals, s.parameters.packed(), 0.3, 2);
    const Evidence exact = log_evidence(s.spec, s.data, s.parameters.packed(), 0.3, true);
    EXPECT_NEAR(sum.value, exact.value, 1e-8);
    EXPECT_LT((sum.gradient - exact.gradient).cwiseAbs().maxCoeff(), 1e-6);
    const Evidence with_mean = log_evidence(s.spec, s.data, s.parameters.packed(), std::nullopt, false);
    EXPECT_NEAR(sum.mean, with_mean.mean, 1e-8);
  }
}

TEST(Vecchia, GradientAgreesWithFiniteDifferences) {
  for (const Simulated& s : plane_and_sphere(120)) {
    const auto conditionals = choose_conditionals(s.spec, s.data, s.parameters.kernel, with_neighbours(8));
    const VectorXd theta = s.parameters.packed() + 0.1 * VectorXd::Ones(4);
    const auto f = [&](const VectorXd& t) { return vecchia_likelihood(s.spec, s.data, conditionals, t, 0.2, 1).value; };
    const VectorXd gradient = vecchia_likelihood(s.spec, s.data, conditionals, theta, 0.2, 1).gradient;
    EXPECT_LT(gradient_error(f, theta, gradient), 1e-7);
    VectorXd wrong = gradient;
    wrong[1] = -wrong[1];
    EXPECT_GT(gradient_error(f, theta, wrong), 0.01);
  }
}

TEST(Vecchia, DoesNotDependOnTheNumberOfThreads) {
  const Simulated s = simulated_plane(300, 4);
  const auto conditionals = choose_conditionals(s.spec, s.data, s.parameters.kernel, with_neighbours(10));
  const VecchiaSum one = vecchia_likelihood(s.spec, s.data, conditionals, s.parameters.packed(), 0.0, 1);
  const VecchiaSum three = vecchia_likelihood(s.spec, s.data, conditionals, s.parameters.packed(), 0.0, 3);
  EXPECT_EQ(one.value, three.value);
  EXPECT_EQ(one.gradient, three.gradient);
}

TEST(NearestGp, WithAllObservationsIsTheExactProcess) {
  for (const Simulated& s : plane_and_sphere(80)) {
    const MatrixXd x = places(s, 40);
    const NearestGp nearest(s.spec, s.parameters, s.data, with_neighbours(80));
    const ExactGp exact(s.spec, s.parameters, s.data, "test");
    VectorXd mean(40), variance(40), exact_mean(40), exact_variance;
    nearest.predict(x, mean, variance);
    exact.predict(x, exact_mean, &exact_variance);
    EXPECT_LT((mean - exact_mean).cwiseAbs().maxCoeff(), 1e-10);
    EXPECT_LT((variance.cwiseSqrt() - exact_variance.cwiseSqrt()).cwiseAbs().maxCoeff(), 1e-10);
  }
}

TEST(NearestGp, ErrorFallsAsNeighboursGrow) {
  for (const Simulated& s : plane_and_sphere(700)) {
    const MatrixXd x = places(s, 200);
    const ExactGp exact(s.spec, s.parameters, s.data, "test");
    VectorXd mean(200), variance(200), exact_mean(200), exact_variance;
    exact.predict(x, exact_mean, &exact_variance);
    double before = 1e9;
    for (const std::size_t k : {2, 8, 32, 128}) {
      NearestGp(s.spec, s.parameters, s.data, with_neighbours(k)).predict(x, mean, variance);
      const double error = (mean - exact_mean).norm();
      EXPECT_LT(error, 0.7 * before) << k;
      // Knowing less is never claimed to be knowing more.
      EXPECT_GT((variance - exact_variance).minCoeff(), -1e-10) << k;
      before = error;
    }
  }
}

TEST(NearestFit, FindsTheParametersThatTheDataWereDrawnFrom) {
  for (const Simulated& s : plane_and_sphere(500)) {
    NearestSettings settings = with_neighbours(12);
    settings.subset = 500;
    settings.rounds = 2;
    settings.start = 100;
    const Found all = fit_nearest(s.spec, s.data, settings, "test");
    settings.subset = 250;  // the other road: conditionals for some
    const Found some = fit_nearest(s.spec, s.data, settings, "test");
    // The noise, a tenth of the amplitude, hardly shows between observations so far apart.
    const Eigen::Vector4d allowed(0.5, 0.5, 0.5, 1.2);
    for (Index i = 0; i < 4; ++i) {
      EXPECT_NEAR(all.parameters.packed()[i], s.parameters.packed()[i], allowed[i]) << i;
      EXPECT_NEAR(some.parameters.packed()[i], s.parameters.packed()[i], 1.4 * allowed[i]) << i;
    }
  }
}

TEST(NearestFit, DoesNotDependOnTheNumberOfThreads) {
  const Simulated s = simulated_plane(400, 5);
  NearestSettings settings = with_neighbours(8);
  settings.subset = 100;
  settings.rounds = 1;
  settings.start = 100;
  const Found one = fit_nearest(s.spec, s.data, settings, "test");
  settings.threads = 3;
  EXPECT_EQ(fit_nearest(s.spec, s.data, settings, "test").parameters.packed(), one.parameters.packed());
}

TEST(NeighbourFinder, FindsTheNearestAndNoneTwice) {
  const MatrixXd points = plane_points(3, 3000, 8);
  const auto order = random_order(3000, 1);
  const NeighbourFinder plain(points, order, {.share = 0.0});
  const NeighbourFinder thinned(points, order, {.share = 0.5, .side = 0.4});
  std::vector<Index> found;
  for (Index p = 0; p < 20; ++p) {
    const VectorXd at = plane_points(3, 20, 9).col(p);
    std::vector<std::pair<double, Index>> all;
    for (Index i = 0; i < 3000; ++i) all.emplace_back((points.col(i) - at).squaredNorm(), i);
    std::sort(all.begin(), all.end());
    plain.find(at.data(), 16, found);
    ASSERT_EQ(found.size(), 16u);
    for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(found[i], all[i].second);

    thinned.find(at.data(), 16, found);
    EXPECT_EQ(std::set<Index>(found.begin(), found.end()).size(), 16u);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_NE(std::find(found.begin(), found.end(), all[i].second), found.end());
    EXPECT_GT((points.col(found[7]) - at).squaredNorm(), all[15].first);  // and reaches further out
  }
}

// Passes over [-1, 1]^2, close together along their way: 1,500 observations on fifteen lines.
GpData track_data(const Simulated& rule, MatrixXd& between, VectorXd& truth) {
  RandomStream random({.seed = 3, .purpose = Purpose::simulation});
  constexpr Index kPerTrack = 100;
  MatrixXd x(3, 15 * kPerTrack + between.cols());
  for (Index track = 0; track < 15; ++track) {
    const double angle = M_PI * random.uniform();
    const double off = 2.0 * random.uniform() - 1.0;
    for (Index i = 0; i < kPerTrack; ++i) {
      const double along = 2.0 * static_cast<double>(i) / kPerTrack - 1.0;
      x.col(track * kPerTrack + i) << along * std::cos(angle) - off * std::sin(angle),
          along * std::sin(angle) + off * std::cos(angle), 0.0;
    }
  }
  x.rightCols(between.cols()) = between;
  const Simulated all = simulated(rule.spec, rule.parameters, x, 21);
  truth = all.field.tail(between.cols());
  GpData data = all.data;
  data.points.conservativeResize(Eigen::NoChange, 15 * kPerTrack);
  data.values.conservativeResize(15 * kPerTrack);
  return data;
}

TEST(NearestGp, OnTracksDoesBetterWithAThinningAndMergedObservations) {
  Simulated rule = simulated_plane(1, 1);
  rule.parameters.log_noise = std::log(0.3);
  MatrixXd between = plane_points(3, 200, 22, 0.9);
  between.row(2).setZero();
  VectorXd truth;
  const GpData data = track_data(rule, between, truth);
  const auto rmse = [&](const NearestSettings& settings) {
    VectorXd mean(200), variance(200);
    NearestGp(rule.spec, rule.parameters, data, settings).predict(between, mean, variance);
    const double z = (mean - truth).cwiseAbs2().cwiseQuotient(variance).mean();
    EXPECT_GT(z, 0.5);
    EXPECT_LT(z, 1.5);
    return std::sqrt((mean - truth).squaredNorm() / 200.0);
  };
  NearestSettings settings = with_neighbours(12);
  settings.thinning.share = 0.0;
  const double plain = rmse(settings);
  settings.thinning = {};
  const double thinned = rmse(settings);
  settings.merge = 0.1;
  const double merged_too = rmse(settings);
  EXPECT_LT(thinned, 0.9 * plain);
  EXPECT_LT(merged_too, 0.9 * thinned);
}

TEST(Merged, KeepsWhatObservationsOfOneCellSayTogether) {
  Simulated s = simulated_plane(4, 1);
  s.data.points << 0.01, 0.012, 0.9, -0.9, 0.01, 0.01, 0.9, -0.9, 0.0, 0.0, 0.9, -0.9;
  s.data.values << 1.0, 3.0, 5.0, 7.0;
  s.data.known_variance = Eigen::Vector4d(0.0, 0.02, 0.0, 0.0);  // beside a noise of 0.01: a quarter of the weight
  const GpData one = merged(s.spec, s.parameters, s.data, 0.1);
  ASSERT_EQ(one.size(), 3);
  EXPECT_NEAR(one.values[0], (0.75 * 1.0 + 0.25 * 3.0), 1e-12);
  EXPECT_NEAR(one.points(0, 0), 0.75 * 0.01 + 0.25 * 0.012, 1e-12);
  EXPECT_NEAR(one.known_variance[0], 1.0 / (1.0 / 0.01 + 1.0 / 0.03), 1e-12);
  EXPECT_NEAR(one.known_variance[2], 0.01, 1e-12);
  EXPECT_EQ(merged(s.spec, s.parameters, s.data, 0.0).size(), 4);
}

TEST(PlaceOrder, KeepsEveryObservationAndBringsNeighboursTogether) {
  Simulated s = simulated_plane(500, 6);
  s.data.known_variance = s.data.values.array().square();
  const GpData sorted = in_place_order(s.data);
  EXPECT_NEAR(sorted.values.sum(), s.data.values.sum(), 1e-9);
  double apart = 0.0;
  double apart_sorted = 0.0;
  for (Index i = 1; i < 500; ++i) {
    apart += (s.data.points.col(i) - s.data.points.col(i - 1)).norm();
    apart_sorted += (sorted.points.col(i) - sorted.points.col(i - 1)).norm();
    EXPECT_EQ(sorted.known_variance[i], sorted.values[i] * sorted.values[i]);
  }
  EXPECT_LT(apart_sorted, 0.5 * apart);
}

}  // namespace
}  // namespace drift::gp
