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

// The smallest and the largest value in the engine's units: what the paper's tables list.
void expect_range(const Setting& setting, const std::string& name, double low, double high, double unit) {
  EXPECT_EQ(setting.name, name);
  EXPECT_EQ(setting.kind, SettingKind::real) << name;
  EXPECT_NEAR(setting.low / unit, low, 1e-9 * low) << name;
  EXPECT_NEAR(setting.high / unit, high, 1e-9 * high) << name;
}

struct PaperSpace {
  FitPlan plan;
  SearchSpace space;
};

PaperSpace paper_space(DomainKind kind) {
  RunSettings settings = small_settings();
  settings.model.lengthscale.reset();
  settings.recipe = RecipeName::paper;
  settings.domain = {.kind = kind, .crs = kind == DomainKind::plane ? "EPSG:3035" : "", .unit = ""};
  const Dataset data = small_dataset();
  FitPlan plan = plan_fit(settings, data);
  SearchSpace space = search_space(plan, data, {});
  return {std::move(plan), std::move(space)};
}

// Its first experiment: one lengthscale serves coordinates and hidden layers there, and is of use only when it is long.
TEST(SearchSpaceOfARun, HasThePapersRangesOnThePlane) {
  const auto [plan, space] = paper_space(DomainKind::plane);
  ASSERT_EQ(space.size(), 3u);
  expect_range(space[0], "lengthscale", 0.1, 10.0, plan.domain.scale);
  expect_range(space[1], "amplitude", 0.1, 1.0, 1.0);
  expect_range(space[2], "time_lengthscale_days", 0.1, 10.0, plan.domain.time.sd);
  RunSettings own = plan.settings;
  own.recipe = RecipeName::standard;
  EXPECT_LT(space_of_run(own, {SearchedSetting::lengthscale})[0].high, space[0].high);
}

// Its third experiment: the spherical layer and the Euclidean ones after it have lengthscales and amplitudes of their own.
TEST(SearchSpaceOfARun, HasThePapersRangesOnTheSphere) {
  const auto [plan, space] = paper_space(DomainKind::sphere);
  ASSERT_EQ(space.size(), 5u);
  expect_range(space[0], "lengthscale", 1e-5, 0.1, plan.domain.scale);
  expect_range(space[1], "amplitude", 1e-5, 1.0, 1.0);
  expect_range(space[2], "hidden_lengthscale", 1e-5, 10.0, 1.0 / std::sqrt(static_cast<double>(plan.spec.bottleneck)));
  expect_range(space[3], "hidden_amplitude", 1e-5, 1.0, 1.0);
  expect_range(space[4], "time_lengthscale_days", 1e-5, 10.0, plan.domain.time.sd);
}

TEST(SearchSpaceOfARun, ReachesHiddenAmplitudes) {
  RunSettings settings = small_settings();
  settings.model.amplitude = 0.5;
  EXPECT_EQ(plan_fit(settings, small_dataset()).spec.spatial.hidden_amplitude, 0.5);
  apply_point(space_of_run(settings, {SearchedSetting::hidden_amplitude}), {0.7}, settings);
  const NetworkSpec spec = plan_fit(settings, small_dataset()).spec;
  EXPECT_EQ(spec.spatial.amplitude, 0.5);
  EXPECT_EQ(spec.spatial.hidden_amplitude, 0.7);
  EXPECT_EQ(spec.temporal.amplitude, 0.7);
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
