#include "network/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "drift/error.h"

namespace drift {
namespace {

using Shape = std::vector<std::size_t>;

std::vector<std::string> names(const std::vector<TensorInfo>& tensors) {
  std::vector<std::string> result;
  for (const TensorInfo& tensor : tensors) result.push_back(tensor.name);
  return result;
}

std::vector<std::string> names(const std::vector<Hyperparameter>& hyperparameters) {
  std::vector<std::string> result;
  for (const Hyperparameter& hyperparameter : hyperparameters) result.push_back(hyperparameter.name);
  return result;
}

double value(const Plan& plan, int index) { return plan.hyperparameters.at(static_cast<std::size_t>(index)).value; }
std::string name(const Plan& plan, int index) { return plan.hyperparameters.at(static_cast<std::size_t>(index)).name; }

NetworkSpec small(Space space, int spatial, int temporal, int joint, bool skip) {
  NetworkSpec spec;
  spec.space = space;
  spec.space_coordinates = space == Space::sphere ? 3 : 2;
  spec.spatial.layers = spatial;
  spec.temporal.layers = temporal;
  spec.joint.layers = joint;
  spec.features = 10;
  spec.bottleneck = 3;
  spec.outputs = 2;
  spec.skip = skip;
  spec.frequencies = Frequencies::orthogonal;
  return spec;
}

NetworkSpec space_time(Space space, int layers, bool skip) {
  NetworkSpec spec = small(space, layers, 1, 0, skip);
  spec.coupling = Coupling::product;
  return spec;
}

// Every network of up to four layers a chain that can be.
std::vector<NetworkSpec> many_specs() {
  std::vector<NetworkSpec> specs;
  for (const Space space : {Space::plane, Space::sphere}) {
    for (const bool skip : {false, true}) {
      for (int spatial = 0; spatial <= 4; ++spatial) {
        for (int temporal = 0; temporal <= 4; ++temporal) {
          if (spatial + temporal == 0) continue;
          for (int joint = 0; joint <= (spatial > 0 && temporal > 0 ? 4 : 0); ++joint) {
            specs.push_back(small(space, spatial, temporal, joint, skip));
          }
        }
        if (spatial > 0) specs.push_back(space_time(space, spatial, skip));
      }
    }
  }
  return specs;
}

// Tensors lie apart, in order, on cache lines, within the array.
void expect_good_layout(const std::vector<TensorInfo>& tensors, std::size_t size) {
  std::size_t end = 0;
  std::set<std::string> seen;
  for (const TensorInfo& tensor : tensors) {
    EXPECT_TRUE(seen.insert(tensor.name).second) << tensor.name;
    EXPECT_EQ(tensor.offset % 16, 0u) << tensor.name;
    EXPECT_GE(tensor.offset, end) << tensor.name;
    EXPECT_LT(tensor.offset, end + 16) << tensor.name;
    EXPECT_GT(tensor.size(), 0u) << tensor.name;
    end = tensor.offset + tensor.size();
  }
  EXPECT_GE(size, end);
  EXPECT_LT(size, end + 16);
}

void expect_tensor(const std::vector<TensorInfo>& tensors, const std::string& wanted, bool exists, std::size_t offset,
                   const Shape& shape) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const TensorInfo& tensor) { return tensor.name == wanted; });
  ASSERT_EQ(found != tensors.end(), exists) << wanted;
  if (!exists) return;
  EXPECT_EQ(found->offset, offset) << wanted;
  EXPECT_EQ(found->shape, shape) << wanted;
}

