#include "drift/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/predict.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

TEST(Fit, LearnsTheFieldAndTheNoise) {
  const Dataset data = small_dataset(30, 24, 0.1);
  const FitResult result = fit(plan_fit(small_settings(), data), data);
  ASSERT_TRUE(result.held_out);
  EXPECT_LT(result.held_out->rmse, 0.2);  // of values whose standard deviation is about 1, and noise of 0.1
  EXPECT_NEAR(result.model.info.noise_sd, 0.1, 0.05);
  EXPECT_GT(result.held_out->intervals[2].share, 0.75);
  EXPECT_EQ(result.model.info.value.name, "ssh");
  EXPECT_NEAR(result.model.info.first_time_days, 20000.0, 0.5);
}

TEST(Fit, TakesAGivenNoiseAsItIs) {
  const Dataset data = small_dataset(20, 20);
  RunSettings settings = small_settings();
  settings.uncertainty.noise_sd = 0.3;
  settings.train.epochs = 2.0;
  EXPECT_EQ(fit(plan_fit(settings, data), data).model.info.noise_sd, 0.3);
}

TEST(Fit, StoppedAndTakenUpAgainEndsAsIfItHadNeverStopped) {
  const Dataset data = small_dataset(40, 20);
  RunSettings settings = network_settings();  // whose training is what checkpoints keep
  const FitPlan plan = plan_fit(settings, data);
  const FieldModel whole = fit(plan, data).model;

  const ScratchFolder folder;
  std::stop_source stop;
  Control control;
  control.checkpoint = folder / "m.checkpoint";
  control.stop = stop.get_token();
  control.progress = [&](double share, const std::string&) {
    if (share > 0.25) stop.request_stop();
  };
  // A machine may finish before the first report; then there is nothing to take up.
  EXPECT_THROW(fit(plan, data, control), Stopped);
  control.stop = {};
  control.progress = {};
  std::vector<std::string> said;
  control.say = [&](const std::string& text) { said.push_back(text); };
  const FitResult resumed = fit(plan, data, control);
  ASSERT_FALSE(said.empty());
  EXPECT_THAT(said[0], HasSubstr("Resuming from"));
  for (std::size_t m = 0; m < whole.ensemble.members.size(); ++m) {
    EXPECT_EQ(resumed.model.ensemble.members[m].parameters, whole.ensemble.members[m].parameters);
  }
}

// Checkpoints are of networks: no process is fitted beside them.
RunSettings one_epoch() {
  RunSettings settings = network_settings();
  settings.train.epochs = 1.0;
  return settings;
}

// Why a run does not take up the checkpoint that an earlier one left; empty: it does.
std::string why_not_taken_up(const RunSettings& earlier, const Dataset& seen, const RunSettings& now, const Dataset& data) {
  const ScratchFolder folder;
  Control control;
  control.checkpoint = folder / "m.checkpoint";
  fit(plan_fit(earlier, seen), seen, control);
  EXPECT_TRUE(std::filesystem::exists(control.checkpoint)) << "the last one stays until the model is saved";
  const FitPlan plan = plan_fit(now, data);
  std::string why;
  try {
    fit(plan, data, control);
  } catch (const UsageError& error) {
    why = error.what();
  }
  control.fresh = true;
  EXPECT_NO_THROW(fit(plan, data, control));
  return why;
}

TEST(Fit, SaysWhatDiffersWhereACheckpointIsOfAnotherRun) {
  Dataset data = small_dataset();
  RunSettings settings = one_epoch(), other = settings;
  other.train.epochs = 2.0;
  other.train.loss = LossKind::huber;
  EXPECT_EQ(why_not_taken_up(settings, data, settings, data), "");
  const std::string why = why_not_taken_up(settings, data, other, data);
  EXPECT_THAT(why, HasSubstr("of another run: [train] epochs was 1 and is 2 now; [train] loss was \"squared\" and is \"huber\""));
  EXPECT_THAT(why, HasSubstr("--fresh"));
  Dataset changed = data;
  changed.observations.value[5] += 1.0;
  EXPECT_THAT(why_not_taken_up(settings, data, settings, changed), HasSubstr("the observations differ"));
}

TEST(Fit, DoesNotTakeUpACheckpointWithOtherSigmas) {
  Dataset data = small_dataset(), other = data;
  data.observations.sigma.assign(data.observations.size(), 0.1F);
  other.observations.sigma.assign(other.observations.size(), 0.2F);
  RunSettings settings = one_epoch(), other_settings = settings;
  settings.data.roles.sigma = "error";
  other_settings.data.roles.sigma = "error2";
  EXPECT_THAT(why_not_taken_up(settings, data, other_settings, other),
              HasSubstr("[data] sigma was \"error\" and is \"error2\" now"));
}

