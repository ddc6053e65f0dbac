#include "process/process.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/random.h"
#include "drift/error.h"
#include "process/place_finder.h"
#include "process/process_testing.h"

namespace drift {
namespace {

constexpr double kDegree = std::numbers::pi / 180.0;

struct LonLat {
  double lon, lat;
};

struct OnSphere : Observed {
  std::vector<LonLat> at;
  std::vector<double> time;
};

void push(std::vector<float>& to, LonLat p, double t) {
  for (const double c : {std::cos(p.lat) * std::cos(p.lon), std::cos(p.lat) * std::sin(p.lon), std::sin(p.lat), t}) {
    to.push_back(static_cast<float>(c));
  }
}

// By default a region 20 degrees wide at 65 north, where meridians converge markedly.
OnSphere on_the_sphere(std::size_t count, double west = 20.0, double east = 40.0, double south = 60.0, double north = 70.0) {
  RandomStream stream({.seed = 8, .purpose = Purpose::simulation});
  OnSphere all;
  all.columns = 4;
  for (std::size_t i = 0; i < count; ++i) {
    const LonLat p = {(west + (east - west) * stream.uniform()) * kDegree,
                      (south + (north - south) * stream.uniform()) * kDegree};
    const double t = stream.normal();
    push(all.coordinates, p, t);
    all.add({}, std::sin(20.0 * p.lat) + std::cos(15.0 * p.lon) + 0.3 * t, static_cast<int>(i % 5), static_cast<int>(i % 5) % 3);
    all.at.push_back(p);
    all.time.push_back(t);
  }
  return all;
}

double matern(double nu, double r) {
  const double z = std::sqrt(2.0 * nu) * r;
  return nu == 0.5 ? std::exp(-z) : nu == 1.5 ? (1.0 + z) * std::exp(-z) : (1.0 + z + z * z / 3.0) * std::exp(-z);
}

// Ordinary kriging of all observations by the bordered system [K 1; 1' 0]. `local` [n, 3]: x, y and t from the target;
// `less_trend` [n]: values. The mean's covariances with the target are rounded at the places, as kriging.h has it.
struct Exact {
  double mean, variance;
};
Exact exact_kriging(const ProcessParameters& p, const Eigen::MatrixXd& local, const Eigen::VectorXd& less_trend,
                    const Observed& all) {
  const Eigen::Index n = local.rows();
  Eigen::MatrixXd q = local;
  for (Eigen::Index i = 0; i < n; ++i) {
    const double t = local(i, 2);
    q(i, 0) = (local(i, 0) - p.drift_x * p.length_x / p.time_length * t) / p.length_x;
    q(i, 1) = (local(i, 1) - p.drift_y * p.length_y / p.time_length * t) / p.length_y;
    q(i, 2) = t / p.time_length;
  }
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(n + 1, n + 1);
  Eigen::VectorXd right = Eigen::VectorXd::Ones(n + 1), rounded = right;
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto a = static_cast<std::size_t>(i);
    for (Eigen::Index j = 0; j < n; ++j) {
      const auto b = static_cast<std::size_t>(j);
      double c = p.sill * matern(p.nu, (q.row(i) - q.row(j)).norm());
      if (i == j) c += p.nugget;
      if (all.track[a] == all.track[b]) {
        c += p.track_variance * std::exp(-std::abs(local(i, 2) - local(j, 2)) / p.track_time);
      }
      if (all.platform[a] == all.platform[b]) c += p.platform_variance;
      system(i, j) = c;
    }
    system(i, n) = system(n, i) = 1.0;
    right[i] = p.sill * matern(p.nu, q.row(i).norm());
    rounded[i] = p.sill * matern(p.nu, std::hypot(q.row(i).norm(), p.nu == 0.5 ? Kriging::kRounded : 0.0));
  }
  const Eigen::FullPivLU<Eigen::MatrixXd> factored = system.fullPivLu();
  return {factored.solve(rounded).head(n).dot(less_trend), p.sill - factored.solve(right).dot(right)};
}

std::vector<float> scattered_points(std::size_t count, std::uint64_t seed = 9) {
  RandomStream stream({.seed = seed, .purpose = Purpose::simulation});
  std::vector<float> points;
  for (std::size_t i = 0; i < 3 * count; ++i) points.push_back(static_cast<float>(stream.normal()));
  return points;
}

// The factored matrix carries 1e-9 of the sill on its diagonal.
constexpr double kOnThePlane = 1e-6;
// Positions in float32 are 6e-8 off, a millionth of a lengthscale.
constexpr double kOnTheSphere = 1e-5;

Exact exact_on_the_plane(const ProcessParameters& p, const Observed& all, const float* point) {
  const auto n = static_cast<Eigen::Index>(all.size());
  Eigen::MatrixXd local(n, 3);
  Eigen::VectorXd less_trend(n);
  const auto trend = [&](const float* row) { return p.trend[0] + p.trend[1] * row[0] + p.trend[2] * row[1]; };
  for (Eigen::Index i = 0; i < n; ++i) {
    const float* row = all.coordinates.data() + 3 * i;
    for (Eigen::Index d = 0; d < 3; ++d) local(i, d) = static_cast<double>(row[d]) - static_cast<double>(point[d]);
    less_trend[i] = static_cast<double>(all.values[static_cast<std::size_t>(i)]) - trend(row);
  }
  Exact result = exact_kriging(p, local, less_trend, all);
  result.mean += trend(point);
  return result;
}

TEST(Process, WithAllObservationsIsExactOrdinaryKrigingOnThePlane) {
  const Observed all = on_the_plane(60);
  const std::vector<float> points = scattered_points(15);
  for (const double nu : {0.5, 1.5, 2.5}) {
    ProcessParameters p = some_parameters(nu, 1.0);
    p.trend = {0.4, -0.7, 0.3};
    const Forecast found = predicted(process_of(Space::plane, p, all.data(), all.size()), points);
    for (std::size_t i = 0; i < 15; ++i) {
      const Exact wanted = exact_on_the_plane(p, all, points.data() + 3 * i);
      EXPECT_NEAR(found.mean[i], wanted.mean, kOnThePlane) << nu << " point " << i;
      EXPECT_NEAR(found.variance[i], wanted.variance, kOnThePlane) << nu << " point " << i;
    }
  }
}

TEST(Process, ExactnessCheckRejectsADriftOfTheWrongSignAndFewerNeighbours) {
  const Observed all = on_the_plane(60);
  const std::vector<float> points = scattered_points(15);
  const ProcessParameters p = some_parameters(1.5, 1.0);
  ProcessParameters flipped = p;
  flipped.drift_x = -p.drift_x;
  const Forecast backwards = predicted(process_of(Space::plane, flipped, all.data(), all.size()), points);
  const Forecast few = predicted(process_of(Space::plane, p, all.data(), 8), points);
  double from_flipped = 0.0, from_few = 0.0;
  for (std::size_t i = 0; i < 15; ++i) {
    const Exact wanted = exact_on_the_plane(p, all, points.data() + 3 * i);
    from_flipped = std::max(from_flipped, std::abs(backwards.mean[i] - wanted.mean));
    from_few = std::max(from_few, std::abs(few.mean[i] - wanted.mean));
  }
  EXPECT_GT(from_flipped, 1e-2);
  EXPECT_GT(from_few, 1e-3);
}

// Azimuthal equidistant by spherical trigonometry: distance along the great circle, towards the azimuth.
Eigen::Vector2d from_target(LonLat target, LonLat p) {
  const double dlon = p.lon - target.lon;
  const double east = std::cos(p.lat) * std::sin(dlon);
  const double north = std::cos(target.lat) * std::sin(p.lat) - std::sin(target.lat) * std::cos(p.lat) * std::cos(dlon);
  const double haversine = std::pow(std::sin(0.5 * (p.lat - target.lat)), 2) +
                           std::cos(p.lat) * std::cos(target.lat) * std::pow(std::sin(0.5 * dlon), 2);
  const double distance = 2.0 * std::asin(std::sqrt(haversine)), azimuth = std::atan2(east, north);
  return {distance * std::sin(azimuth), distance * std::cos(azimuth)};
}

Exact exact_on_the_sphere(const ProcessParameters& p, const OnSphere& all, LonLat target, double time) {
  const auto n = static_cast<Eigen::Index>(all.size());
  Eigen::MatrixXd local(n, 3);
  Eigen::VectorXd less_trend(n);
  for (Eigen::Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    local.row(i).head(2) = from_target(target, all.at[row]);
    local(i, 2) = all.time[row] - time;
    less_trend[i] = static_cast<double>(all.values[row]) - p.trend[0];
  }
  Exact result = exact_kriging(p, local, less_trend, all);
  result.mean += p.trend[0];
  return result;
}

TEST(Process, WithAllObservationsIsExactOrdinaryKrigingInTheTangentPlaneOfTheSphere) {
  const OnSphere all = on_the_sphere(60);
  const std::vector<LonLat> targets = {
      {25.0 * kDegree, 62.0 * kDegree}, {30.0 * kDegree, 65.0 * kDegree}, {38.0 * kDegree, 69.5 * kDegree}};
  const std::vector<double> times = {0.2, -0.5, 1.0};
  std::vector<float> points;
  for (std::size_t i = 0; i < targets.size(); ++i) push(points, targets[i], times[i]);
  for (const double nu : {0.5, 1.5}) {
    const ProcessParameters p = some_parameters(nu, 0.08);
    const Forecast found = predicted(process_of(Space::sphere, p, all.data(), all.size()), points);
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const ProcessParameters here = at_target(p, Space::sphere, position_of(points.data() + 4 * i, 4));
      EXPECT_NEAR(here.length_x, p.length_x, 0.02 * p.length_x);  // the pole is far away
      const Exact wanted = exact_on_the_sphere(here, all, targets[i], times[i]);
      EXPECT_NEAR(found.mean[i], wanted.mean, kOnTheSphere) << nu << " target " << i;
      EXPECT_NEAR(found.variance[i], wanted.variance, kOnTheSphere) << nu << " target " << i;
    }
  }
}

