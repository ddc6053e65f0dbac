#include "searching/tune_trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

RunSettings tune_settings() {
  RunSettings settings = small_settings();
  settings.backend = Backend::cpu;
  settings.train.epochs = 4.0;
  settings.tune.method = TuneMethod::bayes;
  settings.tune.trials = 7;
  settings.tune.members = 2;
  settings.tune.settings = {SearchedSetting::lengthscale, SearchedSetting::amplitude, SearchedSetting::noise_sd,
                            SearchedSetting::layers, SearchedSetting::bottleneck_rate};
  return settings;
}

void expect_same_trials(const Study& a, const Study& b) {
  ASSERT_EQ(a.trials.size(), b.trials.size());
  for (std::size_t i = 0; i < a.trials.size(); ++i) {
    EXPECT_EQ(a.trials[i].point, b.trials[i].point);
    EXPECT_EQ(a.trials[i].value, b.trials[i].value);
    EXPECT_EQ(a.trials[i].message, b.trials[i].message);
  }
}

TEST(Trials, TrainedTogetherHaveTheOutcomesOfEachAlone) {
  const Dataset data = small_dataset();
  for (const TuneObjective objective : {TuneObjective::loss, TuneObjective::crps}) {
    RunSettings settings = tune_settings();
    settings.tune.objective = objective;
    const FitPlan plan = plan_fit(settings, data);
    const Trials trials(plan, data);
    const std::vector<Proposal> proposals = propose(make_study(trials.space()), 3);
    ASSERT_EQ(proposals.size(), 3U);
    const std::vector<TrialOutcome> together = trials.run(*make_engine(settings), proposals, {});
    for (std::size_t i = 0; i < proposals.size(); ++i) {
      const TrialOutcome alone = trials.run_alone(proposals[i], 2, {});
      EXPECT_EQ(alone.state, TrialState::done) << alone.message;
      EXPECT_EQ(alone.value, together[i].value);
      EXPECT_EQ(alone.message, together[i].message);
    }
    EXPECT_NE(together[0].value, together[1].value);
  }
}

TEST(Trials, GiveNetworksNoiseOfTheirOwnWhereTheSpreadIsJudged) {
  const Dataset data = small_dataset(40, 60, 0.3);
  for (const TuneObjective objective : {TuneObjective::loss, TuneObjective::crps}) {
    const auto value_of = [&](std::optional<double> value_noise_sd) {
      RunSettings settings = tune_settings();
      settings.tune.objective = objective;
      settings.train.value_noise_sd = value_noise_sd;
      const FitPlan plan = plan_fit(settings, data);
      const Trials trials(plan, data);
      return trials.run_alone(propose(make_study(trials.space(), {}), 1).front(), 1, {}).value;
    };
    EXPECT_EQ(value_of(std::nullopt) == value_of(0.0), objective == TuneObjective::loss) << word_of(objective);
  }
}

TEST(Trials, ThatDivergeAreFailuresAndTheOthersGoOn) {
  const Dataset data = small_dataset();
  RunSettings settings = tune_settings();
  settings.tune.settings = {SearchedSetting::bottleneck_rate};
  settings.model.coupling = Coupling::additive;  // bottlenecks feed the head; those of one chain feed cosines, which stay finite
  const FitPlan plan = plan_fit(settings, data);
  const Trials trials(plan, data);
  const std::vector<Proposal> proposals = {{.number = 0, .point = {1e30}, .seed = 1}, {.number = 1, .point = {5e-3}, .seed = 2}};
  const std::vector<TrialOutcome> outcomes = trials.run(*make_engine(settings), proposals, {});
  EXPECT_EQ(outcomes[0].state, TrialState::failed);
  EXPECT_THAT(outcomes[0].message, testing::HasSubstr("training diverged"));
  EXPECT_EQ(outcomes[1].state, TrialState::done);
}

TEST(Trials, AreNotJudgedWhenStopped) {
  const Dataset data = small_dataset();
  const RunSettings settings = tune_settings();
  const FitPlan plan = plan_fit(settings, data);
  const Trials trials(plan, data);
  std::stop_source source;
  source.request_stop();
  const std::vector<Proposal> proposals = propose(make_study(trials.space()), 2);
  EXPECT_THROW(trials.run(*make_engine(settings), proposals, {.stop = source.get_token()}), Stopped);
}

// A study may come from elsewhere.
TEST(TrialParts, OfAnyMessageAreNumbersOrNone) {
  Trial trial;
  trial.state = TrialState::done;
  for (const char* message : {"", "[]", "{", "{\"score\": \"x\"}", "{\"score\": null, \"check\": 1}", "3"}) {
    trial.message = message;
    EXPECT_FALSE(trial_parts(trial)) << message;
  }
  trial.message = R"({"score": 2, "roughness": "x", "check": 0.5})";
  const auto parts = trial_parts(trial);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->score, 2.0);
  EXPECT_EQ(parts->roughness, 0.0);
  EXPECT_EQ(parts->check, 0.5);
}

