#include <gtest/gtest.h>

#include "drift/error.h"
#include "engine/cuda/cuda_testing.h"

namespace drift::cuda {
namespace {

// As in cuda_engine_test.cpp: float32 on both sides, sums in another order, which grows with the training.
constexpr double kFirstLoss = 1e-5;
constexpr double kAfterTraining = 2e-3;

constexpr int kFolds = 2;
constexpr std::size_t kMembers = 4;
constexpr std::size_t kObservations = 1500;

std::vector<std::uint8_t> alternating_folds() {
  std::vector<std::uint8_t> folds(kObservations);
  for (std::size_t i = 0; i < kObservations; ++i) folds[i] = static_cast<std::uint8_t>((i / 3) % kFolds);
  return folds;
}

// The observations with other values at other positions in one fold; positions stay on the sphere.
Observations changed_in(int fold, Observations observations, const std::vector<std::uint8_t>& folds) {
  for (std::size_t i = 0; i < folds.size(); ++i) {
    if (folds[i] != fold) continue;
    for (std::size_t o = 0; o < observations.outputs; ++o) {
      float& value = observations.values[i * observations.outputs + o];
      value = 3.0F - 2.0F * value;
    }
    for (std::size_t c = 0; c < observations.columns; ++c) observations.coordinates[i * observations.columns + c] *= -1.0F;
  }
  return observations;
}

Trained trained_in_folds(Engine& engine, const Case& a_case, const Observations& observations,
                         const std::vector<std::uint8_t>& folds, std::uint64_t steps) {
  Trained result{.ensemble = drawn(a_case, kMembers), .state = {}};
  TrainingSet data = observations.set(a_case.weighted);
  data.folds = folds;
  data.fold_count = kFolds;
  engine.advance(result.ensemble, result.state, data, a_case.recipe, up_to(steps), {});
  return result;
}

void expect_only_members_that_see_the_fold_change(const Trained& before, const Trained& after, int fold) {
  for (std::size_t i = 0; i < kMembers; ++i) {
    const Member& was = before.ensemble.members[i];
    const Member& is = after.ensemble.members[i];
    if (left_out_fold(was.index, kFolds) == fold) {
      EXPECT_EQ(was.parameters, is.parameters) << "fold " << fold << " member " << i;
      EXPECT_EQ(was.log_sd, is.log_sd) << "fold " << fold << " member " << i;
      EXPECT_EQ(before.state.members[i].losses, after.state.members[i].losses) << "fold " << fold << " member " << i;
    } else {
      EXPECT_NE(was.parameters, is.parameters) << "fold " << fold << " member " << i;
      EXPECT_NE(before.state.members[i].losses, after.state.members[i].losses) << "fold " << fold << " member " << i;
    }
  }
}

class EveryCaseInFolds : public testing::TestWithParam<Case> {};

TEST_P(EveryCaseInFolds, AMemberNeverLearnsFromTheFoldItLeavesOut) {
  DRIFT_NEEDS_GPU();
  const Observations observations(GetParam().spec, kObservations);
  const std::vector<std::uint8_t> folds = alternating_folds();
  for (const Precision precision : {Precision::float32, Precision::tf32, Precision::bf16}) {
    const auto engine = gpu(precision);
    const Trained before = trained_in_folds(*engine, GetParam(), observations, folds, 9);
    for (const int fold : {0, 1}) {
      const Observations changed = changed_in(fold, observations, folds);
      expect_only_members_that_see_the_fold_change(before, trained_in_folds(*engine, GetParam(), changed, folds, 9), fold);
    }
  }
}

TEST_P(EveryCaseInFolds, TrainsAsTheCpuDoes) {
  DRIFT_NEEDS_GPU();
  const Observations observations(GetParam().spec, kObservations);
  const std::vector<std::uint8_t> folds = alternating_folds();
  const Trained here = trained_in_folds(*gpu(), GetParam(), observations, folds, 12);
  const Trained there = trained_in_folds(*cpu(), GetParam(), observations, folds, 12);
  for (std::size_t i = 0; i < kMembers; ++i) {
    EXPECT_NEAR(here.state.members[i].losses.at(0), there.state.members[i].losses.at(0),
                kFirstLoss * there.state.members[i].losses.at(0));
    EXPECT_LT(distance(here.state.members[i].losses, there.state.members[i].losses), kAfterTraining);
    EXPECT_LT(distance(here.ensemble.members[i].parameters, there.ensemble.members[i].parameters), kAfterTraining);
    if (GetParam().variational) {
      EXPECT_LT(distance(here.ensemble.members[i].log_sd, there.ensemble.members[i].log_sd), kAfterTraining);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, EveryCaseInFolds, testing::ValuesIn(cases()),
                         [](const auto& a_case) { return a_case.param.name; });

// The comparison with the CPU would show the folds being ignored.
TEST(TrainingInFolds, DiffersFromTrainingOnAllByMoreThanTheTolerance) {
  const Case a_case = cases().front();
  const Observations observations(a_case.spec, kObservations);
  const Trained in_folds = trained_in_folds(*cpu(), a_case, observations, alternating_folds(), 12);
  const Trained on_all = trained(*cpu(), a_case, observations, {12}, kMembers);
  for (std::size_t i = 0; i < kMembers; ++i) {
    EXPECT_GT(distance(in_folds.state.members[i].losses, on_all.state.members[i].losses), 5 * kAfterTraining) << i;
    if (most_steps() < 12) continue;
    EXPECT_GT(distance(in_folds.ensemble.members[i].parameters, on_all.ensemble.members[i].parameters), kAfterTraining) << i;
  }
}

TEST(TrainingInFolds, OnTheGpuRefusesFoldsOfTheWrongSizeOrNumber) {
  DRIFT_NEEDS_GPU();
  const Case a_case = cases().front();
  const Observations observations(a_case.spec, 60);
  const auto engine = gpu();
  const auto train_with = [&](const std::vector<std::uint8_t>& folds, int fold_count) {
    Ensemble ensemble = drawn(a_case, 2);
    TrainingState state;
    TrainingSet data = observations.set(false);
    data.folds = folds;
    data.fold_count = fold_count;
    train(*engine, ensemble, state, data, a_case.recipe);
  };
  std::vector<std::uint8_t> folds(60, 0);
  for (std::size_t i = 0; i < 30; ++i) folds[i] = 1;
  EXPECT_NO_THROW(train_with(folds, 2));
  EXPECT_THROW(train_with(std::vector<std::uint8_t>(59, 0), 2), UsageError);
  EXPECT_THROW(train_with(folds, 1), UsageError);
  folds[17] = 2;
  EXPECT_THROW(train_with(folds, 2), UsageError);
}

}  // namespace
}  // namespace drift::cuda
