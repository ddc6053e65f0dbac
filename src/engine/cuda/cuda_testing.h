#pragma once

// For tests: small networks of every kind, observations for them, and both engines' ways through them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "drift/engine.h"
#include "engine/cuda/device.h"

// Leaves the test, saying why, where there is no GPU.
#define DRIFT_NEEDS_GPU()                                           \
  if (const std::string why = drift::why_no_cuda(); !why.empty()) { \
    GTEST_SKIP() << "no GPU: " << why;                              \
  }                                                                 \
  static_assert(true)

// The same where it is not one that the fused kernels are made for.
#define DRIFT_NEEDS_HOPPER()                                                                              \
  DRIFT_NEEDS_GPU();                                                                                      \
  if (!drift::cuda::is_hopper()) {                                                                        \
    GTEST_SKIP() << "the fused kernels run on GPUs of compute capability 9.0, in a build for 90a, alone"; \
  }                                                                                                       \
  static_assert(true)

namespace drift::cuda {

// How far a test trains. tools/sanitize-gpu sets DRIFT_TEST_STEPS, since kernels take about half a second there: each has run
// after a few steps, and tests that ask what was learnt ask only where nothing was cut.
inline std::uint64_t most_steps() {
  const char* most = std::getenv("DRIFT_TEST_STEPS");
  return most == nullptr ? ~std::uint64_t{0} : std::strtoull(most, nullptr, 10);
}
inline std::uint64_t up_to(std::uint64_t step) { return std::min(step, most_steps()); }

struct Case {
  std::string name;
  NetworkSpec spec;
  Recipe recipe;
  bool weighted = false;
  bool variational = false;
};
inline void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }  // the name that GoogleTest asks for

inline NetworkSpec small(Space space, int spatial, int temporal, int joint) {
  NetworkSpec spec = default_spec(space, space == Space::plane ? 2 : 3, temporal > 0);
  spec.coupling = Coupling::additive;
  spec.spatial.layers = spatial;
  spec.temporal.layers = temporal;
  spec.joint.layers = joint;
  spec.features = 75;
  spec.bottleneck = 12;
  spec.spatial.lengthscales = {0.5};
  spec.frequencies = Frequencies::orthogonal;
  return spec;
}

inline NetworkSpec small_space_time(Space space, int layers) {
  NetworkSpec spec = small(space, layers, 1, 0);
  spec.coupling = Coupling::product;
  return spec;
}

inline Recipe short_recipe(Optimiser optimiser = Optimiser::adam) {
  Recipe recipe = default_recipe();
  recipe.optimiser = optimiser;
  recipe.batch = 700;  // the third batch of an epoch is short
  recipe.epochs = 4;
  recipe.warmup_steps = 3;
  recipe.rate = 2e-3;
  return recipe;
}

inline std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](std::string name, NetworkSpec spec, Recipe recipe = short_recipe()) -> Case& {
    return all.emplace_back(Case{.name = std::move(name), .spec = std::move(spec), .recipe = recipe});
  };
  add("paper_like", small(Space::plane, 4, 1, 0));
  add("muon", small(Space::plane, 3, 1, 0), short_recipe(Optimiser::muon));
  add("huber_and_weights", small(Space::plane, 2, 1, 0)).weighted = true;
  all.back().recipe.loss = LossKind::huber;
  add("value_noise_and_weights", small(Space::plane, 2, 1, 0)).weighted = true;
  all.back().recipe.value_noise = 0.5;
  add("no_skip", small(Space::plane, 3, 2, 0)).spec.skip = false;
  add("joint", small(Space::plane, 2, 1, 2));
  add("space_only", small(Space::plane, 2, 0, 0));
  add("one_layer", small(Space::plane, 1, 0, 0));
  add("time_only", small(Space::plane, 0, 2, 0));
  add("two_outputs", small(Space::plane, 2, 1, 0)).spec.outputs = 2;
  add("structured", small(Space::plane, 3, 2, 1)).spec.frequencies = Frequencies::structured;
  add("wide", small(Space::plane, 3, 1, 0)).spec.features = 200;
  all.back().spec.bottleneck = 128;
  all.back().spec.frequencies = Frequencies::structured;
  add("sphere", small(Space::sphere, 3, 1, 0));
  add("sphere_high_degrees", small(Space::sphere, 2, 1, 0)).spec.spatial.lengthscales = {0.01};
  add("heat_joint", small(Space::sphere, 2, 1, 1)).spec.spatial.covariance.family = Family::squared_exponential;
  add("trained_hyperparameters", small(Space::plane, 2, 1, 1));
  all.back().recipe.train_lengthscales = all.back().recipe.train_amplitudes = true;
  add("trained_on_the_sphere", small(Space::sphere, 2, 1, 0));
  all.back().recipe.train_lengthscales = all.back().recipe.train_amplitudes = true;
  add("dropout", small(Space::plane, 2, 1, 0)).recipe.dropout = 0.1;
  add("dropout_and_hyperparameters", small(Space::sphere, 2, 1, 0)).recipe.dropout = 0.1;
  all.back().recipe.train_lengthscales = all.back().recipe.train_amplitudes = true;
  add("variational", small(Space::plane, 2, 1, 0)).variational = true;
  add("variational_muon", small(Space::plane, 2, 1, 0), short_recipe(Optimiser::muon)).variational = true;
  add("space_time", small_space_time(Space::plane, 3), short_recipe(Optimiser::muon));
  add("space_time_on_the_sphere", small_space_time(Space::sphere, 3)).spec.frequencies = Frequencies::structured;
  add("space_time_trained", small_space_time(Space::sphere, 2));
  all.back().recipe.train_lengthscales = all.back().recipe.train_amplitudes = true;
  add("space_time_dropout", small_space_time(Space::plane, 2)).recipe.dropout = 0.1;
  add("space_time_variational", small_space_time(Space::sphere, 2)).variational = true;
  DenseSpec siren;
  siren.layers = 3;
  siren.activation = drift::Activation::sine;
  siren.omega = siren.hidden_omega = 5.0;
  const auto dense = [](Space space, DenseSpec form) {
    form.width = 45;
    NetworkSpec spec = dense_spec(space, space == Space::plane ? 2 : 3, true, form);
    spec.features = 30;
    return spec;
  };
  add("relu", dense(Space::plane, {}));
  add("relu_muon_dropout", dense(Space::plane, {}), short_recipe(Optimiser::muon)).recipe.dropout = 0.1;
  add("siren", dense(Space::sphere, siren));
  siren.input = DenseInput::fourier;
  siren.activation = drift::Activation::relu;
  add("fourier_relu", dense(Space::plane, siren));
  all.back().recipe.train_lengthscales = all.back().recipe.train_amplitudes = true;
  add("fourier_relu_dropout", dense(Space::plane, siren)).recipe = all[all.size() - 2].recipe;
  all.back().recipe.dropout = 0.1;
  add("relu_variational", dense(Space::plane, {})).variational = true;
  return all;
}

