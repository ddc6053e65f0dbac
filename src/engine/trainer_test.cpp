#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/scratch_folder.h"
#include "drift/engine.h"
#include "drift/error.h"
#include "network/plan.h"

namespace drift {
namespace {

constexpr std::size_t kObservations = 60;

NetworkSpec small_spec() {
  NetworkSpec spec = default_spec(Space::plane, 2, true);
  spec.features = 16;
  spec.bottleneck = 3;
  return spec;
}

Recipe twenty_steps() {
  Recipe recipe;
  recipe.batch = 12;  // five steps an epoch
  recipe.epochs = 4.0;
  return recipe;
}

struct Data {
  std::vector<float> coordinates, values;

  Data() {
    for (std::size_t i = 0; i < kObservations * 3; ++i) coordinates.push_back(std::sin(0.37F * static_cast<float>(i * i)));
    for (std::size_t i = 0; i < kObservations; ++i) values.push_back(coordinates[3 * i] * coordinates[3 * i + 1]);
  }
  TrainingSet set() const { return {{coordinates.data(), kObservations, 3}, {values.data(), kObservations, 1}}; }
};

// Takes steps that depend on everything a step may depend on, and keeps to advance()'s contract.
class FakeEngine : public Engine {
 public:
  std::vector<std::uint64_t> ends;  // until_step of each call
  std::function<void()> before_call = {};
  std::function<void(std::uint64_t step)> after_step = {};
  std::chrono::milliseconds per_step{0};

  std::string name() const override { return "fake"; }

  void advance(Ensemble& ensemble, TrainingState& state, const TrainingSet&, const Recipe&, std::uint64_t until_step,
               const Control& control) override {
    if (before_call) before_call();
    ends.push_back(until_step);
    if (state.members.empty()) {
      for (const Member& member : ensemble.members) {
        const std::vector<float> zeros(member.parameters.size());
        state.members.push_back({.step = 0, .moment1 = zeros, .moment2 = zeros, .losses = {}});
      }
    }
    for (std::size_t i = 0; i < ensemble.members.size(); ++i) {
      while (state.members[i].step < until_step && !control.stop.stop_requested())
        take_step(ensemble.members[i], state.members[i]);
    }
  }
  void predict(const Ensemble&, MatrixView<const float>, const PredictionViews&) override {}
  void input_gradient(const Ensemble&, MatrixView<const float>, MatrixView<float>) override {}
  void head_inputs(const Ensemble&, std::size_t, MatrixView<const float>, MatrixView<float>) override {}

 private:
  // Moves the tensors only: the gaps between them stay zero, and files do not hold them.
  void take_step(Member& member, MemberProgress& progress) {
    for (const TensorInfo& tensor : plan_.parameter_tensors) {
      for (std::size_t p = tensor.offset; p < tensor.offset + tensor.size(); ++p) {
        progress.moment1[p] = 0.9F * progress.moment1[p] + 0.1F * member.parameters[p] + static_cast<float>(progress.step);
        member.parameters[p] -= 0.01F * progress.moment1[p];
      }
    }
    progress.losses.push_back(static_cast<float>(progress.step));
    ++progress.step;
    if (per_step.count() > 0) std::this_thread::sleep_for(per_step);
    if (after_step) after_step(progress.step);
  }

  Plan plan_ = make_plan(small_spec());
};

void expect_same(const Ensemble& a, const TrainingState& a_state, const Ensemble& b, const TrainingState& b_state) {
  ASSERT_EQ(a.members.size(), b.members.size());
  ASSERT_EQ(a_state.members.size(), b_state.members.size());
  for (std::size_t i = 0; i < a.members.size(); ++i) {
    EXPECT_EQ(a.members[i].parameters, b.members[i].parameters);
    EXPECT_EQ(a_state.members[i].step, b_state.members[i].step);
    EXPECT_EQ(a_state.members[i].moment1, b_state.members[i].moment1);
    EXPECT_EQ(a_state.members[i].moment2, b_state.members[i].moment2);
    EXPECT_EQ(a_state.members[i].losses, b_state.members[i].losses);
  }
}

class Train : public testing::Test {
 protected:
  Data data_;
  ScratchFolder folder_;
  FakeEngine engine_;
  Ensemble ensemble_ = draw_ensemble(small_spec(), 3, 2);
  TrainingState state_;

