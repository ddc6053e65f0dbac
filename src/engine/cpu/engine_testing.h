#pragma once

// For tests of the CPU engine: a small network, observations for it, and ways to train it.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "drift/engine.h"

namespace drift::engine_testing {

inline NetworkSpec small_spec(Space space = Space::plane) {
  NetworkSpec spec = default_spec(space, space == Space::plane ? 2 : 3, true);
  spec.spatial.layers = 3;
  spec.features = 60;
  spec.bottleneck = 12;
  spec.spatial.lengthscales = {0.5};
  return spec;
}

// A smooth field of position and time with a little noise.
struct Observations {
  std::vector<float> coordinates, values, weights;
  std::size_t columns;

  Observations(Space space, std::size_t count) : columns(space == Space::plane ? 3 : 4) {
    for (std::size_t i = 0; i < count; ++i) {
      const double a = std::fmod(0.754877666 * static_cast<double>(i + 1), 1.0),
                   b = std::fmod(0.569840291 * static_cast<double>(i + 1), 1.0);
      const double t = std::fmod(0.438579 * static_cast<double>(i), 1.0) * 2 - 1;
      double x = 2 * a - 1, y = 2 * b - 1;
      if (space == Space::plane) {
        coordinates.insert(coordinates.end(), {static_cast<float>(x), static_cast<float>(y), static_cast<float>(t)});
      } else {
        const double z = y, r = std::sqrt(1 - z * z), angle = 3.14159265358979 * x;
        coordinates.insert(coordinates.end(), {static_cast<float>(r * std::cos(angle)), static_cast<float>(r * std::sin(angle)),
                                               static_cast<float>(z), static_cast<float>(t)});
        x = r * std::cos(angle);
      }
      values.push_back(
          static_cast<float>(std::sin(3 * x) * std::cos(2 * y) + 0.3 * t + 0.01 * std::sin(1e4 * static_cast<double>(i))));
      weights.push_back(static_cast<float>(0.5 + a));
    }
  }
  TrainingSet set(bool weighted = false) const {
    TrainingSet data{.coordinates = {coordinates.data(), values.size(), columns}, .values = {values.data(), values.size(), 1}};
    if (weighted) data.weights = weights;
    return data;
  }
};

inline Recipe small_recipe(Optimiser optimiser) {
  Recipe recipe = default_recipe();
  recipe.optimiser = optimiser;
  recipe.batch = 700;  // three slices, the last one short
  recipe.epochs = 4;
  recipe.warmup_steps = 3;
  return recipe;
}

struct Trained {
  Ensemble ensemble;
  TrainingState state;
};

inline Trained trained(const NetworkSpec& spec, const Observations& observations, const Recipe& recipe, int threads,
                       std::size_t members = 3, std::vector<std::uint64_t> stops = {}) {
  Trained result{.ensemble = draw_ensemble(spec, 11, members), .state = {}};
  const auto engine = make_cpu_engine({.threads = threads});
  stops.push_back(total_steps(recipe, observations.values.size()));
  for (const std::uint64_t stop : stops) engine->advance(result.ensemble, result.state, observations.set(true), recipe, stop, {});
  return result;
}

inline void expect_same_bits(const Trained& a, const Trained& b) {
  ASSERT_EQ(a.ensemble.members.size(), b.ensemble.members.size());
  for (std::size_t i = 0; i < a.ensemble.members.size(); ++i) {
    EXPECT_EQ(a.ensemble.members[i].parameters, b.ensemble.members[i].parameters);
    EXPECT_EQ(a.state.members[i].moment1, b.state.members[i].moment1);
    EXPECT_EQ(a.state.members[i].moment2, b.state.members[i].moment2);
    EXPECT_EQ(a.state.members[i].losses, b.state.members[i].losses);
    EXPECT_EQ(a.state.members[i].step, b.state.members[i].step);
  }
}

}  // namespace drift::engine_testing