TEST(Process, AtThePoleIsTheSameAlongEveryMeridian) {
  const OnSphere all = on_the_sphere(80, 0.0, 360.0, 75.0, 90.0);
  const ProcessParameters p = some_parameters(1.5, 0.15);
  std::vector<LonLat> targets;
  std::vector<float> points;
  for (const double lon : {0.0, 90.0, 200.0}) {
    targets.push_back({lon * kDegree, 89.999 * kDegree});  // a hundred metres from it
    push(points, targets.back(), 0.3);
  }
  const Forecast found = predicted(process_of(Space::sphere, p, all.data(), all.size()), points);
  const auto range = [](const std::vector<double>& numbers) {
    const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
    return *high - *low;
  };
  EXPECT_LT(range(found.mean), 1e-3);
  EXPECT_LT(range(found.variance), 1e-3);
  // Stretched and moving along east and north, which turn about the pole, it would not be.
  std::vector<double> turning;
  for (const LonLat target : targets) turning.push_back(exact_on_the_sphere(p, all, target, 0.3).mean);
  EXPECT_GT(range(turning), 1e-2);
}

// The observations of every fold but one.
Observed without_fold(const Observed& all, int fold) {
  Observed rest;
  rest.columns = all.columns;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all.fold[i] == fold) continue;
    rest.coordinates.insert(rest.coordinates.end(), all.coordinates.data() + i * all.columns,
                            all.coordinates.data() + (i + 1) * all.columns);
    rest.values.push_back(all.values[i]);
    rest.track.push_back(all.track[i]);
    rest.platform.push_back(all.platform[i]);
    rest.fold.push_back(all.fold[i]);
  }
  return rest;
}

