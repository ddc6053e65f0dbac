#include "fitting/inverse_distance.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace drift {
namespace {

// Rows of x, y and time, with their values and folds.
struct Rows {
  std::vector<float> coordinates;
  std::vector<double> values;
  std::vector<std::uint8_t> fold;

  void add(double x, double y, double time, double value, int of = 0) {
    for (const double number : {x, y, time}) coordinates.push_back(static_cast<float>(number));
    values.push_back(value);
    fold.push_back(static_cast<std::uint8_t>(of));
  }
  MatrixView<const float> view() const { return {coordinates.data(), values.size(), 3}; }
};

TEST(InverseDistance, IsShepardsMeanOfTheNearest) {
  Rows data, targets;
  data.add(0.0, 0.0, 0.0, 1.0);
  data.add(3.0, 0.0, 0.0, 5.0);
  data.add(0.0, 6.0, 0.0, 7.0);
  targets.add(1.0, 0.0, 0.0, 0.0);
  const DistanceForecast found = forecast_by_distance({data.view(), false, data.values}, {targets.view(), targets.values}, 1);
  const double a = 1.0, b = 1.0 / 4.0, c = 1.0 / 37.0;
  EXPECT_NEAR(found.mean[0], (a * 1.0 + b * 5.0 + c * 7.0) / (a + b + c), 1e-6);
  EXPECT_NEAR(found.rmse, found.mean[0], 1e-12);
}

TEST(InverseDistance, TakesNothingOfTheTargetsFold) {
  Rows data, targets;
  for (int i = 0; i < 200; ++i) data.add(0.01 * i, 0.0, 0.0, i < 150 ? 1.0 : 2.0, i < 150 ? 0 : 1);
  targets.add(0.5, 0.0, 0.0, 1.0, 0);
  targets.add(0.5, 0.0, 0.0, 1.0, 2);
  const DistanceForecast found =
      forecast_by_distance({data.view(), true, data.values, data.fold}, {targets.view(), targets.values, targets.fold}, 2);
  EXPECT_NEAR(found.mean[0], 2.0, 1e-9);
  EXPECT_NEAR(found.mean[1], 1.0, 1e-9);
  EXPECT_GT(found.nearest[0], 0.5);
  EXPECT_NEAR(found.nearest[1], 0.0, 1e-6);
}

TEST(InverseDistance, WithNothingElseGivesTheMeanOfAll) {
  Rows data, targets;
  data.add(0.0, 0.0, 0.0, 1.0, 3);
  data.add(1.0, 0.0, 0.0, 2.0, 3);
  targets.add(0.5, 0.0, 0.0, 1.0, 3);
  const DistanceForecast found =
      forecast_by_distance({data.view(), true, data.values, data.fold}, {targets.view(), targets.values, targets.fold});
  EXPECT_EQ(found.mean[0], 1.5);
  EXPECT_EQ(found.nearest[0], INFINITY);
}

// A field that changes in time alone, or in space alone: time counts much, or nothing.
TEST(InverseDistance, LetsTimeCountAsMuchAsForecastsBest) {
  const RandomKey key = {.seed = 3, .purpose = Purpose::simulation};
  for (const bool in_time : {false, true}) {
    RandomStream random(key);
    Rows data, targets;
    for (int i = 0; i < 2200; ++i) {
      const double x = random.uniform(), y = random.uniform(), t = random.uniform();
      (i < 2000 ? data : targets).add(x, y, t, in_time ? std::sin(20.0 * t) : std::sin(9.0 * x) + std::cos(8.0 * y));
    }
    const DistanceForecast found = forecast_by_distance({data.view(), true, data.values}, {targets.view(), targets.values}, 1);
    EXPECT_LT(found.rmse, 0.35) << in_time;
    const DistanceForecast threads = forecast_by_distance({data.view(), true, data.values}, {targets.view(), targets.values}, 3);
    EXPECT_EQ(found.mean, threads.mean);
  }
}

}  // namespace
}  // namespace drift
