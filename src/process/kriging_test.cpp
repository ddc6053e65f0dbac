#include "process/kriging.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "core/random.h"

namespace drift {
namespace {

Neighbourhood some_places(std::size_t n) {
  RandomStream stream({.seed = 5, .purpose = Purpose::simulation});
  Neighbourhood near;
  for (std::size_t i = 0; i < n; ++i) {
    near.x.push_back(0.3 * stream.normal());
    near.y.push_back(0.3 * stream.normal());
    near.t.push_back(0.5 * stream.normal());
    near.value.push_back(1.5 + stream.normal());
    near.error_variance.push_back(0.01 * stream.uniform());
    near.count.push_back(1.0 + std::floor(3.0 * stream.uniform()));
    near.track.push_back(static_cast<std::int32_t>(i % 4));
    near.platform.push_back(static_cast<std::int32_t>(i % 2));
  }
  return near;
}

ProcessParameters some_parameters(double nu) {
  return {.nu = nu,
          .length_x = 0.4,
          .length_y = 0.25,
          .shear = 0.4,
          .time_length = 0.8,
          .drift_x = 0.5,
          .drift_y = -0.2,
          .sill = 1.3,
          .second_share = 0.3,
          .second_length = 0.4,
          .nugget = 0.2,
          .track_variance = 0.1,
          .track_time = 0.3,
          .platform_variance = 0.05};
}

double correlation(double nu, double r) {
  const double z = std::sqrt(2.0 * nu) * r;
  return nu == 0.5 ? std::exp(-z) : nu == 1.5 ? (1.0 + z) * std::exp(-z) : (1.0 + z + z * z / 3.0) * std::exp(-z);
}

ProcessParameters with_lasting_structure(double nu) {
  ProcessParameters p = some_parameters(nu);
  p.second_length = 2.5, p.second_time = 6.0;
  return p;
}

Eigen::Vector3d in_frame(const ProcessParameters& p, double x, double y, double t) {
  return Eigen::Vector3d((x - p.drift_x * p.length_x / p.time_length * t) / p.length_x + p.shear * y / p.length_y,
                         (y - p.drift_y * p.length_y / p.time_length * t) / p.length_y, t / p.time_length);
}

// Of two points (x, y, t): a fine structure travels with the first, a lasting one is at rest.
double covariance(const ProcessParameters& p, const Eigen::Vector3d& a, const Eigen::Vector3d& b) {
  const Eigen::Vector3d d = a - b;
  const double r = in_frame(p, d[0], d[1], d[2]).norm();
  const Eigen::Vector3d rest(d[0] / p.length_x + p.shear * d[1] / p.length_y, d[1] / p.length_y,
                             p.second_length * d[2] / (p.time_length * p.second_time));
  const double second =
      p.second_time > 0.0 ? correlation(p.nu, rest.norm() / p.second_length) : correlation(1.5, r / p.second_length);
  return p.sill * ((1.0 - p.second_share) * correlation(p.nu, r) + p.second_share * second);
}

// The covariance written out, and universal kriging by the bordered system.
struct Exact {
  double mean, variance;
};
// Of the field at the origin, or of its difference between the points of a pair.
Exact exact(const ProcessParameters& p, const Neighbourhood& near, std::int32_t target_platform,
            const std::optional<PlacePair>& pair = {}) {
  const auto n = static_cast<Eigen::Index>(near.size());
  const auto place = [&](std::size_t i) { return Eigen::Vector3d(near.x[i], near.y[i], near.t[i]); };
  const auto end = [&](const std::array<double, 3>& at) { return Eigen::Vector3d(at[0], at[1], at[2]); };
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(n + 1, n + 1);
  Eigen::VectorXd right(n + 1), y(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto a = static_cast<std::size_t>(i);
    const Eigen::Vector3d at = place(a);
    for (Eigen::Index j = 0; j < n; ++j) {
      const auto b = static_cast<std::size_t>(j);
      double c = covariance(p, at, place(b));
      if (near.track[a] == near.track[b]) c += p.track_variance * std::exp(-std::abs(near.t[a] - near.t[b]) / p.track_time);
      if (near.platform[a] == near.platform[b]) c += p.platform_variance;
      if (i == j) c += p.nugget / near.count[a] + near.error_variance[a];
      system(i, j) = c;
    }
    system(i, n) = system(n, i) = 1.0;
    right[i] =
        pair ? covariance(p, at, end(pair->b)) - covariance(p, at, end(pair->a))
             : covariance(p, at, Eigen::Vector3d::Zero()) + (near.platform[a] == target_platform ? p.platform_variance : 0.0);
    y[i] = near.value[a];
  }
  right[n] = pair ? 0.0 : 1.0;
  const Eigen::VectorXd solution = system.fullPivLu().solve(right);
  const double own = pair ? 2.0 * (p.sill - covariance(p, end(pair->b), end(pair->a)))
                          : p.sill + (target_platform == Kriging::kField ? 0.0 : p.platform_variance);
  return {solution.head(n).dot(y), own - solution.dot(right)};
}

constexpr double kSolved = 1e-6;  // the factored matrix carries 1e-9 of the sill on its diagonal

TEST(Kriging, AgreesWithTheBorderedSystemWithUnknownMeanBiasesAndTrackErrors) {
  const Neighbourhood near = some_places(30);
  for (const double nu : {0.5, 1.5, 2.5}) {
    for (const std::int32_t platform : {Kriging::kField, 0, 1}) {
      for (const ProcessParameters& p : {some_parameters(nu), with_lasting_structure(nu)}) {
        Kriging kriging;
        kriging.solve(p, near, platform);
        const Exact wanted = exact(p, near, platform);
        EXPECT_NEAR(kriging.mean(), wanted.mean, kSolved) << nu << " " << platform;
        EXPECT_NEAR(kriging.variance(), wanted.variance, kSolved) << nu << " " << platform;
      }
    }
  }
}

TEST(Kriging, OfDifferencesAgreesWithTheBorderedSystem) {
  const Neighbourhood near = some_places(30);
  const std::vector<PlacePair> pairs = {{{-0.05, 0.0, 0.0}, {0.05, 0.0, 0.0}}, {{0.02, -0.1, 0.3}, {0.0, 0.1, -0.2}}};
  for (const ProcessParameters& p : {some_parameters(0.5), some_parameters(1.5), some_parameters(2.5),
                                     with_lasting_structure(0.5), with_lasting_structure(2.5)}) {
    const double nu = p.nu;
    Kriging kriging;
    kriging.solve(p, near, Kriging::kField, pairs);
    const Exact field = exact(p, near, Kriging::kField);
    EXPECT_NEAR(kriging.mean(), field.mean, kSolved) << "the pairs changed the point's own forecast";
    EXPECT_NEAR(kriging.variance(), field.variance, kSolved);
    ASSERT_EQ(kriging.pairs().size(), pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const Exact wanted = exact(p, near, Kriging::kField, pairs[i]);
      const PairForecast& found = kriging.pairs()[i];
      EXPECT_NEAR(found.variance, wanted.variance, kSolved) << nu << " pair " << i;
      // Means with nu = 1/2 are rounded near places.
      EXPECT_NEAR(found.mean_b - found.mean_a, wanted.mean, nu == 0.5 ? 0.05 : kSolved) << nu << " pair " << i;
    }
    const Exact turned = exact(p, near, Kriging::kField, PlacePair{pairs[0].a, pairs[1].b});
    EXPECT_GT(std::abs(turned.variance - kriging.pairs()[0].variance), 1e-3) << "another pair must not pass";
  }
}

// At nu = 1/2 the variance of a difference is in proportion to the distance, so that of a slope has no bound; at 5/2 it has.
TEST(Kriging, OfSlopesOverShrinkingDistancesIsBoundedForSmoothFieldsAlone) {
  const Neighbourhood near = some_places(30);
  const auto growth = [&](double nu) {
    ProcessParameters p = some_parameters(nu);
    p.second_share = 0.0;
    const auto sd = [&](double distance) {
      const std::vector<PlacePair> pair = {{{-0.5 * distance, 0.0, 0.0}, {0.5 * distance, 0.0, 0.0}}};
      Kriging kriging;
      kriging.solve(p, near, Kriging::kField, pair);
      return std::sqrt(kriging.pairs()[0].variance) / distance;
    };
    return sd(1e-3) / sd(1e-2);
  };
  EXPECT_NEAR(growth(0.5), std::sqrt(10.0), 0.1);
  EXPECT_NEAR(growth(2.5), 1.0, 0.02);
}

// Numbers of the objective a mean + b variance, by central differences.
ProcessNumbers differences(const ProcessParameters& p, const Neighbourhood& near, std::int32_t platform, double a, double b) {
  ProcessNumbers out = {};
  Kriging kriging;
  const auto at = [&](const ProcessNumbers& numbers) {
    const ProcessParameters moved = unpacked(numbers, p);
    kriging.solve(moved, near, platform);
    return a * kriging.mean() + b * kriging.variance();
  };
  for (std::size_t i = 0; i < out.size(); ++i) {
    ProcessNumbers up = packed(p), down = up;
    up.at(i) += 1e-5, down.at(i) -= 1e-5;
    out.at(i) = (at(up) - at(down)) / 2e-5;
  }
  return out;
}

TEST(Kriging, GradientsAgreeWithFiniteDifferences) {
  const Neighbourhood near = some_places(25);
  for (const double nu : {0.5, 1.5, 2.5}) {
    for (const std::int32_t platform : {Kriging::kField, 1}) {
      for (const ProcessParameters& p : {some_parameters(nu), with_lasting_structure(nu)}) {
        Kriging kriging;
        kriging.solve(p, near, platform);
        ProcessNumbers gradient = {};
        kriging.add_gradient(0.7, -1.1, gradient);
        const ProcessNumbers wanted = differences(p, near, platform, 0.7, -1.1);
        for (std::size_t i = 0; i < gradient.size(); ++i)
          EXPECT_NEAR(gradient.at(i), wanted.at(i), 2e-6) << nu << " lasting " << (p.second_time > 0.0) << " number " << i;
      }
    }
  }
}

TEST(Kriging, GradientCheckRejectsAFlippedSign) {
  const Neighbourhood near = some_places(25);
  const ProcessParameters p = some_parameters(1.5);
  Kriging kriging;
  kriging.solve(p, near, Kriging::kField);
  ProcessNumbers gradient = {};
  kriging.add_gradient(0.7, -1.1, gradient);
  const ProcessNumbers wanted = differences(p, near, Kriging::kField, 0.7, -1.1);
  EXPECT_GT(std::abs(-gradient[kDriftX] - wanted[kDriftX]), 1e-3);
}

}  // namespace
}  // namespace drift