void expect_left_out_is_absent(const ProcessParameters& p, std::size_t neighbours, const CellSides& sides) {
  const Observed all = on_the_plane(400, 12);
  const std::vector<float> points = scattered_points(40);
  const Process whole = process_of(Space::plane, p, all.data(), neighbours, sides);
  const Forecast with_all = predicted(whole, points);
  for (const int fold : {0, 1, 2}) {
    const Observed rest = without_fold(all, fold);
    const Forecast wanted = predicted(process_of(Space::plane, p, rest.data(), neighbours, sides), points);
    const Forecast found = predicted(whole, points, 1, std::vector<int>(40, fold));
    EXPECT_EQ(found.mean, wanted.mean) << fold;
    EXPECT_EQ(found.variance, wanted.variance) << fold;
    EXPECT_EQ(found.gradient, wanted.gradient) << fold;
    EXPECT_NE(found.mean, with_all.mean) << fold;  // the fold does count where it is not left out
  }
  EXPECT_EQ(predicted(whole, points, 1, std::vector<int>(40, kNoFold)).mean, with_all.mean);
}

TEST(Process, LeavingOutAFoldIsHavingNoneOfItsPlaces) {
  expect_left_out_is_absent(some_parameters(1.5, 0.8), 400, {});
  expect_left_out_is_absent(some_parameters(0.5, 0.8), 400, {.space = 0.5, .time = 0.5});
}