TEST(Fit, DoesNotTakeUpAnEnsembleAsVariational) {
  const Dataset data = small_dataset();
  RunSettings settings = one_epoch();
  settings.model.members = 1;
  RunSettings variational = settings;
  variational.uncertainty.method = UncertaintyMethod::variational;
  EXPECT_THAT(why_not_taken_up(settings, data, variational, data),
              HasSubstr("[uncertainty] method was \"ensemble\" and is \"variational\" now"));
}

TEST(Fit, RefusesACheckpointThatDoesNotSayOfWhichSettings) {
  const Dataset data = small_dataset();
  const FitPlan plan = plan_fit(small_settings(), data);
  const ScratchFolder folder;
  Control control;
  control.checkpoint = folder / "m.checkpoint";
  const Ensemble ensemble = draw_ensemble(plan.spec, 1, plan.members);
  TrainingState state;
  for (const Member& member : ensemble.members) {
    state.members.push_back({.step = 0,
                             .moment1 = std::vector<float>(member.parameters.size()),
                             .moment2 = std::vector<float>(member.parameters.size()),
                             .losses = {}});
  }
  save_checkpoint(control.checkpoint, ensemble, state, plan.recipe, {{"fingerprint", "of another"}});
  EXPECT_THROW(fit(plan, data, control), UsageError);
}

// The whole sphere, so that the date line and the poles are inside.
TEST(Fit, IsContinuousAcrossTheDateLineAndAtThePoles) {
  Dataset data = small_dataset(20, 30);
  RandomStream random({.seed = 5, .purpose = Purpose::simulation});
  Observations& o = data.observations;
  for (std::size_t i = 0; i < o.size(); ++i) {
    const double z = 2.0 * random.uniform() - 1.0;
    o.lon_deg[i] = -180.0 + 360.0 * random.uniform();
    o.lat_deg[i] = std::asin(z) * 180.0 / 3.14159265358979;
    const UnitVector at = unit_vector({o.lon_deg[i], o.lat_deg[i]});
    o.value[i] = at[0] + 2.0 * at[1] * at[2] + 0.01 * random.normal();
  }
  RunSettings settings = small_settings();
  const FitPlan plan = plan_fit(settings, data);
  ASSERT_EQ(plan.domain.kind, DomainKind::sphere);
  const FieldModel model = fit(plan, data).model;
  const auto engine = make_cpu_engine();
  const std::vector<double> time = {20003.0};
  for (const double lat : {-60.0, 0.0, 45.0}) {
    const FieldPrediction p =
        predict_field(*engine, model, std::vector<double>{180.0, -180.0, 179.999, -179.999}, std::vector<double>(4, lat), time);
    constexpr double kSineOfHalfATurn = 1e-9;  // sin(180°) and sin(-180°) differ in the last bit of a double
    EXPECT_NEAR(p.mean[0], p.mean[1], kSineOfHalfATurn);
    EXPECT_NEAR(p.sd_total[0], p.sd_total[1], kSineOfHalfATurn);
    EXPECT_NEAR(p.mean[2], p.mean[3], 1e-3);
  }
  for (const double pole : {-90.0, 90.0}) {
    const FieldPrediction p =
        predict_field(*engine, model, std::vector<double>{0.0, 77.0, -140.0}, std::vector<double>(3, pole), time);
    EXPECT_NEAR(p.mean[0], p.mean[1], 1e-5);
    EXPECT_NEAR(p.mean[0], p.mean[2], 1e-5);
    const FieldPrediction near = predict_field(*engine, model, std::vector<double>{10.0, 190.0},
                                               std::vector<double>(2, pole > 0 ? 89.999 : -89.999), time);
    EXPECT_NEAR(near.mean[0], near.mean[1], 1e-3);
  }
}

// 1e6 + 1e-3 f: single precision has no digit left for f there, 0.06 apart.
TEST(Fit, OfSmallChangesOnALargeMeanScoresAsTheChangesAlone) {
  const auto scores = [](double scale, double mean) {
    Dataset data = small_dataset(30, 12);
    for (double& value : data.observations.value) value = mean + scale * value;
    RunSettings settings = small_settings();
    settings.fit.method = FitMethod::process;
    const FieldModel model = fit(plan_fit(settings, data), data).model;
    return score_model(*make_cpu_engine(), model, data).all;
  };
  const Scores alone = scores(1.0, 0.0), small = scores(1e-3, 1e6);
  constexpr double kTolerance = 0.05;  // the search for parameters stops elsewhere within its own tolerance
  EXPECT_NEAR(small.rmse / 1e-3, alone.rmse, kTolerance * alone.rmse);
  EXPECT_NEAR(*small.crps / 1e-3, *alone.crps, kTolerance * *alone.crps);
  EXPECT_NEAR(*small.mean_sd / 1e-3, *alone.mean_sd, kTolerance * *alone.mean_sd);
  EXPECT_LT(small.rmse, 1e-3);  // of a field whose standard deviation is 1e-3
}

}  // namespace
}  // namespace drift