void expect_tensors_of(const Plan& plan, const LayerPlan& layer) {
  const auto count = [](int number) { return static_cast<std::size_t>(number); };
  const std::size_t features = count(layer.features);
  const auto fixed = [&](const char* what, bool exists, std::size_t offset, const Shape& shape) {
    expect_tensor(plan.fixed_tensors, layer.name + "." + what, exists, offset, shape);
  };
  fixed("hidden_frequencies", layer.hidden > 0, layer.hidden_frequencies, {count(layer.hidden), features});
  fixed("coordinate_frequencies", layer.coordinates > 0, layer.coordinate_frequencies, {count(layer.coordinates), features});
  fixed("phases", layer.planar(), layer.phases, {features});
  fixed("degrees", layer.sphere, layer.degrees, {features});
  fixed("poles", layer.sphere, layer.poles, {3, features});
  expect_tensor(plan.parameter_tensors, layer.name + ".bottleneck", true, layer.bottleneck, {features, count(layer.outputs)});
}

// Each column of each layer's hidden input, of the head's input and of the output is written by exactly one layer before.
void expect_well_connected(const Plan& plan) {
  std::map<int, std::vector<int>> writers;
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    if (plan.layers[i].hidden > 0) writers[static_cast<int>(i)].assign(static_cast<std::size_t>(plan.layers[i].hidden), 0);
  }
  const int end = plan.has_head ? kHead : kOutput;
  writers[end].assign(static_cast<std::size_t>(plan.inputs_of(end)), 0);
  for (std::size_t i = 0; i < plan.layers.size(); ++i) {
    const LayerPlan& layer = plan.layers[i];
    ASSERT_TRUE(writers.contains(layer.next)) << layer.name;
    EXPECT_TRUE(layer.next < 0 || layer.next > static_cast<int>(i)) << layer.name;
    std::vector<int>& columns = writers[layer.next];
    EXPECT_EQ(static_cast<int>(columns.size()), plan.inputs_of(layer.next));
    for (int column = 0; column < layer.outputs; ++column) ++columns.at(static_cast<std::size_t>(layer.next_column + column));
  }
  for (const auto& [next, columns] : writers) {
    for (const int count : columns) EXPECT_EQ(count, 1) << "input of " << next;
  }
}

// Every hyperparameter serves some layer, and every part of a layer has its own.
void expect_hyperparameters_used(const Plan& plan) {
  std::set<int> used;
  for (const LayerPlan& layer : plan.layers) {
    EXPECT_EQ(layer.amplitude != kNone, layer.planar()) << layer.name;
    EXPECT_EQ(layer.hidden_lengthscale != kNone, layer.hidden > 0) << layer.name;
    EXPECT_EQ(layer.sphere_amplitude != kNone, layer.sphere) << layer.name;
    EXPECT_EQ(layer.sphere_lengthscale != kNone, layer.sphere) << layer.name;
    if (layer.hidden > 0) {
      EXPECT_DOUBLE_EQ(value(plan, layer.hidden_lengthscale), std::sqrt(layer.hidden)) << layer.name;
    }
    used.insert({layer.amplitude, layer.hidden_lengthscale, layer.sphere_amplitude, layer.sphere_lengthscale});
    for (int i = 0; i < layer.coordinates; ++i) {
      const int lengthscale = plan.coordinate_lengthscale.at(static_cast<std::size_t>(layer.first_coordinate + i));
      EXPECT_NE(lengthscale, kNone) << layer.name;
      used.insert(lengthscale);
    }
  }
  used.erase(kNone);
  EXPECT_EQ(used.size(), plan.hyperparameters.size());
}

TEST(Plan, HoldsTogetherForEveryNetworkOfUpToFourLayersAChain) {
  for (const NetworkSpec& spec : many_specs()) {
    SCOPED_TRACE(to_json(spec));
    const Plan plan = make_plan(spec);
    const int temporal = spec.coupling == Coupling::product ? 0 : spec.temporal.layers;
    ASSERT_EQ(static_cast<int>(plan.layers.size()), spec.spatial.layers + temporal + spec.joint.layers);
    EXPECT_EQ(plan.coordinates, spec.coordinates());
    EXPECT_EQ(static_cast<int>(plan.coordinate_lengthscale.size()), plan.coordinates);
    expect_good_layout(plan.fixed_tensors, plan.fixed_size);
    expect_good_layout(plan.parameter_tensors, plan.parameter_size);
    for (const LayerPlan& layer : plan.layers) expect_tensors_of(plan, layer);
    expect_tensor(plan.parameter_tensors, "head", plan.has_head, plan.head, {6, 2});
    expect_tensor(plan.parameter_tensors, "hyper", true, plan.hyper, {plan.hyperparameters.size()});
    expect_well_connected(plan);
    expect_hyperparameters_used(plan);
  }
}

