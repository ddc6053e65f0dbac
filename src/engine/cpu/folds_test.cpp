#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "drift/error.h"
#include "engine/cpu/engine_testing.h"

namespace drift {
namespace {

using namespace engine_testing;

constexpr int kFolds = 2;
constexpr std::size_t kMembers = 4;

std::vector<std::uint8_t> alternating_folds(std::size_t count) {
  std::vector<std::uint8_t> folds(count);
  for (std::size_t i = 0; i < count; ++i) folds[i] = static_cast<std::uint8_t>((i / 3) % kFolds);
  return folds;
}

// The observations with other values at other positions in one fold; positions stay on the sphere.
Observations changed_in(int fold, Observations observations, const std::vector<std::uint8_t>& folds) {
  for (std::size_t i = 0; i < folds.size(); ++i) {
    if (folds[i] != fold) continue;
    observations.values[i] = 3.0F - 2.0F * observations.values[i];
    for (std::size_t c = 0; c < observations.columns; ++c) observations.coordinates[i * observations.columns + c] *= -1.0F;
  }
  return observations;
}

Trained trained_in_folds(const NetworkSpec& spec, const Observations& observations, const std::vector<std::uint8_t>& folds,
                         const Recipe& recipe, bool weighted = false) {
  Trained result{.ensemble = draw_ensemble(spec, 11, kMembers), .state = {}};
  TrainingSet data = observations.set(weighted);
  data.folds = folds;
  data.fold_count = folds.empty() ? 0 : kFolds;
  make_cpu_engine({.threads = 2})
      ->advance(result.ensemble, result.state, data, recipe, total_steps(recipe, data.values.rows), {});
  return result;
}

struct FoldCase {
  std::string name;
  Space space = Space::plane;
  Optimiser optimiser = Optimiser::adam;
  bool weighted = false;
  bool hyperparameters = false;
  double value_noise = 0.0;
};
void PrintTo(const FoldCase& one, std::ostream* out) { *out << one.name; }

class FoldsLeftOut : public testing::TestWithParam<FoldCase> {};

TEST_P(FoldsLeftOut, AMemberNeverLearnsFromTheFoldItLeavesOut) {
  const FoldCase& a_case = GetParam();
  Recipe recipe = small_recipe(a_case.optimiser);
  recipe.train_lengthscales = recipe.train_amplitudes = a_case.hyperparameters;
  recipe.value_noise = a_case.value_noise;
  const NetworkSpec spec = small_spec(a_case.space);
  const Observations observations(a_case.space, 900);
  const std::vector<std::uint8_t> folds = alternating_folds(900);
  const Trained before = trained_in_folds(spec, observations, folds, recipe, a_case.weighted);
  for (const int fold : {0, 1}) {
    const Trained after = trained_in_folds(spec, changed_in(fold, observations, folds), folds, recipe, a_case.weighted);
    for (std::size_t i = 0; i < kMembers; ++i) {
      const Member& was = before.ensemble.members[i];
      const Member& is = after.ensemble.members[i];
      if (left_out_fold(was.index, kFolds) == fold) {
        EXPECT_EQ(was.parameters, is.parameters) << "fold " << fold << " member " << i;
        EXPECT_EQ(before.state.members[i].losses, after.state.members[i].losses) << "fold " << fold << " member " << i;
        EXPECT_EQ(before.state.members[i].moment2, after.state.members[i].moment2) << "fold " << fold << " member " << i;
      } else {
        EXPECT_NE(was.parameters, is.parameters) << "fold " << fold << " member " << i;
        EXPECT_NE(before.state.members[i].losses, after.state.members[i].losses) << "fold " << fold << " member " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, FoldsLeftOut,
                         testing::Values(FoldCase{.name = "adam"},
                                         FoldCase{.name = "muon_and_weights", .optimiser = Optimiser::muon, .weighted = true},
                                         FoldCase{.name = "sphere_and_value_noise", .space = Space::sphere, .value_noise = 0.3},
                                         FoldCase{.name = "trained_hyperparameters", .hyperparameters = true}),
                         [](const auto& a_case) { return a_case.param.name; });

TEST(TrainingInFolds, WithoutFoldsEveryMemberLearnsFromAll) {
  const Observations observations(Space::plane, 900);
  const std::vector<std::uint8_t> folds = alternating_folds(900);
  const Recipe recipe = small_recipe(Optimiser::adam);
  const Trained before = trained_in_folds(small_spec(), observations, {}, recipe);
  const Trained after = trained_in_folds(small_spec(), changed_in(0, observations, folds), {}, recipe);
  for (std::size_t i = 0; i < kMembers; ++i) {
    EXPECT_NE(before.ensemble.members[i].parameters, after.ensemble.members[i].parameters) << i;
  }
}

TEST(WeightInMember, IsZeroInTheFoldLeftOutAndAveragesToTheWeightOverMembers) {
  const std::vector<std::uint8_t> folds = {0, 1, 2, 0, 1, 2};
  const std::vector<float> weights = {1.0F, 0.5F, 2.0F, 0.0F, 3.0F, 1.5F}, values(6, 0.0F);
  for (const bool weighted : {false, true}) {
    TrainingSet data{.coordinates = {values.data(), 6, 1}, .values = {values.data(), 6, 1}, .folds = folds, .fold_count = 3};
    if (weighted) data.weights = weights;
    EXPECT_TRUE(data.weighted());
    for (std::size_t row = 0; row < 6; ++row) {
      float sum = 0.0F;
      for (std::uint32_t member = 0; member < 6; ++member) {
        const float weight = weight_in_member(data, row, member);
        EXPECT_EQ(weight == 0.0F, folds[row] == member % 3 || (weighted && weights[row] == 0.0F)) << row;
        sum += weight;
      }
      EXPECT_FLOAT_EQ(sum / 6.0F, weighted ? weights[row] : 1.0F) << row;
    }
  }
}

std::string refusal(const std::vector<std::uint8_t>& folds, int fold_count) {
  const Observations observations(Space::plane, 60);
  TrainingSet data = observations.set();
  data.folds = folds;
  data.fold_count = fold_count;
  Ensemble ensemble = draw_ensemble(small_spec(), 11, 2);
  TrainingState state;
  try {
    train(*make_cpu_engine({.threads = 1}), ensemble, state, data, small_recipe(Optimiser::adam));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(TrainingInFolds, RefusesFoldsOfTheWrongSizeOrNumber) {
  std::vector<std::uint8_t> folds = alternating_folds(60);
  EXPECT_EQ(refusal(folds, 2), "");
  EXPECT_EQ(refusal(folds, 3), "");  // a fold may be empty
  EXPECT_THAT(refusal(alternating_folds(59), 2), testing::AllOf(testing::HasSubstr("60"), testing::HasSubstr("59")));
  EXPECT_THAT(refusal(alternating_folds(61), 2), testing::AllOf(testing::HasSubstr("60"), testing::HasSubstr("61")));
  for (const int count : {-1, 0, 1}) EXPECT_NE(refusal(folds, count), "") << count;
  folds[17] = 2;
  EXPECT_THAT(refusal(folds, 2), testing::AllOf(testing::HasSubstr("observation 17"), testing::HasSubstr("fold 2")));
  EXPECT_EQ(refusal(folds, 3), "");
}

}  // namespace
}  // namespace drift
