#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "comparing/comparing_testing.h"
#include "drift/compare.h"
#include "drift/error.h"

namespace drift {
namespace {

using testing::HasSubstr;

TEST(PlanCompare, ChoosesMethodsAndRefusesWhatCannotBe) {
  const Dataset data = small_dataset();
  const ScratchFolder folder;
  const auto refusal = [&](const std::function<void(RunSettings&)>& change) -> std::string {
    RunSettings settings = settings_with({"drift"}, folder);
    change(settings);
    try {
      plan_compare(settings, data);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal([](auto& s) { s.compare.methods = {"drfit"}; }), HasSubstr("did you mean 'drift'?"));
  EXPECT_THAT(refusal([](auto& s) { s.compare.methods = {"drift:epoch=2"}; }), HasSubstr("did you mean 'epochs'?"));
  EXPECT_THAT(refusal([](auto& s) { s.compare.methods = {"drift:members=0"}; }), HasSubstr("from 1 to 1000"));
  EXPECT_THAT(refusal([](auto& s) { s.split.method = SplitMethod::none; }), HasSubstr("hold some out"));
  EXPECT_THAT(refusal([](auto& s) { s.uncertainty.noise = NoiseSource::sigma; }), HasSubstr("name its variable with --sigma"));
  EXPECT_THAT(refusal([](auto& s) { s.compare.truth = "geiod"; }), HasSubstr("did you mean 'geoid'?"));
  EXPECT_THAT(refusal([](auto& s) { s.compare.truth = "synthetic:x"; }), HasSubstr("whole number"));
  EXPECT_THAT(refusal([](auto& s) { s.compare.grid = "xy:0,0,1,1:0.1"; }), HasSubstr("plain x and y"));
  EXPECT_THAT(refusal([](auto& s) { s.compare.map_time = "noon"; }), HasSubstr("map_time"));
  RunSettings settings = settings_with({"all", "drift"}, folder);
  EXPECT_EQ(plan_compare(settings, data).methods.size(), compare_methods().size()) << "each once";
  settings.compare.methods.clear();
  EXPECT_EQ(plan_compare(settings, data).methods.front(), "drift");
}

TEST(PlanCompare, RefusesATruthThatMovesForAFieldThatCannot) {
  Dataset data = small_dataset();
  data.observations.time_days.clear();
  const ScratchFolder folder;
  RunSettings settings = settings_with({"drift"}, folder);
  settings.compare.truth = "synthetic:3";
  EXPECT_NO_THROW(plan_compare(settings, data));
  settings.compare.truth = "synthetic:3,evolution=2";
  try {
    plan_compare(settings, data);
    FAIL() << "a truth at which time?";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("changes with time, but the fitted field does not"));
  }
}

}  // namespace
}  // namespace drift