TEST(Plan, ShowsSkippedCoordinatesToEveryLayerOfTheirChainAndToTheFirstAloneWithout) {
  for (const NetworkSpec& spec : many_specs()) {
    SCOPED_TRACE(to_json(spec));
    const Plan plan = make_plan(spec);
    const bool product = spec.coupling == Coupling::product;
    const bool on_sphere = spec.space == Space::sphere && !product;
    const int time = spec.spatial.layers > 0 ? spec.space_coordinates : 0;  // its place among the coordinates
    for (const LayerPlan& layer : plan.layers) {
      const bool first = layer.position == 0 && layer.chain != ChainId::joint;
      EXPECT_EQ(layer.hidden == 0, first);
      const bool sees = first || spec.skip;
      const bool space = sees && layer.chain != ChainId::temporal;
      EXPECT_EQ(layer.sphere, space && on_sphere) << layer.name;
      std::set<int> wanted;
      if (space && !on_sphere) wanted.insert({0, 1, spec.space_coordinates - 1});
      if (sees && (product || layer.chain != ChainId::spatial)) wanted.insert(time);
      std::set<int> seen;
      for (int i = 0; i < layer.coordinates; ++i) seen.insert(layer.first_coordinate + i);
      EXPECT_EQ(seen, wanted) << layer.name;
      EXPECT_EQ(layer.separate_time, product && sees) << layer.name;
    }
  }
}

TEST(Plan, HasOneChainForSpaceAndTimeInProductCoupling) {
  NetworkSpec spec = default_spec(Space::sphere, 3, true);
  spec.spatial.layers = 2;
  spec.spatial.lengthscales = {0.4};
  spec.temporal.lengthscales = {2.5};
  spec.temporal.covariance.nu = 0.5;
  const Plan plan = make_plan(spec);
  EXPECT_FALSE(plan.has_head);
  EXPECT_TRUE(plan.unit_vector);
  EXPECT_EQ(names(plan.fixed_tensors),
            (std::vector<std::string>{"spatial.0.coordinate_frequencies", "spatial.0.phases", "spatial.1.hidden_signs",
                                      "spatial.1.hidden_lengths", "spatial.1.coordinate_frequencies", "spatial.1.phases"}));
  EXPECT_EQ(names(plan.parameter_tensors), (std::vector<std::string>{"spatial.0.bottleneck", "spatial.1.bottleneck", "hyper"}));
  EXPECT_EQ(names(plan.hyperparameters),
            (std::vector<std::string>{"spatial.lengthscale.0", "spatial.hidden_lengthscale", "spatial.amplitude",
                                      "spatial.hidden_amplitude", "temporal.lengthscale.0"}));
  for (const std::size_t i : {0, 1, 2}) EXPECT_EQ(value(plan, plan.coordinate_lengthscale[i]), 0.4);
  EXPECT_EQ(value(plan, plan.coordinate_lengthscale[3]), 2.5);
  for (const LayerPlan& layer : plan.layers) {
    EXPECT_EQ(layer.coordinates, 4);
    EXPECT_EQ(layer.time_covariance.nu, 0.5);
    EXPECT_EQ(layer.covariance.nu, 1.5);
  }
  EXPECT_EQ(plan.layers[1].next, kOutput);
  EXPECT_FALSE(make_plan(default_spec(Space::plane, 2, true)).unit_vector);
}

