#include "train/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

namespace drift {
namespace {

Recipe cosine(std::size_t warmup_steps) {
  Recipe recipe;
  recipe.schedule = Schedule::cosine;
  recipe.warmup_steps = warmup_steps;
  return recipe;
}

TEST(Schedule, ConstantIsOneFromTheFirstStepToTheLast) {
  Recipe recipe;
  recipe.schedule = Schedule::constant;
  for (const std::uint64_t step : {0, 1, 500, 999}) EXPECT_EQ(rate_multiplier(recipe, step, 1000), 1.0);
}

TEST(Schedule, CosineRisesLinearlyOverTheWarmupAndPeaksAtOne) {
  const Recipe recipe = cosine(50);
  EXPECT_DOUBLE_EQ(rate_multiplier(recipe, 0, 1000), 1.0 / 51.0);
  EXPECT_DOUBLE_EQ(rate_multiplier(recipe, 24, 1000), 25.0 / 51.0);
  EXPECT_EQ(rate_multiplier(recipe, 50, 1000), 1.0);
}

TEST(Schedule, CosineFallsByHalfAtHalfTimeAndNearlyToZeroAtTheEnd) {
  const Recipe recipe = cosine(50);
  EXPECT_NEAR(rate_multiplier(recipe, 525, 1000), 0.5, 1e-12);
  EXPECT_GT(rate_multiplier(recipe, 999, 1000), 0.0);
  EXPECT_LT(rate_multiplier(recipe, 999, 1000), 1e-5);
  for (std::uint64_t step = 51; step < 1000; ++step) {
    EXPECT_LT(rate_multiplier(recipe, step, 1000), rate_multiplier(recipe, step - 1, 1000)) << step;
  }
}

TEST(Schedule, AShortRunShortensItsWarmupAndStillReachesOne) {
  const Recipe recipe = cosine(50);
  for (const std::uint64_t total : {1, 2, 3, 4, 7, 10, 60}) {
    double greatest = 0.0;
    for (std::uint64_t step = 0; step < total; ++step) {
      const double multiplier = rate_multiplier(recipe, step, total);
      EXPECT_GT(multiplier, 0.0) << step << " of " << total;
      greatest = std::max(greatest, multiplier);
    }
    EXPECT_EQ(greatest, 1.0) << total;
  }
}

TEST(Schedule, WithoutWarmupCosineStartsAtOne) { EXPECT_EQ(rate_multiplier(cosine(0), 0, 10), 1.0); }

}  // namespace
}  // namespace drift
