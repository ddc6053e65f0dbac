#include <gtest/gtest.h>

#include <span>
#include <stop_token>
#include <vector>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "tune/tune_testing.h"

namespace drift {
namespace {

// Trials one after the other, as a round; failures are outcomes, not exceptions.
std::vector<TrialOutcome> fickle_round(std::span<const Proposal> round) {
  std::vector<TrialOutcome> outcomes;
  for (const Proposal& proposal : round) {
    try {
      outcomes.push_back(fickle_branin(proposal.point, proposal.seed));
    } catch (const Error& error) {
      outcomes.push_back({.value = 0.0, .state = TrialState::failed, .message = error.what()});
    }
  }
  return outcomes;
}

TEST(Rounds, OfOneTrialAreTheSearchOfOneAtATime) {
  SearchPlan plan;
  plan.seed = 11;
  const Study one = optimise(branin_space(), fickle_branin, plan, options_for(16));
  expect_same_trials(optimise(branin_space(), RoundObjective(fickle_round), plan, options_for(16)), one);
  plan.rounds = true;
  expect_same_trials(optimise(branin_space(), RoundObjective(fickle_round), plan, options_for(16)), one);
}

TEST(Rounds, AreWholeAndSeeAllThatWentBefore) {
  SearchPlan plan;
  plan.parallel = 4;
  plan.rounds = true;
  std::vector<std::size_t> sizes;
  Study before = make_study(branin_space(), plan);
  const RoundObjective objective = [&](std::span<const Proposal> round) {
    sizes.push_back(round.size());
    const std::vector<Proposal> expected = propose(before, round.size());
    std::vector<TrialOutcome> outcomes = fickle_round(round);
    for (std::size_t i = 0; i < round.size(); ++i) {
      EXPECT_EQ(round[i].number, expected[i].number);
      EXPECT_EQ(round[i].point, expected[i].point);
    }
    for (std::size_t i = 0; i < round.size(); ++i) record(before, round[i], outcomes[i], 0.0);
    return outcomes;
  };
  const Study study = optimise(branin_space(), objective, plan, options_for(18));
  EXPECT_EQ(sizes, (std::vector<std::size_t>{4, 4, 4, 4, 2}));
  // Trials of their own threads go by the same plan to the same study.
  expect_same_trials(optimise(branin_space(), fickle_branin, plan, options_for(18)), study);
  plan.rounds = false;
  EXPECT_NE(optimise(branin_space(), fickle_branin, plan, options_for(18)).trials.back().point, study.trials.back().point);
}

TEST(Rounds, StoppedAndResumedAreTheSameAsIfTheyNeverWere) {
  SearchPlan plan;
  plan.seed = 11;
  plan.parallel = 5;
  plan.rounds = true;
  const std::size_t trials = 17;
  const Study whole = optimise(branin_space(), RoundObjective(fickle_round), plan, options_for(trials));
  const ScratchFolder folder;
  const auto path = folder / "study.json";
  for (const std::size_t kill_at : {1U, 5U, 8U, 11U}) {  // between rounds, and while one was being written down
    Study cut = whole;
    std::erase_if(cut.trials, [&](const Trial& trial) { return trial.number >= kill_at; });
    save_study(cut, path);
    expect_same_trials(optimise(branin_space(), RoundObjective(fickle_round), plan, options_for(trials), path), whole);
    expect_same_trials(load_study(path), whole);
  }
  plan.rounds = false;
  EXPECT_THROW(optimise(branin_space(), RoundObjective(fickle_round), plan, options_for(trials), path), UsageError);
}

TEST(Rounds, ThatThrowFailAsAWholeUnlessStopWasAskedFor) {
  SearchPlan plan;
  plan.parallel = 3;
  plan.rounds = true;
  std::stop_source source;
  SearchOptions options = options_for(12);
  options.control.stop = source.get_token();
  const ScratchFolder folder;
  const auto path = folder / "study.json";
  int rounds = 0;
  const RoundObjective objective = [&](std::span<const Proposal> round) -> std::vector<TrialOutcome> {
    ++rounds;
    if (rounds == 2) throw Error("no memory");
    if (rounds == 3) {
      source.request_stop();
      throw Error("stopped");
    }
    return fickle_round(round);
  };
  EXPECT_THROW(optimise(branin_space(), objective, plan, options, path), Stopped);
  const Study study = load_study(path);
  ASSERT_EQ(study.trials.size(), 6U);
  for (std::size_t i = 3; i < 6; ++i) {
    EXPECT_EQ(study.trials[i].state, TrialState::failed);
    EXPECT_EQ(study.trials[i].message, "no memory");
  }
}

}  // namespace
}  // namespace drift
