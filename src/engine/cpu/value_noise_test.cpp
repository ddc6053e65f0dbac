#include "train/value_noise.h"

#include <gtest/gtest.h>

#include "engine/cpu/engine_testing.h"

namespace drift {
namespace {

using namespace engine_testing;

// Member `i` alone, on values that hold its noise already.
Trained on_perturbed_values(const Observations& observations, Recipe recipe, std::size_t i) {
  Observations own = observations;
  Trained result{.ensemble = draw_ensemble(small_spec(), 11, i + 1), .state = {}};
  result.ensemble.members.erase(result.ensemble.members.begin(), result.ensemble.members.end() - 1);
  const ValueNoise noise(recipe.value_noise, 11, static_cast<std::uint32_t>(i));
  for (std::size_t row = 0; row < own.values.size(); ++row) noise.add(row, own.weights[row], std::span(&own.values[row], 1));
  recipe.value_noise = 0.0;
  make_cpu_engine({.threads = 2})
      ->advance(result.ensemble, result.state, own.set(true), recipe, total_steps(recipe, own.values.size()), {});
  return result;
}

// So it is the same in every epoch, and depends neither on the batches nor on the threads.
TEST(TrainingWithValueNoise, IsTrainingOnValuesThatHoldIt) {
  const Observations observations(Space::plane, 1500);
  Recipe recipe = small_recipe(Optimiser::muon);
  recipe.value_noise = 0.3;
  for (const std::size_t batch : {700U, 128U}) {
    recipe.batch = batch;
    const Trained together = trained(small_spec(), observations, recipe, 3, 3);
    for (const std::size_t i : {0U, 2U}) {
      const Trained alone = on_perturbed_values(observations, recipe, i);
      EXPECT_EQ(together.ensemble.members[i].parameters, alone.ensemble.members[0].parameters);
      EXPECT_EQ(together.state.members[i].losses, alone.state.members[0].losses);
    }
  }
}

TEST(TrainingWithValueNoise, TakenUpAgainEqualsAnUninterruptedRun) {
  const Observations observations(Space::plane, 1500);
  Recipe recipe = small_recipe(Optimiser::adam);
  const Trained without = trained(small_spec(), observations, recipe, 2);
  recipe.value_noise = 0.3;
  const Trained whole = trained(small_spec(), observations, recipe, 2);
  expect_same_bits(whole, trained(small_spec(), observations, recipe, 1, 3, {1, 4, 5}));
  EXPECT_NE(whole.ensemble.members[0].parameters, without.ensemble.members[0].parameters);
}

}  // namespace
}  // namespace drift