TEST(Plan, LaysOutTheAdditivePlaneAsDocumented) {
  NetworkSpec spec = default_spec(Space::plane, 2, true);
  spec.coupling = Coupling::additive;
  const Plan plan = make_plan(spec);
  ASSERT_EQ(plan.layers.size(), 5u);
  EXPECT_EQ(plan.layers[0].name, "spatial.0");
  EXPECT_EQ(plan.layers[4].name, "temporal.0");
  EXPECT_EQ(plan.layers[3].next, kHead);
  EXPECT_EQ(plan.layers[3].next_column, 0);
  EXPECT_EQ(plan.layers[4].next, kHead);
  EXPECT_EQ(plan.layers[4].next_column, 128);
  EXPECT_TRUE(plan.has_head);
  EXPECT_EQ(plan.head_inputs, 256);
  EXPECT_DOUBLE_EQ(plan.head_scale, 1.0 / 16.0);
  EXPECT_EQ(
      names(plan.fixed_tensors),
      (std::vector<std::string>{
          "spatial.0.coordinate_frequencies", "spatial.0.phases", "spatial.1.hidden_signs", "spatial.1.hidden_lengths",
          "spatial.1.coordinate_frequencies", "spatial.1.phases", "spatial.2.hidden_signs", "spatial.2.hidden_lengths",
          "spatial.2.coordinate_frequencies", "spatial.2.phases", "spatial.3.hidden_signs", "spatial.3.hidden_lengths",
          "spatial.3.coordinate_frequencies", "spatial.3.phases", "temporal.0.coordinate_frequencies", "temporal.0.phases"}));
  EXPECT_EQ(names(plan.parameter_tensors),
            (std::vector<std::string>{"spatial.0.bottleneck", "spatial.1.bottleneck", "spatial.2.bottleneck",
                                      "spatial.3.bottleneck", "temporal.0.bottleneck", "head", "hyper"}));
  EXPECT_EQ(names(plan.hyperparameters),
            (std::vector<std::string>{"spatial.lengthscale.0", "spatial.hidden_lengthscale", "spatial.amplitude",
                                      "spatial.hidden_amplitude", "temporal.lengthscale.0", "temporal.amplitude"}));
  EXPECT_EQ(name(plan, plan.layers[0].amplitude), "spatial.amplitude");
  EXPECT_EQ(name(plan, plan.layers[1].amplitude), "spatial.hidden_amplitude");
  EXPECT_EQ(name(plan, plan.layers[4].amplitude), "temporal.amplitude");
  EXPECT_EQ(plan.layers[1].hidden_lengthscale, plan.layers[3].hidden_lengthscale);
  for (const Hyperparameter& hyperparameter : plan.hyperparameters) {
    EXPECT_EQ(hyperparameter.is_lengthscale, hyperparameter.name.find("lengthscale") != std::string::npos);
  }
}

TEST(Plan, GivesEachCoordinateItsOwnLengthscaleWhereThereIsOneEach) {
  NetworkSpec spec = default_spec(Space::plane, 2, true);
  spec.spatial.lengthscales = {0.1, 0.4};
  spec.temporal.lengthscales = {2.5};
  const Plan plan = make_plan(spec);
  ASSERT_EQ(plan.coordinate_lengthscale.size(), 3u);
  EXPECT_EQ(value(plan, plan.coordinate_lengthscale[0]), 0.1);
  EXPECT_EQ(value(plan, plan.coordinate_lengthscale[1]), 0.4);
  EXPECT_EQ(value(plan, plan.coordinate_lengthscale[2]), 2.5);
  EXPECT_EQ(name(plan, plan.coordinate_lengthscale[1]), "spatial.lengthscale.1");

  spec.spatial.lengthscales = {0.3};
  const Plan shared = make_plan(spec);
  EXPECT_EQ(shared.coordinate_lengthscale[0], shared.coordinate_lengthscale[1]);
  EXPECT_EQ(value(shared, shared.coordinate_lengthscale[1]), 0.3);
}

