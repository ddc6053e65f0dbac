#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "core/scratch_folder.h"
#include "drift/engine.h"
#include "drift/error.h"
#include "network/plan.h"
#include "network/safetensors_testing.h"

namespace drift {
namespace {

NetworkSpec small_spec(Space space) {
  NetworkSpec spec = default_spec(space, space == Space::plane ? 2 : 3, true);
  spec.features = 20;
  spec.bottleneck = 3;
  return spec;
}

// A state with numbers that only an exact copy keeps apart, the members at different steps, one before its first.
TrainingState awkward_state(const Ensemble& ensemble) {
  TrainingState state;
  for (std::size_t place = 0; place < ensemble.members.size(); ++place) {
    const std::size_t size = ensemble.members[place].parameters.size();
    MemberProgress member{
        .step = 3 * place, .moment1 = std::vector<float>(size), .moment2 = std::vector<float>(size), .losses = {}};
    for (std::size_t i = 0; i < size; ++i) {
      member.moment1[i] = std::sin(static_cast<float>(i + place)) / 3.0F;
      member.moment2[i] = i == 0 ? std::numeric_limits<float>::denorm_min() : std::exp(-static_cast<float>(i));
    }
    member.moment1[1] = -0.0F;
    for (std::size_t i = 0; i < member.step; ++i) member.losses.push_back(1.0F / static_cast<float>(i + 3));
    state.members.push_back(std::move(member));
  }
  return state;
}

Recipe unusual_recipe() {
  Recipe recipe;
  recipe.rate = 1.0 / 3.0;
  recipe.beta = 1e-7;
  recipe.batch = 17;
  return recipe;
}

void expect_same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  if (a.empty()) return;
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(float)), 0);
}

// The message of the Error that loading throws; empty when it throws none.
std::string refusal(const std::filesystem::path& path) {
  try {
    load_checkpoint(path);
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

class CheckpointFile : public testing::Test {
 protected:
  CheckpointFile() { save_checkpoint(path_, ensemble_, state_, unusual_recipe()); }

  // What loading says of the file with `from` replaced by `to`, of the same length.
  // Without checksums, which would notice any change before the checks behind them do.
  std::string refusal_with(const std::string& from, const std::string& to) {
    std::string bytes = without_checksums(read_bytes(path_));
    const std::size_t at = bytes.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    EXPECT_EQ(from.size(), to.size());
    write_bytes(folder_ / "changed", bytes.replace(at, from.size(), to));
    return refusal(folder_ / "changed");
  }

  ScratchFolder folder_;
  std::filesystem::path path_ = folder_ / "checkpoint.safetensors";
  Ensemble ensemble_ = draw_ensemble(small_spec(Space::plane), 42, 3);
  TrainingState state_ = awkward_state(ensemble_);
};

class CheckpointRoundTrip : public testing::TestWithParam<Space> {};

TEST_P(CheckpointRoundTrip, KeepsEveryBit) {
  const ScratchFolder folder;
  const Ensemble ensemble = draw_ensemble(small_spec(GetParam()), 42, 3);
  const TrainingState state = awkward_state(ensemble);
  save_checkpoint(folder / "c", ensemble, state, unusual_recipe());
  const Checkpoint loaded = load_checkpoint(folder / "c");
  EXPECT_EQ(loaded.recipe, unusual_recipe());
  EXPECT_EQ(loaded.ensemble.spec, ensemble.spec);
  EXPECT_EQ(loaded.ensemble.seed, ensemble.seed);
  ASSERT_EQ(loaded.ensemble.members.size(), 3u);
  ASSERT_EQ(loaded.state.members.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(loaded.ensemble.members[i].index, ensemble.members[i].index);
    EXPECT_EQ(loaded.state.members[i].step, state.members[i].step);
    expect_same_bits(loaded.ensemble.members[i].fixed, ensemble.members[i].fixed);
    expect_same_bits(loaded.ensemble.members[i].parameters, ensemble.members[i].parameters);
    expect_same_bits(loaded.state.members[i].moment1, state.members[i].moment1);
    expect_same_bits(loaded.state.members[i].moment2, state.members[i].moment2);
    expect_same_bits(loaded.state.members[i].losses, state.members[i].losses);
  }
}

INSTANTIATE_TEST_SUITE_P(Spaces, CheckpointRoundTrip, testing::Values(Space::plane, Space::sphere),
                         [](const auto& space) { return space.param == Space::plane ? "Plane" : "Sphere"; });

TEST_F(CheckpointFile, IsAModelToo) {
  expect_same_bits(load_model(path_).ensemble.members[2].parameters, ensemble_.members[2].parameters);
}

TEST_F(CheckpointFile, IsNotMadeByLoadingAPlainModel) {
  save_model(folder_ / "model", ensemble_);
  EXPECT_NE(refusal(folder_ / "model").find("is a model but not a checkpoint"), std::string::npos);
}

TEST_F(CheckpointFile, CutShortAnywhereIsRefused) {
  const std::string bytes = read_bytes(path_);
  for (std::size_t part = 0; part < 64; ++part) {
    write_bytes(folder_ / "short", bytes.substr(0, bytes.size() * part / 64));
    EXPECT_NE(refusal(folder_ / "short"), "") << part << "/64";
  }
  write_bytes(folder_ / "short", bytes.substr(0, bytes.size() - 1));
  EXPECT_NE(refusal(folder_ / "short"), "");
}

TEST_F(CheckpointFile, WithWrongStepCountsIsRefused) {
  ASSERT_EQ(refusal_with("\"0,3,6\"", "\"0,3,6\""), "");
  for (const char* steps : {"\"0,3,7\"", "\"0,3 6\"", "\"0,3,-\"", "\",0,3,\"", "\"00036\"", "\"0,36,\""}) {
    EXPECT_NE(refusal_with("\"0,3,6\"", steps), "") << steps;
  }
}

TEST_F(CheckpointFile, WithADamagedRecipeIsRefused) {
  EXPECT_NE(refusal_with("muon_rate", "moon_rate").find("muon_rate"), std::string::npos);
  EXPECT_NE(refusal_with("\\\"batch\\\":17", "\\\"batch\\\":-7"), "");
}

TEST_F(CheckpointFile, WithAMissingMomentIsRefusedByName) {
  EXPECT_NE(refusal_with("training.1.moment2", "training.1.moment3").find("training.1.moment2"), std::string::npos);
}

TEST_F(CheckpointFile, WithAMomentThatIsNotANumberIsRefused) {
  TrainingState state = state_;
  state.members[1].moment1[5] = std::nanf("");
  save_checkpoint(folder_ / "nan", ensemble_, state, unusual_recipe());
  EXPECT_NE(refusal(folder_ / "nan").find("entry 5 of tensor \"training.1.moment1\""), std::string::npos);
}

TEST_F(CheckpointFile, ThatDoesNotExistIsRefusedByPath) {
  EXPECT_NE(refusal(folder_ / "absent").find("absent"), std::string::npos);
}

TEST_F(CheckpointFile, IsNotWrittenFromAStateThatDoesNotFit) {
  TrainingState state = state_;
  state.members.pop_back();
  EXPECT_THROW(save_checkpoint(folder_ / "x", ensemble_, state, {}), UsageError);
  state = state_;
  state.members[0].moment2.pop_back();
  EXPECT_THROW(save_checkpoint(folder_ / "x", ensemble_, state, {}), UsageError);
  state = state_;
  state.members[2].losses.pop_back();
  EXPECT_THROW(save_checkpoint(folder_ / "x", ensemble_, state, {}), UsageError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
}

}  // namespace
}  // namespace drift
