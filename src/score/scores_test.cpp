#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/random.h"
#include "drift/error.h"
#include "drift/score.h"

namespace drift {
namespace {

TEST(ScoreForecast, GathersTheSingleScores) {
  const std::vector<double> y = {1.0, 2.0, 4.0}, mean = {1.5, 2.0, 3.0}, sd = {1.0, 0.5, 0.4};
  const Scores scores = score_forecast(y, mean, sd);
  EXPECT_EQ(scores.count, 3u);
  EXPECT_NEAR(scores.bias, (0.5 + 0.0 - 1.0) / 3.0, 1e-15);
  EXPECT_NEAR(scores.mae, 0.5, 1e-15);
  EXPECT_EQ(scores.rmse, rmse(y, mean));
  EXPECT_EQ(scores.crps, mean_crps(y, mean, sd));
  EXPECT_EQ(scores.nll, mean_nll(y, mean, sd));
  ASSERT_EQ(scores.intervals.size(), 5u);
  EXPECT_NEAR(scores.intervals[2].share, 2.0 / 3.0, 1e-15);  // 90 %: 2.5 sd off is outside
  EXPECT_EQ(scores.intervals[4].share, 1.0);                 // 99 %: inside
  EXPECT_NEAR(scores.intervals[3].mean_width, 2.0 * 1.959963984540054 * (1.9 / 3.0), 1e-12);
  EXPECT_NEAR(scores.rmae, std::sqrt(0.5), 1e-15);
  EXPECT_EQ(scores.reliability.size(), 19u);
  // By hand: widths 2 z sd, and for the last 2 / 0.05 times the 1 - z 0.4 by which y = 4 lies above 3 + z 0.4.
  const double z = 1.959963984540054;
  EXPECT_NEAR(*scores.interval_score95, (2 * z * 1.9 + 40.0 * (1.0 - 0.4 * z)) / 3.0, 1e-12);
}

TEST(ScoreForecast, MeasuresTheIntervalsThatItIsGiven) {
  const std::vector<double> y = {1.0, 2.0, 4.0}, mean = {1.5, 2.0, 3.0}, sd = {1.0, 0.5, 0.4};
  const Scores gaussian = score_forecast(y, mean, sd);
  const Scores same = score_forecast(y, mean, sd, [](double level) { return normal_quantile(0.5 + 0.5 * level); });
  EXPECT_NEAR(*same.interval_score95, *gaussian.interval_score95, 1e-12);
  for (std::size_t i = 0; i < 19; ++i) EXPECT_EQ(same.reliability[i].share, gaussian.reliability[i].share);
  const Scores wide = score_forecast(y, mean, sd, [](double) { return 3.0; });
  EXPECT_NEAR(*wide.interval_score95, 6.0 * 1.9 / 3.0, 1e-12);  // none is missed: the widths alone
  for (const Scores::Interval& interval : wide.reliability) EXPECT_EQ(interval.share, 1.0);
  for (const Scores::Interval& interval : wide.intervals) EXPECT_NEAR(interval.mean_width, 6.0 * 1.9 / 3.0, 1e-12);
  EXPECT_EQ(wide.crps, gaussian.crps);
  EXPECT_EQ(wide.nll, gaussian.nll);
}

TEST(ScoreForecast, LeavesOutWhatNeedsASpread) {
  const std::vector<double> y = {1.0}, mean = {1.5};
  const nlohmann::json json = nlohmann::json::parse(to_json(score_forecast(y, mean, {})));
  EXPECT_TRUE(json.at("crps").is_null());
  EXPECT_TRUE(json.at("coverage90").is_null());
  EXPECT_EQ(json.at("rmse"), 0.5);
}

TEST(ScoreIntervals, TakesTheIntervalAsItIs) {
  const std::vector<double> y = {0.0, 5.0}, mean = {0.0, 0.0}, low = {-1.0, -2.0}, high = {3.0, 2.0};
  const Scores scores = score_intervals(y, mean, low, high, 0.95);
  EXPECT_EQ(scores.intervals[3].share, 0.5);
  EXPECT_EQ(scores.intervals[3].mean_width, 4.0);
  EXPECT_NEAR(*scores.interval_score95, (4.0 + 4.0 + 40.0 * 3.0) / 2.0, 1e-12);
  EXPECT_NEAR(*scores.mean_sd, 4.0 / (2.0 * 1.959963984540054), 1e-12);
  EXPECT_THROW(score_intervals(y, mean, high, low, 0.95), UsageError);
}

TEST(NormalQuantile, AgreesWithTheDistributionFunction) {
  for (const double p : {1e-300, 1e-10, 0.001, 0.02, 0.03, 0.25, 0.5, 0.9, 0.975, 0.9999}) {
    EXPECT_NEAR(0.5 * std::erfc(-normal_quantile(p) / std::sqrt(2.0)) / p, 1.0, 1e-12) << p;
  }
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
  EXPECT_THROW(normal_quantile(0.0), UsageError);
}

std::vector<double> normal_draws(std::size_t count, double mean, double sd, std::uint64_t seed) {
  RandomStream stream({.seed = seed, .purpose = Purpose::simulation});
  std::vector<double> draws;
  for (std::size_t i = 0; i < count; ++i) draws.push_back(mean + sd * stream.normal());
  return draws;
}

TEST(Crps, IsProper) {
  // On average the true forecast scores best: too narrow, too wide and shifted ones score worse.
  const std::vector<double> y = normal_draws(50000, 0.3, 1.0, 4);
  const auto score = [&](double mean, double sd) {
    return mean_crps(y, std::vector<double>(y.size(), mean), std::vector<double>(y.size(), sd));
  };
  for (const auto& [mean, sd] : {std::pair{0.3, 0.7}, {0.3, 1.4}, {0.0, 1.0}, {0.6, 1.0}})
    EXPECT_GT(score(mean, sd), score(0.3, 1.0));
}

}  // namespace
}  // namespace drift
