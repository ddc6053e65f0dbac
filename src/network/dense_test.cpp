// Dense networks as specs, plans, draws and files.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "core/scratch_folder.h"
#include "drift/ensemble.h"
#include "drift/error.h"
#include "network/draw.h"
#include "network/plan.h"

namespace drift {
namespace {

NetworkSpec relu_mlp() { return dense_spec(Space::plane, 2, true, {.layers = 6, .width = 1024}); }
NetworkSpec fourier() { return dense_spec(Space::plane, 2, true, {.layers = 2, .width = 512, .input = DenseInput::fourier}); }
NetworkSpec siren(Space space) {
  return dense_spec(space, space == Space::plane ? 2 : 3, true, {.layers = 4, .width = 512, .activation = Activation::sine});
}

std::size_t trained(const Plan& plan) {
  std::size_t sum = 0;
  for (const TensorInfo& tensor : plan.parameter_tensors) sum += tensor.offset < plan.hyper ? tensor.size() : 0;
  return sum;
}

TEST(DensePlan, HasTheParametersCountedByHand) {
  // 3 coordinates -> 1024, five times 1024 -> 1024, 1024 -> 1, each with its biases.
  EXPECT_EQ(trained(make_plan(relu_mlp())), 4u * 1024 + 5u * 1025 * 1024 + 1025);
  // 512 cosines -> 512 -> 512 -> 1.
  EXPECT_EQ(trained(make_plan(fourier())), 2u * 513 * 512 + 513);
  // A unit vector and time -> 512, three times 512 -> 512, 512 -> 1.
  EXPECT_EQ(trained(make_plan(siren(Space::sphere))), 5u * 512 + 3u * 513 * 512 + 513);
  NetworkSpec no_bias = siren(Space::plane);
  no_bias.dense->bias = false;
  EXPECT_EQ(trained(make_plan(no_bias)), 3u * 512 + 3u * 512 * 512 + 512);
}

TEST(DensePlan, IsOneChainFromTheInputToTheOutput) {
  const Plan plan = make_plan(siren(Space::plane));
  ASSERT_EQ(plan.layers.size(), 5u);
  EXPECT_FALSE(plan.has_head);
  EXPECT_TRUE(plan.hyperparameters.empty());
  EXPECT_EQ(plan.fixed_size, 0u);
  EXPECT_EQ(plan.layers[0].kind, FeatureKind::coordinates);
  EXPECT_EQ(plan.layers[0].features, 3);
  for (int i = 1; i < 5; ++i) {
    const LayerPlan& layer = plan.layers[static_cast<std::size_t>(i)];
    EXPECT_EQ(layer.kind, FeatureKind::sine);
    EXPECT_EQ(layer.hidden, 512);
    EXPECT_EQ(layer.features, 512);
    EXPECT_EQ(layer.next, i < 4 ? i + 1 : kOutput);
    EXPECT_EQ(layer.divisor, 1.0);
  }
}

TEST(DensePlan, GivesFourierInputsTheirHyperparameters) {
  NetworkSpec spec = fourier();
  spec.spatial.lengthscales = {0.2, 0.4};
  spec.temporal.lengthscales = {3.0};
  const Plan plan = make_plan(spec);
  EXPECT_EQ(plan.layers[0].kind, FeatureKind::random);
  EXPECT_EQ(plan.layers[0].coordinates, 3);
  EXPECT_EQ(plan.coordinate_lengthscale, (std::vector{0, 1, 2}));
  EXPECT_EQ(plan.hyperparameters[2].value, 3.0);
  EXPECT_EQ(plan.hyperparameters.at(static_cast<std::size_t>(plan.layers[0].amplitude)).name, "spatial.amplitude");
  const Plan sphere = make_plan(dense_spec(Space::sphere, 3, false, {.input = DenseInput::fourier}));
  EXPECT_FALSE(sphere.layers[0].sphere) << "the unit vector's entries are plain coordinates here";
  EXPECT_TRUE(sphere.unit_vector);
  EXPECT_EQ(sphere.coordinate_lengthscale, (std::vector{0, 0, 0}));
}

TEST(DenseSpec, SurvivesTheWayThroughJson) {
  NetworkSpec spec = siren(Space::sphere);
  spec.dense->omega = 12.5;
  spec.dense->bias = false;
  for (const NetworkSpec& each : {spec, relu_mlp(), fourier()}) EXPECT_EQ(network_spec_from_json(to_json(each)), each);
}

TEST(DenseSpec, LeavesTheJsonOfOtherNetworksAsItWas) {
  const std::string text = to_json(default_spec(Space::plane, 2, true));
  EXPECT_EQ(text.find("dense"), std::string::npos);
  EXPECT_FALSE(network_spec_from_json(text).dense);
}

TEST(DenseSpec, IsReadStrictly) {
  std::string text = to_json(relu_mlp());
  text.replace(text.find("\"width\""), 7, "\"widht\"");
  EXPECT_THROW(
      {
        try {
          network_spec_from_json(text);
        } catch (const Error& error) {
          EXPECT_STREQ(error.what(), "network spec: unknown key \"dense.widht\"; did you mean 'width'?");
          throw;
        }
      },
      Error);
}

TEST(DenseSpec, RefusesWhatCannotBe) {
  const auto message = [](const std::function<void(NetworkSpec&)>& change) -> std::string {
    NetworkSpec spec = relu_mlp();
    change(spec);
    try {
      check(spec);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message([](NetworkSpec&) {}), "");
  EXPECT_EQ(message([](NetworkSpec& s) { s.dense->layers = 0; }), "dense.layers is 0 but must be between 1 and 1000");
  EXPECT_EQ(message([](NetworkSpec& s) { s.dense->width = 0; }), "dense.width is 0 but must be between 1 and 100000");
  EXPECT_EQ(message([](NetworkSpec& s) { s.dense->omega = 0; }), "dense.omega is 0 but must be between 1e-09 and 1000000000");
  EXPECT_EQ(message([](NetworkSpec& s) { s.spatial.layers = 2; }), "spatial.layers is 2 but must be between 0 and 1");
  EXPECT_EQ(message([](NetworkSpec& s) { s.joint.layers = 1; }), "joint.layers is 1 but must be between 0 and 0");
}

// Bounds and variance of a uniform distribution, from its entries.
void expect_uniform(const float* entries, std::size_t count, double bound) {
  double largest = 0, squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(entries[i])));
    squares += static_cast<double>(entries[i]) * entries[i] / static_cast<double>(count);
  }
  EXPECT_LE(largest, bound * (1 + 1e-6));
  EXPECT_NEAR(squares / (bound * bound / 3), 1.0, 5 / std::sqrt(static_cast<double>(count)));
}

