#include <gtest/gtest.h>

#include <cmath>

#include "fitting/fitting_testing.h"
#include "searching/tune_trials.h"

namespace drift {
namespace {

SearchSpace space_of_run(RunSettings settings, const std::vector<SearchedSetting>& wanted) {
  const Dataset data = small_dataset();
  return search_space(plan_fit(settings, data), data, wanted);
}

// One lengthscale serves coordinates and hidden layers there, and is of use only when it is long.
TEST(SearchSpaceOfARun, HasThePapersRangesForItsRecipe) {
  RunSettings settings = small_settings();
  settings.model.lengthscale.reset();
  settings.recipe = RecipeName::paper;
  const Dataset data = small_dataset();
  const FitPlan plan = plan_fit(settings, data);
  const SearchSpace space = search_space(plan, data, {SearchedSetting::lengthscale, SearchedSetting::amplitude});
  ASSERT_EQ(space.size(), 2u);
  EXPECT_NEAR(lengthscale_to_engine(plan.domain, space[0].low), 0.1, 1e-9);
  EXPECT_NEAR(lengthscale_to_engine(plan.domain, space[0].high), 10.0, 1e-9);
  EXPECT_EQ(space[1].low, 0.1);
  EXPECT_EQ(space[1].high, 1.0);
  settings.recipe = RecipeName::standard;
  const SearchSpace own = space_of_run(settings, {SearchedSetting::lengthscale});
  EXPECT_LT(own[0].high, space[0].high);
}

TEST(SearchSpaceOfARun, ReachesHiddenLengthscales) {
  const SearchSpace space = space_of_run(small_settings(), {SearchedSetting::hidden_lengthscale});
  ASSERT_EQ(space.size(), 1u);
  EXPECT_EQ(space[0].name, "hidden_lengthscale");
  RunSettings settings = small_settings();
  apply_point(space, {0.7}, settings);
  EXPECT_EQ(plan_fit(settings, small_dataset()).spec.spatial.hidden_lengthscale, 0.7);
  EXPECT_EQ(plan_fit(small_settings(), small_dataset()).spec.spatial.hidden_lengthscale, 1.0);
}

}  // namespace
}  // namespace drift