// In a frame at rest the tree's distances are the neighbours' own, so that the nearest few are the same too.
TEST(Process, LeavingOutAFoldTakesTheNearestOfTheOthers) {
  ProcessParameters p = some_parameters(1.5, 0.8);
  p.drift_x = p.drift_y = 0.0;
  expect_left_out_is_absent(p, 20, {});
  expect_left_out_is_absent(p, 20, {.space = 0.5, .time = 0.5});
}

TEST(Process, LeavesOutADifferentFoldAtEachPoint) {
  const Observed all = on_the_plane(200);
  const std::vector<float> points = scattered_points(30);
  const Process process = process_of(Space::plane, some_parameters(1.5, 0.8), all.data(), 30);
  std::vector<int> folds(30);
  for (std::size_t i = 0; i < 30; ++i) folds[i] = static_cast<int>(i % 4) - 1;
  const Forecast mixed = predicted(process, points, 1, folds);
  for (const int fold : {kNoFold, 0, 1, 2}) {
    const Forecast alone = predicted(process, points, 1, std::vector<int>(30, fold));
    for (std::size_t i = 0; i < 30; ++i) {
      if (folds[i] != fold) continue;
      EXPECT_EQ(mixed.mean[i], alone.mean[i]) << i;
    }
  }
}

TEST(Process, PredictsTheSameBitsWithAnyNumberOfThreads) {
  const Observed all = on_the_plane(500, 12);
  const std::vector<float> points = scattered_points(300);  // several blocks, the last one short
  const Process process = process_of(Space::plane, some_parameters(1.5, 0.5), all.data(), 40, {.space = 0.3, .time = 0.3});
  const Forecast one = predicted(process, points, 1), three = predicted(process, points, 3);
  EXPECT_EQ(one.mean, three.mean);
  EXPECT_EQ(one.variance, three.variance);
  EXPECT_EQ(one.gradient, three.gradient);
}

// Central differences, Richardson's two steps: an error of h^4. Points and steps are binary fractions, which float32 holds.
double difference(const Process& process, std::vector<float> point, std::size_t d) {
  const auto mean_at = [&](float step) {
    std::vector<float> moved = point;
    moved[d] += step;
    return predicted(process, moved).mean[0];
  };
  const auto central = [&](float h) { return (mean_at(h) - mean_at(-h)) / (2.0 * static_cast<double>(h)); };
  const float h = 1.0F / 256.0F;
  return (4.0 * central(h / 2) - central(h)) / 3.0;
}