TEST(DenseDraw, FollowsHeAndSitzmann) {
  const Plan relu = make_plan(relu_mlp());
  const Member mlp = draw_member(relu, 3, 0);
  expect_uniform(mlp.parameters.data() + relu.layers[0].bottleneck, 3 * 1024, 1.0);
  expect_uniform(mlp.parameters.data() + relu.layers[0].bottleneck + 3 * 1024, 1024, 1 / std::sqrt(3.0));
  expect_uniform(mlp.parameters.data() + relu.layers[2].bottleneck, 1024 * 1024, std::sqrt(6.0 / 1024));
  const Plan sine = make_plan(siren(Space::plane));
  const Member network = draw_member(sine, 3, 0);
  expect_uniform(network.parameters.data() + sine.layers[0].bottleneck, 3 * 512, 1.0 / 3);
  expect_uniform(network.parameters.data() + sine.layers[1].bottleneck, 512 * 512, std::sqrt(6.0 / 512) / 30);
  expect_uniform(network.parameters.data() + sine.layers[4].bottleneck, 512, std::sqrt(6.0 / 512) / 30);
}

TEST(DenseDraw, DiffersByMemberAndLayerAndRepeatsItself) {
  const Plan plan = make_plan(siren(Space::plane));
  const Member a = draw_member(plan, 7, 0);
  EXPECT_EQ(draw_member(plan, 7, 0).parameters, a.parameters);
  EXPECT_NE(draw_member(plan, 7, 1).parameters, a.parameters);
  EXPECT_NE(a.parameters[plan.layers[1].bottleneck], a.parameters[plan.layers[2].bottleneck]);
}

TEST(DenseModelFile, ComesBackAsItWas) {
  const ScratchFolder folder;
  for (NetworkSpec spec : {relu_mlp(), fourier(), siren(Space::sphere)}) {
    spec.dense->width = 20;
    spec.features = 30;
    Ensemble ensemble = draw_ensemble(spec, 5, 2);
    for (const bool variational : {false, true}) {
      if (variational) {
        for (Member& member : ensemble.members) member.log_sd.assign(member.parameters.size(), 0.0F);
        const LayerPlan layer = make_plan(spec).layers[1];
        ensemble.members[1].log_sd[layer.bottleneck + static_cast<std::size_t>(layer.features * layer.outputs)] =
            -2.0F;  // a bias's
      }
      save_model(folder / "model", ensemble);
      const Ensemble read = load_model(folder / "model").ensemble;
      EXPECT_EQ(read.spec, spec);
      for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(read.members[i].fixed, ensemble.members[i].fixed);
        EXPECT_EQ(read.members[i].parameters, ensemble.members[i].parameters);
        EXPECT_EQ(read.members[i].log_sd, ensemble.members[i].log_sd);
      }
    }
  }
}

}  // namespace
}  // namespace drift
