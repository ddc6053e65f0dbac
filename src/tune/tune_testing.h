#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/random.h"
#include "drift/error.h"
#include "drift/tune.h"

namespace drift {

// Functions that optimisers are compared on.

// Branin (Dixon & Szego 1978): three equal minima of 0.397887.
inline constexpr double kBraninMinimum = 0.39788735772973816;
inline SearchSpace branin_space() {
  return {{.name = "x", .kind = SettingKind::real, .low = -5.0, .high = 10.0},
          {.name = "y", .kind = SettingKind::real, .low = 0.0, .high = 15.0}};
}
inline double branin(const Point& p) {
  constexpr double kPi = std::numbers::pi;
  const double a = p[1] - 5.1 / (4.0 * kPi * kPi) * p[0] * p[0] + 5.0 / kPi * p[0] - 6.0;
  return a * a + 10.0 * (1.0 - 1.0 / (8.0 * kPi)) * std::cos(p[0]) + 10.0;
}

// Hartmann in six coordinates: six local minima, the lowest -3.32237.
inline constexpr double kHartmannMinimum = -3.322368011415511;
inline SearchSpace hartmann_space() {
  SearchSpace space;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) space.push_back({.name = name, .kind = SettingKind::real});
  return space;
}
inline double hartmann(const Point& p) {
  constexpr std::array<double, 4> kWeight = {1.0, 1.2, 3.0, 3.2};
  constexpr double kA[4][6] = {
      {10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8}, {17, 8, 0.05, 10, 0.1, 14}};
  constexpr double kP[4][6] = {{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
                               {0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991},
                               {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
                               {0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}};
  double sum = 0.0;
  for (std::size_t i = 0; i < 4; ++i) {
    double distance = 0.0;
    for (std::size_t j = 0; j < 6; ++j) distance += kA[i][j] * (p[j] - kP[i][j]) * (p[j] - kP[i][j]);
    sum += kWeight[i] * std::exp(-distance);
  }
  return -sum;
}

inline Objective plain(double (*f)(const Point&)) {
  return [f](const Point& point, std::uint64_t) { return TrialOutcome{.value = f(point)}; };
}

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

inline double best_value(const Study& study) { return *study.trials.at(best_trial(study).value()).value; }

// The best of `count` places drawn uniformly.
inline double random_search(const SearchSpace& space, double (*f)(const Point&), int count, std::uint64_t seed) {
  RandomStream random({.seed = seed, .purpose = Purpose::simulation});
  double best = INFINITY;
  for (int i = 0; i < count; ++i) {
    Point point;
    for (const Setting& setting : space) point.push_back(setting.low + (setting.high - setting.low) * random.uniform());
    best = std::min(best, f(point));
  }
  return best;
}

inline SearchOptions options_for(std::size_t trials) {
  SearchOptions options;
  options.trials = trials;
  return options;
}

// Everything that does not depend on the clock.
inline void expect_same_trials(const Study& a, const Study& b) {
  ASSERT_EQ(a.trials.size(), b.trials.size());
  for (std::size_t i = 0; i < a.trials.size(); ++i) {
    EXPECT_EQ(a.trials[i].number, b.trials[i].number);
    EXPECT_EQ(a.trials[i].point, b.trials[i].point) << "trial " << i;
    EXPECT_EQ(a.trials[i].value, b.trials[i].value);
    EXPECT_EQ(a.trials[i].state, b.trials[i].state);
    EXPECT_EQ(a.trials[i].seed, b.trials[i].seed);
    EXPECT_EQ(a.trials[i].message, b.trials[i].message);
  }
}

// Branin that fails in a corner.
inline TrialOutcome fickle_branin(const Point& point, std::uint64_t) {
  if (point[0] < -3.0 && point[1] < 6.0) throw Error("diverged");
  return {.value = branin(point)};
}

}  // namespace drift
