#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <mutex>
#include <numbers>
#include <set>
#include <stop_token>
#include <thread>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/tune.h"
#include "tune/tune_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

TEST(Study, ProposalsDependOnTheStudyAlone) {
  Study study = make_study(branin_space(), {.seed = 3});
  for (int i = 0; i < 12; ++i) {
    const Proposal proposal = propose(study, 1).at(0);
    EXPECT_EQ(proposal.number, static_cast<std::size_t>(i));
    record(study, proposal, {.value = branin(proposal.point)}, 0.1 * i);
  }
  std::set<std::uint64_t> seeds;
  for (const Trial& trial : study.trials) seeds.insert(trial.seed);
  EXPECT_EQ(seeds.size(), 12U);
  const Study driven = optimise(branin_space(), plain(branin), {.seed = 3}, options_for(12));
  expect_same_trials(study, driven);
  const Study other = optimise(branin_space(), plain(branin), {.seed = 4}, options_for(12));
  EXPECT_NE(other.trials[0].point, driven.trials[0].point);
  EXPECT_NE(other.trials[11].point, driven.trials[11].point);
}

TEST(Study, SeveralProposalsAtOnceAreDifferentPoints) {
  Study study = optimise(branin_space(), plain(branin), {.seed = 3}, options_for(12));
  const std::vector<Proposal> proposals = propose(study, 5);
  ASSERT_EQ(proposals.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double x = (proposals[i].point[0] - proposals[j].point[0]) / 15.0;
      const double y = (proposals[i].point[1] - proposals[j].point[1]) / 15.0;
      EXPECT_GT(std::hypot(x, y), 1e-3);
    }
  }
}

TEST(Study, TriesThePlansFirstPointsFirst) {
  SearchPlan plan;
  plan.first = {{1.0, 2.0}, {std::numbers::pi, 2.275}};
  const Study study = optimise(branin_space(), plain(branin), plan, options_for(9));
  EXPECT_EQ(study.trials[0].point, plan.first[0]);
  EXPECT_EQ(study.trials[1].point, plan.first[1]);
  EXPECT_LT(best_value(study), kBraninMinimum + 1e-3);
}

class StudyStopped : public testing::TestWithParam<std::size_t> {};

TEST_P(StudyStopped, AndResumedIsTheSameAsOneThatNeverWas) {
  SearchPlan plan;
  plan.seed = 11;
  plan.parallel = GetParam();
  const std::size_t trials = 16;
  const Study whole = optimise(branin_space(), fickle_branin, plan, options_for(trials));

  const ScratchFolder folder;
  const auto path = folder / "study.json";
  for (const std::size_t kill_at : {2U, 7U, 8U, 11U}) {
    // As a kill leaves it: what was recorded until then, in whichever order trials ended; for several at once with a gap.
    Study cut = whole;
    std::erase_if(cut.trials, [&](const Trial& trial) { return trial.number >= kill_at; });
    if (plan.parallel > 1) cut.trials.erase(cut.trials.end() - 2);
    save_study(cut, path);
    std::size_t calls = 0;
    std::mutex mutex;
    const Objective counted = [&](const Point& point, std::uint64_t seed) {
      {
        const std::lock_guard lock(mutex);
        ++calls;
      }
      return fickle_branin(point, seed);
    };
    const Study resumed = optimise(branin_space(), counted, plan, options_for(trials), path);
    expect_same_trials(resumed, whole);
    EXPECT_EQ(calls, whole.trials.size() - cut.trials.size()) << "nothing is run twice";
    expect_same_trials(load_study(path), whole);
  }
}

INSTANTIATE_TEST_SUITE_P(OneOrThreeAtOnce, StudyStopped, testing::Values(std::size_t{1}, std::size_t{3}));

