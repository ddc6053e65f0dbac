// Dense networks under dropout, with variational weights and with a last layer's posterior: biases and coordinates have their
// own rules.

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "drift/uncertainty.h"
#include "network/plan.h"
#include "uncertainty/last_layer_testing.h"
#include "uncertainty/uncertainty_testing.h"

namespace drift {
namespace {

using namespace uncertainty_testing;

NetworkSpec small_dense(Activation activation) {
  return dense_spec(Space::plane, 2, false, {.layers = 2, .width = 24, .activation = activation, .omega = 5.0});
}

TEST(DropoutDraws, LeaveBiasesAndCoordinatesAlone) {
  const Ensemble ensemble = draw_ensemble(small_dense(Activation::relu), 1, 1);
  const Plan plan = make_plan(ensemble.spec);
  const Ensemble draws = dropout_draws(ensemble, 0.5, 1, 3);
  const std::vector<float>& before = ensemble.members[0].parameters;
  const std::vector<float>& after = draws.members[0].parameters;
  for (const LayerPlan& layer : plan.layers) {
    std::size_t changed = 0;
    const auto weights = static_cast<std::size_t>(layer.features * layer.outputs),
               outputs = static_cast<std::size_t>(layer.outputs);
    for (std::size_t i = layer.bottleneck; i < layer.bottleneck + weights; ++i) changed += after[i] != before[i] ? 1 : 0;
    EXPECT_EQ(changed, layer.kind == FeatureKind::coordinates ? 0 : weights) << layer.name;  // dropped, or doubled
    for (std::size_t i = layer.bottleneck + weights; i < layer.bottleneck + weights + outputs; ++i) {
      ASSERT_EQ(after[i], before[i]) << layer.name << ": a bias";
    }
  }
}

TEST(VariationalWeights, OfADenseNetworkAreTrained) {
  const Observations data = observations(Space::plane, 300, 4);
  for (const Activation activation : {Activation::relu, Activation::sine}) {
    Ensemble ensemble = draw_ensemble(small_dense(activation), 1, 1);
    make_variational(ensemble, 0.01);
    const Ensemble before = ensemble;
    Recipe recipe;
    recipe.optimiser = Optimiser::adam;
    recipe.rate = 3e-3;
    recipe.noise_sd = 0.1;
    recipe.batch = 100;
    recipe.epochs = 60;
    TrainingState state;
    const auto engine = make_cpu_engine({.threads = 1});
    train(*engine, ensemble, state, data.set(), recipe);
    EXPECT_GT(elbo(*engine, ensemble, data.set(), recipe).value(), elbo(*engine, before, data.set(), recipe).value());
    const LayerPlan layer = make_plan(ensemble.spec).layers[1];
    const std::size_t bias = layer.bottleneck + static_cast<std::size_t>(layer.features * layer.outputs);
    EXPECT_NE(ensemble.members[0].log_sd[bias], before.members[0].log_sd[bias]);
  }
}

TEST(LastLayer, OfADenseNetworkHasItsBias) {
  const Observations data = observations(Space::plane, 300, 4);
  const auto engine = make_cpu_engine({.threads = 1});
  Ensemble ensemble = draw_ensemble(small_dense(Activation::relu), 1, 1);
  const auto posteriors = fit_last_layer(*engine, ensemble, data.set(), 0.1, 1);
  EXPECT_EQ(posteriors[0].inputs, 25u);
  const auto error = [&] {
    std::vector<float> mean(300);
    engine->predict(ensemble, data.set().coordinates, {.mean = {mean.data(), 300, 1}, .variance = {}, .members = {}});
    double sum = 0.0;
    for (std::size_t i = 0; i < 300; ++i) sum += std::pow(mean[i] - data.set().values(i, 0), 2);
    return sum;
  };
  const double drawn = error();
  set_last_layers(ensemble, posteriors);
  EXPECT_LT(error(), 0.8 * drawn);
}

}  // namespace
}  // namespace drift