  // The message of the Error that train() throws; empty when it throws none.
  std::string refusal(const TrainingSet& set, const Recipe& recipe = twenty_steps(), const TrainOptions& options = {}) {
    try {
      train(engine_, ensemble_, state_, set, recipe, options);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
};

TEST_F(Train, WithoutACheckpointIsOneCallToTheRecipesEnd) {
  train(engine_, ensemble_, state_, data_.set(), twenty_steps());
  EXPECT_EQ(engine_.ends, std::vector<std::uint64_t>{20});
}

TEST_F(Train, SavesWhileItRunsAndAtTheEndWithoutChangingTheResult) {
  Ensemble whole = ensemble_;
  TrainingState whole_state;
  train(engine_, whole, whole_state, data_.set(), twenty_steps());

  std::vector<std::uint64_t> found;  // steps in the checkpoint at the start of each segment
  const std::filesystem::path path = folder_ / "c";
  engine_.per_step = std::chrono::milliseconds(2);
  engine_.before_call = [&] {
    if (std::filesystem::exists(path)) found.push_back(load_checkpoint(path).state.members[0].step);
  };
  train(engine_, ensemble_, state_, data_.set(), twenty_steps(), {.control = {.checkpoint = path}, .checkpoint_every_s = 0.01});
  EXPECT_FALSE(found.empty());
  EXPECT_LT(found.front(), 20u);
  const Checkpoint last = load_checkpoint(path);
  expect_same(last.ensemble, last.state, ensemble_, state_);
  expect_same(ensemble_, state_, whole, whole_state);
}

TEST_F(Train, ACheckpointThatCannotBeWrittenIsToldAndTriedAgain) {
  Ensemble whole = ensemble_;
  TrainingState whole_state;
  train(engine_, whole, whole_state, data_.set(), twenty_steps());
  std::filesystem::create_directory(folder_ / "c");  // in the checkpoint's place
  std::vector<std::string> told;
  engine_.per_step = std::chrono::milliseconds(2);
  const Control control = {.say =
                               [&](const std::string& sentence) {
                                 told.push_back(sentence);
                                 std::filesystem::remove(folder_ / "c");
                               },
                           .checkpoint = folder_ / "c"};
  train(engine_, ensemble_, state_, data_.set(), twenty_steps(), {.control = control, .checkpoint_every_s = 0.01});
  expect_same(ensemble_, state_, whole, whole_state);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_NE(told[0].find("no checkpoint"), std::string::npos) << told[0];
  EXPECT_EQ(load_checkpoint(folder_ / "c").state.members[0].step, 20U);
}

TEST_F(Train, StoppedAndTakenUpAgainEndsAsIfItHadNotStopped) {
  Ensemble whole = ensemble_;
  TrainingState whole_state;
  train(engine_, whole, whole_state, data_.set(), twenty_steps());

  std::stop_source stop;
  engine_.after_step = [&](std::uint64_t step) {
    if (step == 7) stop.request_stop();  // the second member has not begun
  };
  const TrainOptions options{.control = {.stop = stop.get_token(), .checkpoint = folder_ / "c"}};
  EXPECT_THROW(train(engine_, ensemble_, state_, data_.set(), twenty_steps(), options), Stopped);

  Checkpoint checkpoint = load_checkpoint(folder_ / "c");
  EXPECT_EQ(checkpoint.state.members[0].step, 7u);
  engine_.after_step = {};
  train(engine_, checkpoint.ensemble, checkpoint.state, data_.set(), checkpoint.recipe);
  expect_same(checkpoint.ensemble, checkpoint.state, whole, whole_state);
}

TEST_F(Train, ThatIsFinishedAlreadyDoesNothing) {
  train(engine_, ensemble_, state_, data_.set(), twenty_steps());
  engine_.ends.clear();
  train(engine_, ensemble_, state_, data_.set(), twenty_steps());
  EXPECT_TRUE(engine_.ends.empty());
}

TEST_F(Train, TellsProgressOfTheWholeRunAndAllMembers) {
  const auto cpu = make_cpu_engine({.threads = 1});
  std::vector<double> shares;
  const TrainOptions options{
      .control = {.progress = [&](double share, const std::string&) { shares.push_back(share); }, .checkpoint = folder_ / "c"}};
  cpu->advance(ensemble_, state_, data_.set(), twenty_steps(), 5, {});
  train(*cpu, ensemble_, state_, data_.set(), twenty_steps(), options);
  ASSERT_FALSE(shares.empty());
  EXPECT_GT(shares.front(), 0.25) << "a quarter of the steps had been taken before";
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1.0);
}

TEST_F(Train, RefusesArraysThatDoNotFitQuotingBothSides) {
  TrainingSet set = data_.set();
  set.coordinates.cols = 2;
  EXPECT_NE(refusal(set).find("[60,2]"), std::string::npos);
  EXPECT_NE(refusal(set).find("[60,3]"), std::string::npos);
  set = data_.set();
  set.values.rows = 59;
  EXPECT_NE(refusal(set), "");
  set = data_.set();
  const std::vector<float> weights(61, 1.0F);
  set.weights = weights;
  EXPECT_NE(refusal(set).find("61 weights for 60"), std::string::npos);
  EXPECT_TRUE(engine_.ends.empty());
}

TEST_F(Train, RefusesNoObservationsAndSpoiltOnes) {
  TrainingSet set = data_.set();
  set.coordinates.rows = set.values.rows = 0;
  EXPECT_NE(refusal(set).find("no observations"), std::string::npos);
  data_.values[41] = std::nanf("");
  EXPECT_NE(refusal(data_.set()).find("observation 41"), std::string::npos);
  EXPECT_TRUE(engine_.ends.empty());
}

TEST_F(Train, RefusesAStateOfAnotherRecipe) {
  train(engine_, ensemble_, state_, data_.set(), twenty_steps());
  Recipe shorter = twenty_steps();
  shorter.epochs = 2.0;
  EXPECT_NE(refusal(data_.set(), shorter).find("20 steps already but the recipe ends after 10"), std::string::npos);
}

TEST_F(Train, RefusesACheckpointItCouldNotWriteBeforeItTrains) {
  EXPECT_NE(
      refusal(data_.set(), twenty_steps(), {.control = {.checkpoint = folder_ / "no_such_folder/c"}}).find("is not a folder"),
      std::string::npos);
  EXPECT_NE(refusal(data_.set(), twenty_steps(), {.control = {.checkpoint = folder_ / "c"}, .checkpoint_every_s = 0.0}), "");
  EXPECT_TRUE(engine_.ends.empty());
}

// The real engine: moments, batches and schedule all have to go on where they were.
TEST_F(Train, OnTheCpuStoppedSavedAndTakenUpAgainEndsWithTheSameBits) {
  const auto cpu = make_cpu_engine({.threads = 2});
  Recipe recipe = twenty_steps();
  recipe.train_lengthscales = true;
  Ensemble whole = ensemble_;
  TrainingState whole_state;
  train(*cpu, whole, whole_state, data_.set(), recipe);

  for (const std::uint64_t until : {1, 5, 6, 13}) {
    cpu->advance(ensemble_, state_, data_.set(), recipe, until, {});
    save_checkpoint(folder_ / "c", ensemble_, state_, recipe);
    Checkpoint checkpoint = load_checkpoint(folder_ / "c");
    ensemble_ = std::move(checkpoint.ensemble);
    state_ = std::move(checkpoint.state);
  }
  train(*cpu, ensemble_, state_, data_.set(), recipe);
  expect_same(ensemble_, state_, whole, whole_state);
}

TEST(CudaEngine, IsRefusedInOneSentenceWhereThereIsNone) {
  try {
    const auto engine = make_cuda_engine();
    EXPECT_EQ(engine->name(), "cuda");
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("GPU"), std::string::npos);
  }
}

}  // namespace
}  // namespace drift
