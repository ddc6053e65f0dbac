#include "train/update_groups.h"

#include <gtest/gtest.h>

#include <cmath>

namespace drift {
namespace {

using Rule = UpdateGroup::Rule;

// Every trained number belongs to exactly one group.
void expect_whole(const Plan& plan, const std::vector<UpdateGroup>& groups) {
  std::vector<int> owners(plan.parameter_size, 0);
  for (const UpdateGroup& group : groups) {
    for (std::size_t i = group.offset; i < group.offset + group.size; ++i) ++owners[i];
  }
  for (const TensorInfo& tensor : plan.parameter_tensors) {
    for (std::size_t i = tensor.offset; i < tensor.offset + tensor.size(); ++i) ASSERT_EQ(owners[i], 1) << tensor.name;
  }
}

TEST(UpdateGroups, HoldEveryNumberOnce) {
  Recipe recipe;
  recipe.train_amplitudes = true;
  const DenseSpec dense = {.layers = 3, .width = 8, .activation = Activation::sine, .input = DenseInput::fourier};
  for (const Optimiser optimiser : {Optimiser::adam, Optimiser::muon}) {
    recipe.optimiser = optimiser;
    for (const NetworkSpec& spec : {default_spec(Space::sphere, 3, true), dense_spec(Space::plane, 2, true, dense)}) {
      const Plan plan = make_plan(spec);
      expect_whole(plan, update_groups(plan, recipe, false));
    }
  }
}

TEST(UpdateGroups, GiveMuonTheMatricesBetweenTwoActivationsWithoutTheirBiases) {
  const DenseSpec dense = {.layers = 3, .width = 16, .activation = Activation::sine, .hidden_omega = 10.0};
  const Plan plan = make_plan(dense_spec(Space::plane, 2, true, dense));
  std::size_t matrices = 0;
  for (const UpdateGroup& group : update_groups(plan, {}, false)) {
    if (group.rule != Rule::muon) continue;
    ++matrices;
    EXPECT_EQ(group.rows, 16u);
    EXPECT_EQ(group.size, 16u * 16);
    EXPECT_DOUBLE_EQ(group.muon_factor, 1.0 / (std::sqrt(16.0) * 10.0));
  }
  EXPECT_EQ(matrices, 2u);
}

TEST(UpdateGroups, GiveDriftsOwnBottlenecksToMuonAsTheyAre) {
  NetworkSpec spec = default_spec(Space::plane, 2, true);
  for (const Coupling coupling : {Coupling::product, Coupling::additive}) {
    spec.coupling = coupling;
    const Plan plan = make_plan(spec);
    const std::size_t last = plan.has_head ? plan.head : plan.layers.back().bottleneck;
    for (const UpdateGroup& group : update_groups(plan, {}, false)) {
      EXPECT_EQ(group.rule, group.offset == last ? Rule::adam : Rule::muon);
      EXPECT_EQ(group.muon_factor, 1.0);
    }
  }
}

}  // namespace
}  // namespace drift
