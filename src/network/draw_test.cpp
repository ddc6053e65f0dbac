#include "network/draw.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "drift/error.h"
#include "features/fourier.h"

namespace drift {
namespace {

NetworkSpec small(Space space) {
  NetworkSpec spec = default_spec(space, space == Space::sphere ? 3 : 2, true);
  spec.coupling = Coupling::additive;
  spec.spatial.layers = 2;
  spec.features = 30;
  spec.bottleneck = 5;
  spec.frequencies = Frequencies::orthogonal;
  return spec;
}

std::span<const float> numbers(const std::vector<float>& all, const std::vector<TensorInfo>& tensors, std::string_view name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [&](const TensorInfo& tensor) { return tensor.name == name; });
  EXPECT_NE(found, tensors.end()) << name;
  return {all.data() + found->offset, found->size()};
}

bool same(std::span<const float> a, std::span<const float> b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

TEST(DrawEnsemble, GivesAMemberTheSameWeightsHoweverManyThereAre) {
  for (const Space space : {Space::plane, Space::sphere}) {
    const Ensemble four = draw_ensemble(small(space), 7, 4);
    const Ensemble ten = draw_ensemble(small(space), 7, 10);
    const Member alone = draw_member(make_plan(small(space)), 7, 3);
    ASSERT_EQ(ten.members.size(), 10u);
    EXPECT_EQ(ten.members[9].index, 9u);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(four.members[i].index, ten.members[i].index);
      EXPECT_EQ(four.members[i].fixed, ten.members[i].fixed);
      EXPECT_EQ(four.members[i].parameters, ten.members[i].parameters);
    }
    EXPECT_EQ(alone.fixed, ten.members[3].fixed);
    EXPECT_EQ(alone.parameters, ten.members[3].parameters);
  }
}

TEST(DrawEnsemble, KeepsTheSpecAndTheSeed) {
  const Ensemble ensemble = draw_ensemble(small(Space::sphere), 12345678901234567ull, 1);
  EXPECT_EQ(ensemble.spec, small(Space::sphere));
  EXPECT_EQ(ensemble.seed, 12345678901234567ull);
}

TEST(DrawEnsemble, DrawsMembersLayersAndSeedsApart) {
  NetworkSpec spec = small(Space::plane);
  spec.spatial.layers = 3;
  const Plan plan = make_plan(spec);
  const Member a = draw_member(plan, 7, 0);
  const Member b = draw_member(plan, 7, 1);
  const Member c = draw_member(plan, 8, 0);
  for (const TensorInfo& tensor : plan.fixed_tensors) {
    const auto of = [&](const Member& member) { return numbers(member.fixed, plan.fixed_tensors, tensor.name); };
    EXPECT_FALSE(same(of(a), of(b))) << tensor.name;
    EXPECT_FALSE(same(of(a), of(c))) << tensor.name;
  }
  for (const TensorInfo& tensor : plan.parameter_tensors) {
    if (tensor.name == "hyper") continue;
    const auto of = [&](const Member& member) { return numbers(member.parameters, plan.parameter_tensors, tensor.name); };
    EXPECT_FALSE(same(of(a), of(b))) << tensor.name;
    EXPECT_FALSE(same(of(a), of(c))) << tensor.name;
  }
  for (const char* what : {"hidden_frequencies", "coordinate_frequencies", "phases"}) {
    const auto of = [&](const std::string& layer) { return numbers(a.fixed, plan.fixed_tensors, layer + "." + what); };
    EXPECT_FALSE(same(of("spatial.1"), of("spatial.2"))) << what;
  }
  const auto bottleneck = [&](const std::string& layer) {
    return numbers(a.parameters, plan.parameter_tensors, layer + ".bottleneck");
  };
  EXPECT_FALSE(same(bottleneck("spatial.0"), bottleneck("spatial.1")));
  EXPECT_FALSE(same(bottleneck("spatial.2").first(10), numbers(a.parameters, plan.parameter_tensors, "head").first(10)));
}

TEST(DrawEnsemble, DrawsHiddenEntriesAndCoordinatesAsOneInput) {
  const NetworkSpec spec = small(Space::plane);
  const Plan plan = make_plan(spec);
  const Member member = draw_member(plan, 7, 2);
  const LayerPlan& layer = plan.layers[1];
  const std::size_t features = 30;
  std::vector<float> frequencies((5 + 2) * features);
  std::vector<float> phases(features);
  RandomKey key;
  key.seed = 7;
  key.member = 2;
  key.layer = 1;
  draw_fourier({layer.covariance, spec.frequencies, key}, {frequencies.data(), 7, features}, phases);
  EXPECT_TRUE(same(numbers(member.fixed, plan.fixed_tensors, "spatial.1.hidden_frequencies"),
                   std::span(frequencies).first(5 * features)));
  EXPECT_TRUE(same(numbers(member.fixed, plan.fixed_tensors, "spatial.1.coordinate_frequencies"),
                   std::span(frequencies).last(2 * features)));
  EXPECT_TRUE(same(numbers(member.fixed, plan.fixed_tensors, "spatial.1.phases"), phases));
}

// One chi-squared divisor for hidden entries and position, another for time; no number of the two draws is the same.
TEST(DrawEnsemble, DrawsTimeApartInProductCoupling) {
  NetworkSpec additive = small(Space::plane), product = additive;
  product.coupling = Coupling::product;
  product.temporal.covariance = {Family::matern, 0.5};
  for (const Frequencies frequencies : {Frequencies::orthogonal, Frequencies::structured}) {
    additive.frequencies = product.frequencies = frequencies;
    const Plan plan = make_plan(product), without = make_plan(additive);
    const Member member = draw_member(plan, 7, 2), other = draw_member(without, 7, 2);
    for (const std::string layer : {"spatial.0", "spatial.1"}) {
      const auto all = numbers(member.fixed, plan.fixed_tensors, layer + ".coordinate_frequencies");
      EXPECT_TRUE(same(all.first(60), numbers(other.fixed, without.fixed_tensors, layer + ".coordinate_frequencies")));
      std::vector<float> time(30);
      RandomKey key{.seed = 7, .member = 2, .layer = static_cast<std::uint16_t>(0x8000 + (layer == "spatial.0" ? 0 : 1))};
      draw_frequencies({product.temporal.covariance, Frequencies::independent, key}, {time.data(), 1, 30});
      EXPECT_TRUE(same(all.last(30), time)) << layer;
    }
  }
}

TEST(DrawEnsemble, DrawsDegreesWithinTheSpectrumAndUnitPoles) {
  const Plan plan = make_plan(small(Space::sphere));
  const Member member = draw_member(plan, 1, 0);
  const int max_degree = sphere_spectrum(plan).max_degree();
  ASSERT_GT(max_degree, 10);
  for (const std::string layer : {"spatial.0", "spatial.1"}) {
    for (const float degree : numbers(member.fixed, plan.fixed_tensors, layer + ".degrees")) {
      EXPECT_GE(degree, 0.0f);
      EXPECT_LE(degree, static_cast<float>(max_degree));
      EXPECT_EQ(degree, std::floor(degree));
    }
    const auto poles = numbers(member.fixed, plan.fixed_tensors, layer + ".poles");
    for (std::size_t i = 0; i < 30; ++i) EXPECT_NEAR(std::hypot(poles[i], poles[30 + i], poles[60 + i]), 1.0, 1e-6);
  }
}

TEST(DrawEnsemble, LeavesHyperparametersAndGapsAtZero) {
  for (const Space space : {Space::plane, Space::sphere}) {
    const Plan plan = make_plan(small(space));
    Member member = draw_member(plan, 1, 0);
    for (const float logarithm : numbers(member.parameters, plan.parameter_tensors, "hyper")) EXPECT_EQ(logarithm, 0.0f);
    const auto clear = [](std::vector<float>& all, const std::vector<TensorInfo>& tensors) {
      for (const TensorInfo& tensor : tensors)
        std::fill_n(all.begin() + static_cast<std::ptrdiff_t>(tensor.offset), tensor.size(), 0.0f);
    };
    clear(member.fixed, plan.fixed_tensors);
    clear(member.parameters, plan.parameter_tensors);
    EXPECT_EQ(member.fixed, std::vector<float>(plan.fixed_size, 0.0f));
    EXPECT_EQ(member.parameters, std::vector<float>(plan.parameter_size, 0.0f));
  }
}

// Means over n independent draws are held to five of their standard deviations.
TEST(DrawEnsemble, DrawsBottlenecksAndHeadFromTheStandardNormal) {
  NetworkSpec spec = small(Space::plane);
  spec.features = 1000;
  spec.bottleneck = 64;
  spec.outputs = 100;
  const Plan plan = make_plan(spec);
  const Member member = draw_member(plan, 3, 0);
  for (const std::string name : {"spatial.0.bottleneck", "spatial.1.bottleneck", "temporal.0.bottleneck", "head"}) {
    const auto weights = numbers(member.parameters, plan.parameter_tensors, name);
    const double n = static_cast<double>(weights.size());
    double mean = 0.0, square = 0.0, fourth = 0.0, neighbours = 0.0, rows = 0.0;
    const std::size_t width = name == "head" ? 100 : 64;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double w = weights[i];
      mean += w / n;
      square += w * w / n;
      fourth += w * w * w * w / n;
      if (i + 1 < weights.size()) neighbours += w * weights[i + 1] / n;
      if (i + width < weights.size()) rows += w * weights[i + width] / n;
    }
    EXPECT_NEAR(mean, 0.0, 5.0 / std::sqrt(n)) << name;
    EXPECT_NEAR(square, 1.0, 5.0 * std::sqrt(2.0 / n)) << name;
    EXPECT_NEAR(fourth, 3.0, 5.0 * std::sqrt(96.0 / n)) << name;
    EXPECT_NEAR(neighbours, 0.0, 5.0 / std::sqrt(n)) << name;
    EXPECT_NEAR(rows, 0.0, 5.0 / std::sqrt(n)) << name;
  }
}

TEST(DrawEnsemble, RefusesNoMembersAndTooMany) {
  EXPECT_THROW(draw_ensemble(small(Space::plane), 1, 0), UsageError);
  EXPECT_THROW(draw_ensemble(small(Space::plane), 1, 100'001), UsageError);
}

}  // namespace
}  // namespace drift
