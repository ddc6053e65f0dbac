#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "drift/engine.h"
#include "engine/cpu/engine_testing.h"

namespace drift {
namespace {

using namespace engine_testing;

// Three runs that differ in everything a run may.
struct ThreeRuns {
  std::vector<Trained> runs;
  std::vector<Recipe> recipes;

  ThreeRuns() {
    NetworkSpec wide = small_spec();
    wide.features = 80;
    wide.spatial.lengthscales = {0.3};
    for (const NetworkSpec& spec : {small_spec(), wide, small_spec()}) {
      runs.push_back({.ensemble = draw_ensemble(spec, 5 + runs.size(), 1 + runs.size()), .state = {}});
      recipes.push_back(small_recipe(runs.size() == 2 ? Optimiser::adam : Optimiser::muon));
      recipes.back().epochs = static_cast<double>(runs.size());
    }
  }
  std::vector<TrainingRun> together(bool states = true) {
    std::vector<TrainingRun> result;
    for (std::size_t i = 0; i < runs.size(); ++i)
      result.push_back({.ensemble = &runs[i].ensemble, .state = states ? &runs[i].state : nullptr, .recipe = recipes[i]});
    return result;
  }
};

TEST(TrainingTogether, EqualsTrainingOneAfterTheOther) {
  const Observations observations(Space::plane, 1500);
  const auto engine = make_cpu_engine({.threads = 2});
  ThreeRuns alone, together, stateless;
  for (std::size_t i = 0; i < alone.runs.size(); ++i) {
    engine->advance(alone.runs[i].ensemble, alone.runs[i].state, observations.set(), alone.recipes[i], 100, {});
  }
  EXPECT_THAT(engine->advance_together(together.together(), observations.set(), 4, {}), testing::Each(""));
  EXPECT_EQ(together.runs[2].state.members[0].step, 4U);
  EXPECT_THAT(engine->advance_together(together.together(), observations.set(), 100, {}), testing::Each(""));
  EXPECT_THAT(train_together(*engine, stateless.together(false), observations.set()), testing::Each(""));
  for (std::size_t i = 0; i < alone.runs.size(); ++i) {
    expect_same_bits(alone.runs[i], together.runs[i]);
    for (std::size_t m = 0; m < alone.runs[i].ensemble.members.size(); ++m)
      EXPECT_EQ(alone.runs[i].ensemble.members[m].parameters, stateless.runs[i].ensemble.members[m].parameters);
  }
}

TEST(TrainingTogether, SaysWhichRunDivergedAndFinishesTheOthers) {
  const Observations observations(Space::plane, 1500);
  ThreeRuns runs;
  runs.recipes[1].rate = 1e30;
  const auto failures = make_cpu_engine({.threads = 2})->advance_together(runs.together(), observations.set(), 100, {});
  EXPECT_THAT(failures, testing::ElementsAre("", testing::HasSubstr("training diverged: the loss of member"), ""));
  EXPECT_EQ(runs.runs[0].state.members[0].step, 3U);
  EXPECT_EQ(runs.runs[2].state.members[2].step, 9U);
}

TEST(TrainingTogether, TellsOfProgressUpToTheLastStepOfAllRuns) {
  const Observations observations(Space::plane, 1500);
  ThreeRuns runs;
  std::vector<double> told;
  const Control control{.progress = [&](double share, const std::string&) { told.push_back(share); }};
  make_cpu_engine({.threads = 2})->advance_together(runs.together(), observations.set(), 100, control);
  const double all = 1 * 3 + 2 * 6 + 3 * 9;  // members times steps
  ASSERT_GE(told.size(), 3u) << "at least at the end of each run";
  for (std::size_t i = 1; i < told.size(); ++i) EXPECT_GT(told[i], told[i - 1]);
  constexpr double kRounding = 1e-12;
  for (const double end : {3.0, 15.0, all}) {
    EXPECT_THAT(told, testing::Contains(testing::DoubleNear(end / all, kRounding))) << end;
  }
  EXPECT_NEAR(told.back(), 1.0, kRounding);
}

}  // namespace
}  // namespace drift