TEST(Plan, AddsTheSphereToLaterLayersWithTheSpatialChainsSettings) {
  NetworkSpec spec = small(Space::sphere, 3, 1, 2, true);
  spec.spatial.covariance = {Family::squared_exponential, 1.5};
  spec.spatial.hidden_covariance = {Family::matern, 2.5};
  spec.spatial.lengthscales = {0.07};
  spec.spatial.amplitude = 0.6;
  spec.spatial.hidden_amplitude = 0.9;
  spec.joint.hidden_covariance = {Family::matern, 0.5};
  spec.joint.hidden_amplitude = 1.7;
  const Plan plan = make_plan(spec);
  EXPECT_FALSE(plan.layers[0].planar());
  EXPECT_FALSE(plan.layers[3].sphere) << "time has no sphere";
  for (const std::size_t i : {0, 1, 2, 4, 5}) {
    const LayerPlan& layer = plan.layers[i];
    EXPECT_TRUE(layer.sphere) << layer.name;
    EXPECT_EQ(layer.sphere_covariance, spec.spatial.covariance) << layer.name;
    EXPECT_EQ(name(plan, layer.sphere_lengthscale), "spatial.lengthscale.0");
    EXPECT_EQ(value(plan, layer.sphere_lengthscale), 0.07);
    EXPECT_EQ(value(plan, layer.sphere_amplitude), 0.6);
  }
  EXPECT_EQ(plan.layers[2].covariance, spec.spatial.hidden_covariance);
  EXPECT_EQ(value(plan, plan.layers[2].amplitude), 0.9);
  EXPECT_EQ(plan.layers[5].covariance, spec.joint.hidden_covariance);
  EXPECT_EQ(value(plan, plan.layers[5].amplitude), 1.7);
  EXPECT_EQ(plan.layers[4].first_coordinate, 3);
  EXPECT_EQ(plan.layers[4].coordinates, 1) << "time is concatenated, the sphere is not";
  EXPECT_EQ(plan.coordinate_lengthscale[0], kNone);
  EXPECT_EQ(plan.coordinate_lengthscale[2], kNone);
  EXPECT_EQ(name(plan, plan.coordinate_lengthscale[3]), "temporal.lengthscale.0");
}

TEST(Plan, JoinsBothChainsInTheFirstJointLayerWhoseLengthscaleIsItsOwn) {
  NetworkSpec spec = small(Space::plane, 2, 1, 3, true);
  spec.joint.hidden_lengthscale = 0.5;
  const Plan plan = make_plan(spec);
  EXPECT_FALSE(plan.has_head);
  EXPECT_EQ(plan.layers[1].next, 3);
  EXPECT_EQ(plan.layers[1].next_column, 0);
  EXPECT_EQ(plan.layers[2].next, 3);
  EXPECT_EQ(plan.layers[2].next_column, 3);
  EXPECT_EQ(plan.layers[3].hidden, 6);
  EXPECT_EQ(plan.layers[4].hidden, 3);
  EXPECT_EQ(plan.layers[5].outputs, 2);
  EXPECT_EQ(plan.layers[5].next, kOutput);
  EXPECT_EQ(name(plan, plan.layers[3].hidden_lengthscale), "joint.0.hidden_lengthscale");
  EXPECT_DOUBLE_EQ(value(plan, plan.layers[3].hidden_lengthscale), 0.5 * std::sqrt(6.0));
  EXPECT_EQ(name(plan, plan.layers[4].hidden_lengthscale), "joint.hidden_lengthscale");
  EXPECT_DOUBLE_EQ(value(plan, plan.layers[4].hidden_lengthscale), 0.5 * std::sqrt(3.0));
  EXPECT_EQ(plan.layers[4].hidden_lengthscale, plan.layers[5].hidden_lengthscale);
  EXPECT_EQ(plan.layers[3].first_coordinate, 0);
  EXPECT_EQ(plan.layers[3].coordinates, 3);
}

