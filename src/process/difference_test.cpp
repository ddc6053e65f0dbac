// Differences of the field over a distance, and their standard deviations, against draws of the very Gaussian process.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <vector>

#include "core/random.h"
#include "process/process.h"

namespace drift {
namespace {

constexpr double kLength = 0.5, kTime = 1.0, kNoiseVariance = 0.02;

double matern(double nu, double r) {
  const double z = std::sqrt(2.0 * nu) * r;
  return nu == 0.5 ? std::exp(-z) : (1.0 + z) * std::exp(-z);
}

// One draw of a field at observations along tracks over [-1, 1]^2 and at pairs of points east and west, and north and south, of
// some targets.
struct Drawn {
  std::vector<float> rows, values, targets, around;
  std::vector<double> truth;  // [4 targets] at `around`
  std::vector<std::int32_t> track;
};
Drawn draw(double nu, double distance, std::uint64_t seed) {
  RandomStream stream({.seed = seed, .purpose = Purpose::simulation});
  Drawn out;
  const auto add = [](std::vector<float>& to, double x, double y, double t) {
    for (const double c : {x, y, t}) to.push_back(static_cast<float>(c));
  };
  for (std::int32_t track = 0; track < 16; ++track) {
    const double x0 = 2.0 * stream.uniform() - 1.0, t = 0.5 * stream.uniform();
    for (int i = 0; i < 30; ++i) {
      const double y = 2.0 * i / 29.0 - 1.0;
      add(out.rows, x0 + (track % 2 == 0 ? 0.3 : -0.3) * y, y, t);
      out.track.push_back(track);
    }
  }
  const double half = 0.5 * distance;
  for (int i = 0; i < 60; ++i) {
    const double x = 1.6 * stream.uniform() - 0.8, y = 1.6 * stream.uniform() - 0.8, t = 0.5 * stream.uniform();
    add(out.targets, x, y, t);
    add(out.around, x - half, y, t), add(out.around, x + half, y, t);
    add(out.around, x, y - half, t), add(out.around, x, y + half, t);
  }
  std::vector<float> all = out.rows;
  all.insert(all.end(), out.around.begin(), out.around.end());
  const auto n = static_cast<Eigen::Index>(all.size() / 3), observed = static_cast<Eigen::Index>(out.rows.size() / 3);
  Eigen::MatrixXd covariance(n, n);
  const auto apart = [&](Eigen::Index i, Eigen::Index j, Eigen::Index d) {
    return static_cast<double>(all[static_cast<std::size_t>(3 * i + d)]) -
           static_cast<double>(all[static_cast<std::size_t>(3 * j + d)]);
  };
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      const double r = std::hypot(apart(i, j, 0) / kLength, apart(i, j, 1) / kLength, apart(i, j, 2) / kTime);
      covariance(i, j) = covariance(j, i) = matern(nu, r) + (i == j ? 1e-9 : 0.0);
    }
  }
  Eigen::VectorXd white(n);
  for (double& z : white) z = stream.normal();
  const Eigen::VectorXd field = Eigen::LLT<Eigen::MatrixXd>(covariance).matrixL() * white;
  for (Eigen::Index i = 0; i < observed; ++i)
    out.values.push_back(static_cast<float>(field[i] + std::sqrt(kNoiseVariance) * stream.normal()));
  for (Eigen::Index i = observed; i < n; ++i) out.truth.push_back(field[i]);
  return out;
}

// Over many targets of several draws: the share of the field's differences within 1.645 standard deviations of the forecast, and
// how much of their variance the forecast explains.
struct Outcome {
  double coverage, explained;
};
Outcome outcome(double nu, double distance) {
  double inside = 0.0, all = 0.0, error = 0.0, square = 0.0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Drawn drawn = draw(nu, distance, seed);
    const std::size_t observed = drawn.values.size(), n = drawn.targets.size() / 3;
    const std::vector<float> no_error(observed);
    const std::vector<std::uint8_t> platform(observed);
    const PlaceData data = {.coordinates = {drawn.rows.data(), observed, 3},
                            .values = drawn.values,
                            .error_variance = no_error,
                            .track = drawn.track,
                            .platform = platform};
    const ProcessParameters parameters = {
        .nu = nu, .length_x = kLength, .length_y = kLength, .time_length = kTime, .sill = 1.0, .nugget = kNoiseVariance};
    const Process process(Space::plane, true, parameters, gather_places(Space::plane, true, data, {}), 96);
    std::vector<double> mean(n), around(4 * n), variance(2 * n);
    process.predict(
        {drawn.targets.data(), n, 3},
        {.mean = mean, .around = {drawn.around.data(), 4 * n, 3}, .around_mean = around, .difference_variance = variance}, 1);
    for (std::size_t pair = 0; pair < 2 * n; ++pair) {
      const double truth = drawn.truth[2 * pair + 1] - drawn.truth[2 * pair];
      const double miss = around[2 * pair + 1] - around[2 * pair] - truth;
      inside += std::abs(miss) < 1.645 * std::sqrt(variance[pair]) ? 1.0 : 0.0;
      error += miss * miss, square += truth * truth, all += 1.0;
    }
  }
  return {inside / all, 1.0 - error / square};
}

// 960 differences of eight independent draws: the standard error of a coverage of 90 % is some 0.015.
TEST(ProcessDifferences, LieWithinTheirNinetyPercentIntervalsNineTimesOfTen) {
  for (const double nu : {0.5, 1.5}) {
    for (const double distance : {0.1 * kLength, 0.5 * kLength}) {
      const Outcome found = outcome(nu, distance);
      EXPECT_NEAR(found.coverage, 0.9, 0.04) << nu << " over " << distance;
      EXPECT_GT(found.explained, nu == 0.5 ? 0.02 : 0.3) << nu << " over " << distance;
    }
  }
}

}  // namespace
}  // namespace drift