TEST(Study, KilledAndResumedIsTheSameAsOneThatNeverWas) {
  SearchPlan plan;
  plan.parallel = 2;
  const ScratchFolder folder;
  const auto path = folder / "study.json";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Objective slow = [](const Point& point, std::uint64_t seed) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5 + seed % 20));
      return TrialOutcome{.value = branin(point)};
    };
    optimise(branin_space(), slow, plan, options_for(100000), path);
    ::_exit(0);
  }
  const auto recorded = [&] { return std::filesystem::exists(path) ? load_study(path).trials.size() : 0; };
  while (recorded() < 9) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const std::size_t before = recorded();
  const std::size_t wanted = before + 4;
  expect_same_trials(optimise(branin_space(), plain(branin), plan, options_for(wanted), path),
                     optimise(branin_space(), plain(branin), plan, options_for(wanted)));
}

TEST(Study, IsTheSameWhicheverTrialEndsFirst) {
  SearchPlan plan;
  plan.parallel = 4;
  const auto delayed = [](int which) {
    return [which](const Point& point, std::uint64_t seed) {
      std::this_thread::sleep_for(std::chrono::milliseconds((seed >> which) % 7));
      return TrialOutcome{.value = branin(point)};
    };
  };
  expect_same_trials(optimise(branin_space(), delayed(0), plan, options_for(20)),
                     optimise(branin_space(), delayed(9), plan, options_for(20)));
}

TEST(Study, GoesOnWithWhatIsThereWhenMoreTrialsAreAskedFor) {
  const ScratchFolder folder;
  const auto path = folder / "study.json";
  const SearchPlan plan{.seed = 2};
  optimise(branin_space(), plain(branin), plan, options_for(7), path);
  const Study longer = optimise(branin_space(), plain(branin), plan, options_for(10), path);
  expect_same_trials(longer, optimise(branin_space(), plain(branin), plan, options_for(10)));
}

TEST(Study, FailuresAreRecordedWithTheirMessagesAndTheSearchGoesOn) {
  const Study study = optimise(branin_space(), fickle_branin, {.seed = 11}, options_for(30));
  std::size_t failed = 0;
  for (const Trial& trial : study.trials) {
    if (trial.state != TrialState::failed) continue;
    ++failed;
    EXPECT_EQ(trial.message, "diverged");
    EXPECT_FALSE(trial.value.has_value());
  }
  EXPECT_GT(failed, 0U);
  EXPECT_LT(failed, 8U);  // the corner is 8 % of the space and soon left alone
  EXPECT_LT(best_value(study), kBraninMinimum + 0.05);
}

TEST(Study, ValuesThatAreNoNumberAreFailures) {
  Study study = make_study(branin_space());
  for (const double value : std::vector<double>{NAN, INFINITY, 1e200}) {
    record(study, propose(study, 1).at(0), {.value = value}, 0.0);
    EXPECT_EQ(study.trials.back().state, TrialState::failed);
    EXPECT_THAT(study.trials.back().message, HasSubstr("value is"));
  }
  EXPECT_EQ(best_trial(study), std::nullopt);
  record(study, propose(study, 1).at(0), {.value = 2.0, .state = TrialState::pruned}, 0.0);
  EXPECT_EQ(best_trial(study), std::nullopt);  // a pruned trial is never the best
  EXPECT_EQ(study.trials.back().value, 2.0);
}

TEST(Study, EndsWhenEveryTrialOfTheBeginningFailed) {
  const Objective hopeless = [](const Point&, std::uint64_t) -> TrialOutcome { throw Error("no such file"); };
  try {
    optimise(branin_space(), hopeless, {}, options_for(30));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("all 5 trials of the search failed, the first with: no such file"));
  }
}

TEST(Study, StopsWhenAskedAndATrialCutShortIsRunAgain) {
  const ScratchFolder folder;
  const auto path = folder / "study.json";
  std::stop_source source;
  SearchOptions options = options_for(12);
  options.control.stop = source.get_token();
  int calls = 0;
  const Objective interrupted = [&](const Point& point, std::uint64_t) -> TrialOutcome {
    if (++calls == 6) {
      source.request_stop();
      throw Error("interrupted");
    }
    return {.value = branin(point)};
  };
  EXPECT_THROW(optimise(branin_space(), interrupted, {}, options, path), Stopped);
  EXPECT_EQ(load_study(path).trials.size(), 5U);
  expect_same_trials(optimise(branin_space(), plain(branin), {}, options_for(12), path),
                     optimise(branin_space(), plain(branin), {}, options_for(12)));
}

