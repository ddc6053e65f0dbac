#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

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
  ASSERT_EQ(scores.coverage.size(), 5u);
  EXPECT_NEAR(scores.coverage[2].share, 2.0 / 3.0, 1e-15);  // 90 %: 2.5 sd off is outside
  EXPECT_EQ(scores.coverage[4].share, 1.0);                 // 99 %: inside
}

TEST(ScoreForecast, LeavesOutWhatNeedsASpread) {
  const std::vector<double> y = {1.0}, mean = {1.5};
  const nlohmann::json json = nlohmann::json::parse(to_json(score_forecast(y, mean, {})));
  EXPECT_TRUE(json.at("crps").is_null());
  EXPECT_TRUE(json.at("coverage90").is_null());
  EXPECT_EQ(json.at("rmse"), 0.5);
}

}  // namespace
}  // namespace drift
