#include "tune/schedule.h"

#include <gtest/gtest.h>

#include <cmath>

#include "drift/error.h"
#include "tune/tune_testing.h"

namespace drift {
namespace {

const std::vector<double> kNinths = {1.0 / 9.0, 1.0 / 3.0, 1.0};

SearchPlan halving_plan() {
  SearchPlan plan;
  plan.shares = kNinths;
  return plan;
}

TEST(Schedule, NumbersGoThroughTheRoundsOfEachBracket) {
  const SearchPlan plan = halving_plan();
  EXPECT_EQ(trials_of_bracket(plan), 13U);
  std::vector<std::size_t> rounds;
  for (std::size_t number = 13; number < 26; ++number) rounds.push_back(slot_of(plan, number).round);
  EXPECT_EQ(rounds, (std::vector<std::size_t>{0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2}));
  EXPECT_EQ(slot_of(plan, 23).first_of_before, 13U);
  EXPECT_EQ(slot_of(plan, 23).first_of_round, 22U);
  EXPECT_EQ(slot_of(plan, 14).new_points, 10U);
  EXPECT_EQ(numbers_for(plan, 6.0), 26U);  // two brackets of three trials' work
  EXPECT_EQ(numbers_for(SearchPlan{}, 20.0), 20U);
}

// Runs what is proposed until `numbers` trials are there, all in one go.
Study run_all(Study study, const Objective& objective, std::size_t numbers) {
  while (study.trials.size() < numbers) {
    const std::vector<Proposal> proposals = propose(study, 3);
    if (proposals.empty()) break;
    for (const Proposal& proposal : proposals) {
      record(study, proposal, objective(proposal.point, proposal.budget_share, proposal.seed), 0.0);
    }
  }
  return study;
}

TEST(Schedule, APointSeesAllButTheLastFewOrAllRoundsBeforeItsOwn) {
  SearchPlan plan;
  plan.parallel = 4;
  EXPECT_EQ(first_unseen(plan, 3), 0U);
  EXPECT_EQ(first_unseen(plan, 4), 1U);
  EXPECT_EQ(first_unseen(plan, 11), 8U);
  plan.rounds = true;
  EXPECT_EQ(first_unseen(plan, 3), 0U);
  EXPECT_EQ(first_unseen(plan, 4), 4U);
  EXPECT_EQ(first_unseen(plan, 7), 4U);
  EXPECT_EQ(first_unseen(plan, 8), 8U);
}

TEST(SuccessiveHalving, PromotesTheBestThirdWithTheirSeeds) {
  const Study study = run_all(make_study(branin_space(), halving_plan()), plain(branin), 13);
  std::vector<const Trial*> first;
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(study.trials[i].budget_share, 1.0 / 9.0);
    first.push_back(&study.trials[i]);
  }
  std::sort(first.begin(), first.end(), [](const Trial* a, const Trial* b) { return *a->value < *b->value; });
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(study.trials[9 + i].point, first[i]->point);
    EXPECT_EQ(study.trials[9 + i].seed, first[i]->seed);
    EXPECT_EQ(study.trials[9 + i].budget_share, 1.0 / 3.0);
  }
  EXPECT_EQ(study.trials[12].point, first[0]->point);
  EXPECT_EQ(study.trials[12].budget_share, 1.0);
  EXPECT_EQ(best_trial(study), 12U);
}

TEST(SuccessiveHalving, WaitsForARoundBeforeItsBestGoOn) {
  Study study = make_study(branin_space(), halving_plan());
  const std::vector<Proposal> proposals = propose(study, 20);
  EXPECT_EQ(proposals.size(), 9U);
  for (const Proposal& proposal : proposals) {
    if (proposal.number != 4) record(study, proposal, {.value = branin(proposal.point)}, 0.0);
  }
  const std::vector<Proposal> rest = propose(study, 20);
  ASSERT_EQ(rest.size(), 1U);  // the one that is missing
  EXPECT_EQ(rest[0].number, 4U);
  EXPECT_EQ(rest[0].point, proposals[4].point);
}

TEST(SuccessiveHalving, FailedTrialsAreNotPromotedAndTheirSlotsStayEmpty) {
  int calls = 0;
  const Objective nearly_hopeless = [&](const Point& point, double, std::uint64_t) -> TrialOutcome {
    if (++calls != 3) throw Error("diverged");
    return {.value = branin(point)};
  };
  SearchOptions options;
  options.trials = 3;
  const Objective only_third = [&](const Point& point, double share, std::uint64_t seed) -> TrialOutcome {
    if (share < 0.2) return nearly_hopeless(point, share, seed);
    return {.value = branin(point)};
  };
  const Study study = optimise(branin_space(), only_third, halving_plan(), options);
  ASSERT_EQ(study.trials.size(), 11U);  // nine, one, one
  EXPECT_EQ(study.trials[9].number, 9U);
  EXPECT_EQ(study.trials[10].number, 12U);
  EXPECT_EQ(study.trials[10].point, study.trials[2].point);
}

// Cheap trials of Hartmann that are wrong by a smooth bias and a factor.
TrialOutcome cheap_hartmann(const Point& point, double share, std::uint64_t) {
  const double missing = 1.0 - share;
  return {.value = hartmann(point) * (1.0 - 0.3 * missing) + 0.5 * missing * (1.0 + 0.3 * std::sin(5.0 * point[0]))};
}

TEST(SuccessiveHalving, FindsAsMuchAsFullTrialsForTheSameWork) {
  std::vector<double> halved;
  std::vector<double> full;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SearchPlan plan = halving_plan();
    plan.seed = seed;
    SearchOptions options;
    options.trials = 24;
    halved.push_back(best_value(optimise(hartmann_space(), cheap_hartmann, plan, options)));
    plan.shares = {1.0};
    full.push_back(best_value(optimise(hartmann_space(), cheap_hartmann, plan, options)));
  }
  RecordProperty("halved", std::to_string(median(halved)));
  RecordProperty("full", std::to_string(median(full)));
  EXPECT_LT(median(halved), median(full));
}

}  // namespace
}  // namespace drift