TEST(Study, NeverRepeatsAPointAndEndsWhenASmallSpaceIsUsedUp) {
  const SearchSpace space = {{.name = "layers", .kind = SettingKind::whole, .low = 1, .high = 4},
                             {.name = "loss", .kind = SettingKind::choice, .words = {"squared", "huber", "absolute"}}};
  const Objective objective = [](const Point& point, std::uint64_t) {
    return TrialOutcome{.value = std::abs(point[0] - 3.0) + (point[1] == 1.0 ? 0.0 : 1.0)};
  };
  const Study study = optimise(space, objective, {}, options_for(40));
  EXPECT_EQ(study.trials.size(), 12U);
  std::set<Point> points;
  for (const Trial& trial : study.trials) points.insert(trial.point);
  EXPECT_EQ(points.size(), 12U);
}

TEST(Study, FindsTheBestOfMixedSettings) {
  const SearchSpace space = {{.name = "rate", .kind = SettingKind::log_real, .low = 1e-5, .high = 1.0},
                             {.name = "width", .kind = SettingKind::log_whole, .low = 1, .high = 4096},
                             {.name = "loss", .kind = SettingKind::choice, .words = {"squared", "huber", "absolute"}}};
  const Objective objective = [](const Point& point, std::uint64_t) {
    const double rate = std::log10(point[0]) + 2.5;
    const double width = std::log2(point[1]) - 7.0;
    return TrialOutcome{.value = rate * rate + 0.1 * width * width + (point[2] == 2.0 ? 0.0 : 0.5)};
  };
  std::vector<double> best;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Study study = optimise(space, objective, {.seed = seed}, options_for(30));
    EXPECT_EQ(study.trials[*best_trial(study)].point[2], 2.0) << "seed " << seed;
    best.push_back(best_value(study));
  }
  EXPECT_LT(median(best), 0.02);
}

TEST(Study, BestSoFarFallsAndSkipsWhatDoesNotCount) {
  Study study = make_study(branin_space());
  const auto add = [&](double value, TrialState state) {
    record(study, propose(study, 1).at(0), {.value = value, .state = state}, 0.0);
  };
  add(0.0, TrialState::failed);
  add(5.0, TrialState::done);
  add(1.0, TrialState::pruned);
  add(7.0, TrialState::done);
  add(4.0, TrialState::done);
  EXPECT_EQ(best_so_far(study), (std::vector<std::optional<double>>{std::nullopt, 5.0, 5.0, 5.0, 4.0}));
}

TEST(Study, ReportsEveryTrialOnTheCallingThread) {
  SearchPlan plan;
  plan.parallel = 3;
  SearchOptions options = options_for(9);
  std::size_t reports = 0;
  const auto caller = std::this_thread::get_id();
  options.trial_done = [&](const Study& study, const Trial& trial) {
    ++reports;
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(study.trials.size(), reports);
    EXPECT_TRUE(trial.value.has_value());
  };
  optimise(branin_space(), plain(branin), plan, options);
  EXPECT_EQ(reports, 9U);
}

TEST(Study, RefusesPlansThatCannotBe) {
  SearchPlan plan;
  plan.parallel = 0;
  EXPECT_THROW(make_study(branin_space(), plan), UsageError);
  for (const std::size_t trials : {std::size_t{0}, std::size_t{10'000'000}}) {
    EXPECT_THROW(optimise(branin_space(), plain(branin), {}, options_for(trials)), UsageError);
  }
  plan = {};
  plan.first = {{99.0, 0.0}};
  EXPECT_THROW(make_study(branin_space(), plan), UsageError);
}

TEST(Study, RefusesATrialThatIsThereAlready) {
  Study study = make_study(branin_space());
  const Proposal proposal = propose(study, 1).at(0);
  record(study, proposal, {.value = 1.0}, 0.0);
  EXPECT_THROW(record(study, proposal, {.value = 1.0}, 0.0), UsageError);
}

}  // namespace
}  // namespace drift
