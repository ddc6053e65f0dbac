// What training and prediction hold in memory besides the data, the members and the results.

#include <gtest/gtest.h>

#include <vector>

#include "core/counting_memory.h"
#include "drift/engine.h"
#include "engine/training_memory.h"

namespace drift {
namespace {

using counting_memory::peak_during;

constexpr int kThreads = 2;

std::ptrdiff_t predicting(const Ensemble& ensemble, std::size_t points) {
  const std::vector<float> coordinates(points * 3, 0.5F);
  std::vector<float> mean(points), variance(points);
  const auto engine = make_cpu_engine({.threads = kThreads});
  return peak_during([&] {
    engine->predict(ensemble, {coordinates.data(), points, 3},
                    {.mean = {mean.data(), points, 1}, .variance = {variance.data(), points, 1}, .members = {}});
  });
}

TEST(Memory, OfPredictionDoesNotGrowWithThePoints) {
  NetworkSpec spec = default_spec(Space::plane, 2, true);
  spec.features = 64;
  spec.bottleneck = 8;
  const Ensemble ensemble = draw_ensemble(spec, 1, 3);
  const std::ptrdiff_t few = predicting(ensemble, 5'000);
  const std::ptrdiff_t many = predicting(ensemble, 200'000);
  EXPECT_GT(few, 0);
  EXPECT_LT(many, few + few / 10);
}

TEST(Memory, OfTrainingDoesNotGrowWithTheObservations) {
  NetworkSpec spec = default_spec(Space::plane, 2, true);
  spec.features = 64;
  spec.bottleneck = 8;
  Recipe recipe = default_recipe();
  recipe.batch = 512;
  const auto training = [&](std::size_t observations) {
    const std::vector<float> coordinates(observations * 3, 0.5F), values(observations, 1.0F);
    Ensemble ensemble = draw_ensemble(spec, 1, 3);
    const auto engine = make_cpu_engine({.threads = kThreads});
    return peak_during([&] {
      TrainingState state;
      engine->advance(ensemble, state,
                      {.coordinates = {coordinates.data(), observations, 3}, .values = {values.data(), observations, 1}}, recipe,
                      5, {});
    });
  };
  const std::ptrdiff_t few = training(5'000);
  EXPECT_GT(few, 0);
  EXPECT_LT(training(500'000), few + few / 10);  // no table of the observations, no shuffled copy
}

// Every thread has a workspace of its own, which on many cores is most of the memory.
TEST(Memory, OfTrainingIsForeseenForAnyNumberOfThreads) {
  constexpr std::size_t kObservations = 3'000, kMembers = 3;
  NetworkSpec product = default_spec(Space::plane, 2, true);
  product.features = 200;
  product.bottleneck = 24;
  NetworkSpec additive = product;
  additive.coupling = Coupling::additive;
  const std::vector<float> coordinates(kObservations * 3, 0.5F), values(kObservations, 1.0F);
  for (const NetworkSpec& spec : {product, additive}) {
    for (const Optimiser optimiser : {Optimiser::adam, Optimiser::muon}) {
      Recipe recipe = default_recipe();
      recipe.optimiser = optimiser;
      recipe.batch = 1024;
      for (const int threads : {1, 4, 24}) {
        Ensemble ensemble = draw_ensemble(spec, 1, kMembers);
        const double drawn =
            4.0 * kMembers * static_cast<double>(ensemble.members[0].fixed.size() + ensemble.members[0].parameters.size());
        const auto engine = make_cpu_engine({.threads = threads});
        const auto held = static_cast<double>(peak_during([&] {
          TrainingState state;
          engine->advance(ensemble, state,
                          {.coordinates = {coordinates.data(), kObservations, 3}, .values = {values.data(), kObservations, 1}},
                          recipe, 6, {});
        }));
        const double foreseen = training_bytes(spec, recipe, kMembers, kObservations, threads) - drawn;
        EXPECT_GE(foreseen, held) << threads << " threads";
        EXPECT_LT(foreseen, 2.0 * held) << threads << " threads";
      }
    }
  }
}

}  // namespace
}  // namespace drift