// A smooth field of position and time.
struct Observations {
  std::size_t columns = 0, outputs = 1;
  std::vector<float> coordinates, values, weights;

  Observations(const NetworkSpec& spec, std::size_t count)
      : columns(static_cast<std::size_t>(spec.coordinates())), outputs(static_cast<std::size_t>(spec.outputs)) {
    const auto part = [](double step, std::size_t i) { return std::fmod(step * static_cast<double>(i + 1), 1.0) * 2 - 1; };
    for (std::size_t i = 0; i < count; ++i) {
      const double x = part(0.754877666, i), y = part(0.569840291, i), t = part(0.438579, i);
      std::vector<double> point;
      if (spec.space == Space::sphere && spec.coordinates() >= 3) {
        const double r = std::sqrt(1 - y * y), angle = 3.14159265358979 * x;
        point = {r * std::cos(angle), r * std::sin(angle), y, t};
      } else {
        point = columns == 1 ? std::vector<double>{t} : std::vector<double>{x, y, t};
      }
      for (std::size_t c = 0; c < columns; ++c) coordinates.push_back(static_cast<float>(point[c]));
      for (std::size_t o = 0; o < outputs; ++o) {
        values.push_back(static_cast<float>(std::sin(3 * point[0] + static_cast<double>(o)) * std::cos(2 * y) + 0.3 * t));
      }
      weights.push_back(static_cast<float>(0.75 + 0.5 * x));
    }
  }
  std::size_t count() const { return weights.size(); }
  TrainingSet set(bool weighted) const {
    TrainingSet data{.coordinates = {coordinates.data(), count(), columns}, .values = {values.data(), count(), outputs}};
    if (weighted) data.weights = weights;
    return data;
  }
};

struct Trained {
  Ensemble ensemble;
  TrainingState state;
};

inline Ensemble drawn(const Case& a_case, std::size_t members = 3) {
  Ensemble ensemble = draw_ensemble(a_case.spec, 11, members);
  if (a_case.variational) {
    for (Member& member : ensemble.members) {
      member.log_sd.assign(member.parameters.size(), 0.0F);
      for (std::size_t i = 0; i < member.parameters.size(); ++i) member.log_sd[i] = member.parameters[i] == 0.0F ? 0.0F : -3.0F;
    }
  }
  return ensemble;
}

inline Trained trained(Engine& engine, const Case& a_case, const Observations& observations, std::vector<std::uint64_t> stops,
                       std::size_t members = 3) {
  Trained result{.ensemble = drawn(a_case, members), .state = {}};
  for (const std::uint64_t stop : stops) {
    engine.advance(result.ensemble, result.state, observations.set(a_case.weighted), a_case.recipe, up_to(stop), {});
  }
  return result;
}

inline std::unique_ptr<Engine> gpu(Precision precision = Precision::float32) {
  return make_cuda_engine({.threads = 0, .precision = precision});
}
inline std::unique_ptr<Engine> cpu() { return make_cpu_engine({.threads = 2}); }

// |a - b| / |b|
inline double distance(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0, length = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - b[i], 2);
    length += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / std::max(length, 1e-30));
}

// The fused kernels have two precisions; tests of both are instantiated with these.
inline auto fused_precisions() { return testing::Values(Precision::tf32, Precision::bf16); }
inline std::string name_of_precision(const testing::TestParamInfo<Precision>& info) {
  return info.param == Precision::bf16 ? "bf16" : "tf32";
}
// 8 bits are eight times as coarse as 11.
constexpr double coarser(double tolerance_in_tf32, Precision precision) {
  return precision == Precision::bf16 ? 8 * tolerance_in_tf32 : tolerance_in_tf32;
}

}  // namespace drift::cuda
