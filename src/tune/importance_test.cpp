#include <gtest/gtest.h>

#include <cmath>

#include "drift/tune.h"
#include "tune/tune_testing.h"

namespace drift {
namespace {

// Trials at random points.
Study study_of(const SearchSpace& space, double (*f)(const Point&), std::size_t count) {
  SearchPlan plan;
  plan.initial = count;
  SearchOptions options;
  options.trials = static_cast<double>(count);
  return optimise(space, plain(f), plan, options);
}

SearchSpace three_settings() { return {{.name = "a"}, {.name = "b"}, {.name = "c"}}; }

// 4a + 2b: variances 16/12 and 4/12, so the indices are 0.8, 0.2 and 0, without interactions.
TEST(Importance, IsTheShareOfTheVarianceForALinearFunction) {
  const auto result = importance(study_of(
      three_settings(), [](const Point& p) { return 4.0 * p[0] + 2.0 * p[1]; }, 30));
  ASSERT_EQ(result.size(), 3U);
  const double expected[3] = {0.8, 0.2, 0.0};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(result[i].main, expected[i], 0.06) << result[i].name;  // bad values are cut: less than exact
    EXPECT_NEAR(result[i].total, expected[i], 0.06) << result[i].name;
  }
}

// (a - 1/2)(b - 1/2): nothing by themselves, all of it together.
TEST(Importance, TellsWhatSettingsDoTogether) {
  const auto result = importance(study_of(
      three_settings(), [](const Point& p) { return (p[0] - 0.5) * (p[1] - 0.5); }, 60));
  ASSERT_EQ(result.size(), 3U);
  EXPECT_LT(result[0].main, 0.1);
  EXPECT_LT(result[1].main, 0.1);
  EXPECT_GT(result[0].total, 0.85);
  EXPECT_GT(result[1].total, 0.85);
  EXPECT_LT(result[2].total, 0.1);
}

TEST(Importance, NeedsAFewTrials) {
  EXPECT_TRUE(importance(study_of(
                             three_settings(), [](const Point&) { return 1.0; }, 3))
                  .empty());
}

}  // namespace
}  // namespace drift