TEST(DrawsAhead, AreTheNetworksThatWouldBeDrawn) {
  NetworkSpec spec = default_spec(Space::plane, 2, true);
  spec.features = 20;
  spec.bottleneck = 4;
  DrawsAhead ahead(7, 6);
  const auto taken = [&](const NetworkSpec& wanted, std::size_t members, std::size_t number) {
    return ahead.take(wanted, members, seed_of_trial(7, number));
  };
  EXPECT_FALSE(taken(spec, 2, 4));  // nothing has begun
  ahead.begin(spec, 2, 3, 5);
  NetworkSpec other = spec;
  other.spatial.lengthscales = {0.01};
  other.spatial.amplitude = other.temporal.hidden_amplitude = 3.0;
  const auto found = taken(other, 2, 4);
  ASSERT_TRUE(found);
  const Ensemble drawn = draw_ensemble(other, seed_of_trial(7, 4), 2);
  EXPECT_EQ(found->spec, other);
  EXPECT_EQ(found->seed, drawn.seed);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(found->members[i].fixed, drawn.members[i].fixed);
    EXPECT_EQ(found->members[i].parameters, drawn.members[i].parameters);
  }
  EXPECT_FALSE(taken(other, 2, 4)) << "it was taken";
  EXPECT_FALSE(taken(other, 3, 3)) << "another number of members";
  other.features = 21;
  EXPECT_FALSE(taken(other, 2, 5)) << "another shape";
  EXPECT_FALSE(taken(spec, 2, 6)) << "beyond the end";
  // On the sphere degrees are drawn for a lengthscale.
  NetworkSpec sphere = default_spec(Space::sphere, 3, true);
  sphere.features = 20;
  sphere.bottleneck = 4;
  ahead.begin(sphere, 1, 0, 1);
  EXPECT_TRUE(taken(sphere, 1, 0)) << "frequencies of the unit vector are drawn for unit lengthscales";
  sphere.coupling = Coupling::additive;
  ahead.begin(sphere, 1, 0, 1);
  EXPECT_FALSE(taken(sphere, 1, 0));
}

TEST(TuneRun, OnTheCpuRunsOneTrialAtATimeUnlessToldOtherwise) {
  const Dataset data = small_dataset();
  RunSettings settings = tune_settings();
  const TuneResult open = tune_run(plan_fit(settings, data), data, {});
  EXPECT_EQ(open.study.plan.parallel, 1U);
  EXPECT_FALSE(open.study.plan.rounds);
  settings.tune.parallel = 1;
  expect_same_trials(open.study, tune_run(plan_fit(settings, data), data, {}).study);
}

TEST(TuneRun, LearnsAfterAsManyTrialsAsItIsTold) {
  const Dataset data = small_dataset();
  const ScratchFolder folder;
  RunSettings settings = tune_settings();
  settings.tune.trials = 4;
  settings.tune.initial = 2;
  const FitPlan plan = plan_fit(settings, data);
  const TuneResult early = tune_run(plan, data, folder / "study.json");
  EXPECT_EQ(early.study.plan.initial, 2U);
  settings.tune.initial.reset();  // a resumed study keeps its own number
  settings.tune.trials = 5;
  const TuneResult resumed = tune_run(plan_fit(settings, data), data, folder / "study.json");
  EXPECT_EQ(resumed.study.trials.size(), 5U);
  EXPECT_EQ(resumed.study.plan.initial, 2U);
}

TEST(TuneRun, GoesOnWithAStudyOfAnotherMachineByItsOwnPlan) {
  const Dataset data = small_dataset();
  RunSettings settings = tune_settings();
  const ScratchFolder folder;
  const auto path = folder / "study.json";
  settings.tune.trials = 4;
  tune_run(plan_fit(settings, data), data, path);
  Study study = load_study(path);
  study.plan.parallel = 3;  // as a GPU would have had it
  study.plan.rounds = true;
  save_study(study, path);
  settings.tune.trials = 6;
  const Study longer = tune_run(plan_fit(settings, data), data, path).study;
  EXPECT_EQ(longer.trials.size(), 6U);
  EXPECT_EQ(longer.plan.parallel, 3U);
  EXPECT_TRUE(longer.plan.rounds);
  settings.tune.parallel = 2;
  EXPECT_THROW(tune_run(plan_fit(settings, data), data, path), UsageError);
}

TEST(TuneRun, DoesNotGoOnWithTrialsOfOtherDataOrSettings) {
  Dataset data = small_dataset();
  RunSettings settings = tune_settings();
  const ScratchFolder folder;
  const auto path = folder / "study.json";
  settings.tune.trials = 1;
  tune_run(plan_fit(settings, data), data, path);
  settings.model.members = 7;  // of the fit, not of trials
  settings.threads = 1;
  settings.tune.trials = 2;
  EXPECT_EQ(tune_run(plan_fit(settings, data), data, path).study.trials.size(), 2U);
  RunSettings other = settings;
  other.tune.objective = TuneObjective::crps;
  EXPECT_THROW(tune_run(plan_fit(other, data), data, path), UsageError);
  other = settings;
  other.train.loss = LossKind::huber;
  EXPECT_THROW(tune_run(plan_fit(other, data), data, path), UsageError);
  data.observations.sigma.assign(data.observations.size(), 0.1F);
  EXPECT_THROW(tune_run(plan_fit(settings, data), data, path), UsageError);
}

}  // namespace
}  // namespace drift