TEST(Plan, EndsAChainThatStandsAloneInTheOutputs) {
  for (const NetworkSpec& spec : {small(Space::plane, 3, 0, 0, true), small(Space::plane, 0, 2, 0, true)}) {
    const Plan plan = make_plan(spec);
    EXPECT_FALSE(plan.has_head);
    EXPECT_EQ(plan.layers.back().outputs, 2);
    EXPECT_EQ(plan.layers.back().next, kOutput);
    EXPECT_EQ(plan.layers.front().outputs, 3);
  }
}

TEST(Plan, TakesTheHeadsScaleFromTheSpecWhereGiven) {
  NetworkSpec spec = small(Space::plane, 1, 1, 0, true);
  EXPECT_DOUBLE_EQ(make_plan(spec).head_scale, 1.0 / std::sqrt(6.0));
  spec.head_scale = 0.25;
  EXPECT_EQ(make_plan(spec).head_scale, 0.25);
}

TEST(Plan, OfThePaperHasOneLengthscaleAndOneAmplitudeEverywhere) {
  for (double lengthscale = 1e-5; lengthscale < 100.0; lengthscale *= 1.0373) {
    const double time_lengthscale = 3.0 / lengthscale;
    const Plan plan = make_plan(paper_spec(lengthscale, time_lengthscale, 0.37));
    EXPECT_EQ(plan.head_scale, 1.0);
    EXPECT_EQ(value(plan, plan.coordinate_lengthscale[0]), lengthscale);
    EXPECT_EQ(value(plan, plan.coordinate_lengthscale[1]), lengthscale);
    EXPECT_EQ(value(plan, plan.coordinate_lengthscale[2]), time_lengthscale);
    for (const LayerPlan& layer : plan.layers) {
      EXPECT_EQ(layer.covariance, (Covariance{Family::matern, 1.5}));
      EXPECT_EQ(value(plan, layer.amplitude), 0.37);
      if (layer.hidden == 0) continue;
      // Divided by sqrt(128) in the spec and multiplied again here: two roundings of half a unit in the last place.
      EXPECT_NEAR(value(plan, layer.hidden_lengthscale) / lengthscale, 1.0, std::numeric_limits<double>::epsilon());
    }
  }
}

TEST(Plan, RefusesANetworkTooLargeForAnyMachine) {
  NetworkSpec spec = small(Space::plane, 1000, 1000, 1000, true);
  spec.features = 1'000'000;
  spec.bottleneck = 100'000;
  try {
    make_plan(spec);
    FAIL() << "it was laid out";
  } catch (const UsageError& error) {
    EXPECT_EQ(std::string(error.what()),
              "the network is too large: with spatial.0.bottleneck a member needs more than 32 GiB; lower features (1000000), "
              "bottleneck (100000) or the layers");
  }
}

TEST(Plan, ChecksTheSpecFirst) {
  NetworkSpec spec = small(Space::plane, 1, 0, 0, true);
  spec.features = 0;
  EXPECT_THROW(make_plan(spec), UsageError);
}

TEST(MakePlan, KeepsSignsAndLengthsInPlaceOfStructuredFrequencies) {
  NetworkSpec spec = small(Space::plane, 2, 1, 0, true);  // 10 features, 3 entries: blocks of 4
  spec.frequencies = Frequencies::structured;
  const Plan plan = make_plan(spec);
  EXPECT_FALSE(plan.layers[0].structured);  // it sees coordinates only
  ASSERT_TRUE(plan.layers[1].structured);
  const auto shape = [&](const std::string& name) {
    for (const TensorInfo& tensor : plan.fixed_tensors) {
      if (tensor.name == name) return tensor.shape;
    }
    return std::vector<std::size_t>{};
  };
  EXPECT_EQ(shape("spatial.1.hidden_signs"), (std::vector<std::size_t>{3 * 3, 4}));
  EXPECT_EQ(shape("spatial.1.hidden_lengths"), (std::vector<std::size_t>{3 * 4}));
  EXPECT_EQ(shape("spatial.1.coordinate_frequencies"), (std::vector<std::size_t>{2, 10}));
  EXPECT_TRUE(shape("spatial.1.hidden_frequencies").empty());
}

}  // namespace
}  // namespace drift