TEST(Process, GradientAgreesWithFiniteDifferencesOfTheMean) {
  const Observed all = on_the_plane(60);
  ProcessParameters p = some_parameters(1.5, 1.0);
  p.trend = {0.4, -0.7, 0.3};
  const Process process = process_of(Space::plane, p, all.data(), all.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < 12; ++i) {
    std::vector<float> point = scattered_points(12);
    point = {point[3 * i], point[3 * i + 1], point[3 * i + 2]};
    for (float& c : point) c = std::round(c * 64.0F) / 64.0F;
    const Forecast found = predicted(process, point);
    for (std::size_t d = 0; d < 3; ++d) {
      EXPECT_NEAR(found.gradient[d], difference(process, point, d), 5e-4) << i << " coordinate " << d;
      largest = std::max(largest, std::abs(found.gradient[d]));
    }
  }
  EXPECT_GT(largest, 0.5) << "gradients so small that zeros would do";
}

TEST(Process, VarianceGrowsWithDistanceFromTheObservationsInSpaceAndInTime) {
  RandomStream stream({.seed = 12, .purpose = Purpose::simulation});
  Observed all;
  for (int i = 0; i < 80; ++i) {
    all.add({0.2 * stream.normal(), 0.2 * stream.normal(), 0.2 * stream.normal()}, stream.normal(), i % 8);
  }
  for (const double drift : {0.0, 0.4}) {
    ProcessParameters p = some_parameters(1.5, 1.0);
    p.drift_x = drift;
    const Process process = process_of(Space::plane, p, all.data(), all.size());
    for (const std::size_t d : {0U, 1U, 2U}) {
      for (const double sign : {1.0, -1.0}) {
        std::vector<float> points;
        for (const double away : {0.0, 0.8, 1.2, 1.8, 2.7, 4.0}) {
          for (const std::size_t c : {0U, 1U, 2U}) points.push_back(c == d ? static_cast<float>(sign * away) : 0.0F);
        }
        const std::vector<double> variance = predicted(process, points).variance;
        for (std::size_t i = 1; i < variance.size(); ++i) {
          EXPECT_GT(variance[i], variance[i - 1]) << "coordinate " << d << ", " << sign << " step " << i;
        }
        EXPECT_LT(variance.front(), 0.1 * p.sill);
        EXPECT_GT(variance.back(), p.sill);  // the unknown mean's variance comes on top
      }
    }
  }
}
TEST(Process, RefusesToBeMadeOfNothing) {
  EXPECT_THROW(process_of(Space::plane, some_parameters(0.5, 1.0), PlaceData{.coordinates = {nullptr, 0, 3}, .values = {}}, 10),
               UsageError);
}

TEST(Process, RefusesPointsWithAnotherNumberOfCoordinates) {
  const Observed all = on_the_plane(30);
  const Process process = process_of(Space::plane, some_parameters(0.5, 1.0), all.data(), 10);
  const std::vector<float> points(12, 0.1F);
  std::vector<double> mean(6);
  EXPECT_THROW(process.predict({points.data(), 6, 2}, {.mean = mean}, 1), UsageError);
  EXPECT_THROW(process.predict({points.data(), 3, 4}, {.mean = std::span(mean).first(3)}, 1), UsageError);
  EXPECT_NO_THROW(process.predict({points.data(), 4, 3}, {.mean = std::span(mean).first(4)}, 1));
}

TEST(Process, RefusesAForecastWithoutAnyFoldLeft) {
  Observed all = on_the_plane(30);
  std::fill(all.fold.begin(), all.fold.end(), std::uint8_t{1});
  const Process process = process_of(Space::plane, some_parameters(0.5, 1.0), all.data(), 10);
  const std::vector<float> point = {0.0F, 0.0F, 0.0F};
  std::vector<double> mean(1);
  const std::vector<int> own = {1}, other = {0};
  EXPECT_THROW(process.predict({point.data(), 1, 3}, {.mean = mean}, 2, own), Error);
  EXPECT_NO_THROW(process.predict({point.data(), 1, 3}, {.mean = mean}, 2, other));
}

}  // namespace
}  // namespace drift
