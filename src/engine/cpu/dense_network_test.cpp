// Dense networks as whole networks: what they are at the start, that they learn, and what their randomness leaves alone.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/random.h"
#include "core/scratch_folder.h"
#include "drift/bench.h"
#include "drift/engine.h"
#include "engine/cpu/passes_testing.h"

namespace drift::cpu {
namespace {

// Standard deviation of the deepest features of a drawn network over points drawn from N(0, I).
double deepest_sd(const NetworkSpec& spec, double factor_on_weights) {
  const ScaleResolver resolver(make_plan(spec));
  Ensemble ensemble = draw_ensemble(spec, 3, 1);
  Member& member = ensemble.members[0];
  for (std::size_t i = 1; i + 1 < resolver.plan().layers.size(); ++i) {  // the matrices between two activations
    const LayerPlan& layer = resolver.plan().layers[i];
    for (int j = 0; j < layer.features * layer.outputs; ++j) {
      member.parameters[layer.bottleneck + static_cast<std::size_t>(j)] *= static_cast<float>(factor_on_weights);
    }
  }
  const Network<float> network(resolver, member.fixed.data(), member.parameters.data());
  constexpr std::size_t kPoints = 64;
  Workspace<float> ws(resolver.plan(), kPoints, {});
  RandomStream random({.seed = 9});
  const MatrixView<float> x = ws.coordinates(kPoints);
  for (std::size_t i = 0; i < x.rows * x.cols; ++i) x.data[i] = static_cast<float>(random.normal());
  forward(network, ws, kPoints);
  const MatrixView<float> feature = ws.last_input(kPoints);
  double mean = 0, squares = 0;
  const double count = static_cast<double>(feature.rows * feature.cols);
  for (std::size_t row = 0; row < feature.rows; ++row) {
    for (std::size_t col = 0; col < feature.cols; ++col) {
      mean += static_cast<double>(feature(row, col)) / count;
      squares += static_cast<double>(feature(row, col)) * feature(row, col) / count;
    }
  }
  return std::sqrt(squares - mean * mean);
}

NetworkSpec deep_siren(int layers, double hidden_omega = 30.0) {
  return dense_spec(
      Space::plane, 2, true,
      {.layers = layers, .width = 128, .activation = Activation::sine, .omega = 17.0, .hidden_omega = hidden_omega});
}

TEST(Siren, KeepsTheVarianceOfItsActivationsWithDepth) {
  // omega z is near N(0, 1) plus a bias within 30 / sqrt(128): a sine's sd between 0.6 and 1/sqrt(2), at any depth.
  for (const int layers : {2, 4, 8, 12}) EXPECT_NEAR(deepest_sd(deep_siren(layers), 1.0), 0.68, 0.07) << layers;
}

TEST(Siren, DoesNotKeepItWithAnotherInitialisation) {
  NetworkSpec spec = deep_siren(12);
  spec.dense->bias = false;  // which would keep the sines moving
  EXPECT_NEAR(deepest_sd(spec, 1.0), 0.68, 0.07);
  EXPECT_LT(deepest_sd(spec, 0.5), 0.05);
}

TEST(ReluNetwork, KeepsTheSizeOfItsActivationsWithDepth) {
  const auto spec = [](int layers) { return dense_spec(Space::plane, 2, true, {.layers = layers, .width = 256}); };
  const double shallow = deepest_sd(spec(2), 1.0), deep = deepest_sd(spec(12), 1.0);
  EXPECT_GT(deep / shallow, 0.3);
  EXPECT_LT(deep / shallow, 3.0);
  EXPECT_LT(deepest_sd(spec(12), std::sqrt(0.5)) / shallow, 0.1) << "Xavier's bounds would lose it";
}

TEST(DensePasses, AgreeWhetherOrNotMatricesAreCopiedByPanels) {
  // In double the rows of 256 entries lie 2048 bytes apart and go by panels; in float they are used as they lie.
  const Case wide{"wide", dense_spec(Space::plane, 2, true, {.layers = 3, .width = 256})};
  Problem problem(wide);
  std::vector<double> expected;
  problem.run(&expected, {});
  const LayerPlan& layer = problem.plan().layers[1];
  for (std::size_t i = layer.bottleneck; i < layer.bottleneck + 256 * 257; i += 4099) {
    ASSERT_NEAR(expected[i], problem.difference(problem.parameters[i]), tolerance(expected[i])) << i;
  }
  const ScaleResolver resolver(make_plan(wide.spec));
  const std::vector<float> fixed(problem.fixed.begin(), problem.fixed.end());
  const std::vector<float> parameters(problem.parameters.begin(), problem.parameters.end());
  const Network<float> network(resolver, fixed.data(), parameters.data());
  const std::size_t rows = Problem::kRows;
  Workspace<float> ws(resolver.plan(), rows, {.backward = true});
  std::copy(problem.coordinates.begin(), problem.coordinates.end(), ws.coordinates(rows).data);
  forward(network, ws, rows);
  const std::vector<float> values(problem.values.begin(), problem.values.end());
  const std::vector<float> weights(problem.weights.begin(), problem.weights.end());
  loss_and_gradient<float>({}, ws.output(rows), {values.data(), rows, 1}, weights, 1.0F / static_cast<float>(rows),
                           ws.output_gradient(rows));
  std::vector<float> gradient(resolver.plan().parameter_size);
  backward(network, ws, rows, gradient.data(), false);
  double scale = 0;
  for (const double entry : expected) scale = std::max(scale, std::abs(entry));
  for (std::size_t i = 0; i < gradient.size(); ++i) ASSERT_NEAR(gradient[i], expected[i], 1e-4 * scale) << i;
}

// sin(2 x) cos(t) at points of the plane with time.
struct Observations {
  std::vector<float> coordinates, values;
  explicit Observations(std::size_t count) : coordinates(3 * count), values(count) {
    RandomStream random({.seed = 4});
    for (float& x : coordinates) x = static_cast<float>(random.normal());
    for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(2 * coordinates[3 * i]) * std::cos(coordinates[3 * i + 2]);
  }
  TrainingSet set() const { return {{coordinates.data(), values.size(), 3}, {values.data(), values.size(), 1}}; }
};

std::vector<NetworkSpec> kinds() {
  return {dense_spec(Space::plane, 2, true, {.layers = 3, .width = 32}),
          dense_spec(Space::plane, 2, true, {.layers = 2, .width = 32, .input = DenseInput::fourier}),
          dense_spec(Space::plane, 2, true, {.layers = 2, .width = 32, .activation = Activation::sine, .omega = 5.0})};
}

float last_loss(const NetworkSpec& spec, const Recipe& recipe, int threads, Ensemble* out = nullptr) {
  const Observations data(700);
  Ensemble ensemble = draw_ensemble(spec, 1, 2);
  TrainingState state;
  train(*make_cpu_engine({.threads = threads}), ensemble, state, data.set(), recipe);
  if (out != nullptr) *out = ensemble;
  return state.members[0].losses.back();
}

TEST(DenseTraining, LearnsWithAdamAndWithMuon) {
  for (const Optimiser optimiser : {Optimiser::adam, Optimiser::muon}) {
    Recipe recipe;
    recipe.optimiser = optimiser;
    recipe.batch = 128;
    recipe.epochs = 40;
    recipe.rate = 3e-3;
    recipe.muon_rate = 2e-2;
    for (const NetworkSpec& spec : kinds())
      EXPECT_LT(last_loss(spec, recipe, 1), 0.08) << to_json(spec);  // the values' own is 0.28
  }
}

TEST(DenseTraining, DoesNotDependOnTheNumberOfThreads) {
  Recipe recipe;
  recipe.batch = 600;
  recipe.epochs = 3;
  recipe.dropout = 0.1;
  for (const NetworkSpec& spec : kinds()) {
    Ensemble one, three;
    last_loss(spec, recipe, 1, &one);
    last_loss(spec, recipe, 3, &three);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ(one.members[i].parameters, three.members[i].parameters);
  }
}

TEST(DenseTraining, GoesOnFromACheckpointToTheBit) {
  const ScratchFolder folder;
  const Observations data(300);
  const auto engine = make_cpu_engine({.threads = 1});
  Recipe recipe;
  recipe.batch = 100;
  recipe.epochs = 4;
  for (const NetworkSpec& spec : kinds()) {
    Ensemble whole = draw_ensemble(spec, 1, 1), part = whole;
    TrainingState whole_state, part_state;
    engine->advance(whole, whole_state, data.set(), recipe, 12, {});
    engine->advance(part, part_state, data.set(), recipe, 5, {});
    save_checkpoint(folder / "checkpoint", part, part_state, recipe);
    Checkpoint read = load_checkpoint(folder / "checkpoint");
    engine->advance(read.ensemble, read.state, data.set(), recipe, 12, {});
    EXPECT_EQ(read.ensemble.members[0].parameters, whole.members[0].parameters);
  }
}

TEST(DenseHeadInputs, TimesTheLastMatrixGiveThePrediction) {
  const Observations data(20);
  const auto engine = make_cpu_engine({.threads = 1});
  for (const NetworkSpec& spec : kinds()) {
    const Ensemble ensemble = draw_ensemble(spec, 1, 1);
    const std::size_t inputs = head_input_count(spec);
    EXPECT_EQ(inputs, 33u);
    std::vector<float> phi(20 * inputs), mean(20);
    engine->head_inputs(ensemble, 0, data.set().coordinates, {phi.data(), 20, inputs});
    engine->predict(ensemble, data.set().coordinates, {.mean = {mean.data(), 20, 1}});
    const float* matrix = ensemble.members[0].parameters.data() + make_plan(spec).layers.back().bottleneck;
    for (std::size_t row = 0; row < 20; ++row) {
      float sum = 0;
      for (std::size_t i = 0; i < inputs; ++i) sum += phi[row * inputs + i] * matrix[i];
      EXPECT_NEAR(sum, mean[row], 1e-5);
    }
  }
}

TEST(DenseFlops, AreThoseOfTheMatricesCountedByHand) {
  const NetworkSpec spec = dense_spec(Space::plane, 2, true, {.layers = 6, .width = 1024});
  const double first = 3 * 1024, middle = 5 * 1024.0 * 1024, last = 1024;
  EXPECT_EQ(prediction_flops(spec), 2 * (first + middle + last));
  EXPECT_EQ(training_flops(spec), 2 * (2 * first + 3 * middle + 3 * last));  // no gradient of the coordinates
}

}  // namespace
}  // namespace drift::cpu
