#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "core/scratch_folder.h"
#include "drift/predict.h"
#include "drift/tune_run.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

RunSettings quick_settings() {
  RunSettings settings = network_settings();
  settings.train.epochs = 3.0;
  return settings;
}

TEST(RunFit, SavesTheModelOfPlanAndFitAndRemovesTheCheckpoint) {
  const ScratchFolder folder;
  const Dataset data = small_dataset();
  RunSettings settings = quick_settings();
  settings.output.model = (folder / "m.safetensors").string();
  std::vector<std::string> choices;
  double last = 0.0;
  const FittedRun run = run_fit(settings, data,
                                {.progress =
                                     [&](double share, const std::string&) {
                                       EXPECT_GE(share, last);
                                       last = share;
                                     }},
                                {.planned = [&](const FitPlan& plan) { choices = plan.choices; }});
  EXPECT_FALSE(choices.empty());
  EXPECT_EQ(last, 1.0);
  const FieldModel by_hand = fit(plan_fit(settings, data), data).model;
  const FieldModel saved = load_field_model(settings.output.model);
  ASSERT_EQ(saved.ensemble.members.size(), by_hand.ensemble.members.size());
  EXPECT_EQ(saved.ensemble.members[1].parameters, by_hand.ensemble.members[1].parameters);
  EXPECT_EQ(saved.info.conformal, run.result.model.info.conformal);
  EXPECT_FALSE(std::filesystem::exists(folder / "m.safetensors.checkpoint"));
}

RunSettings without_networks(const FitChoice& method, const std::filesystem::path& model) {
  RunSettings settings = small_settings();
  settings.fit.method = method;
  settings.output.model = model.string();
  return settings;
}

TEST(RunFit, WithoutNetworksLeavesACheckpointAlone) {
  const ScratchFolder folder;
  const std::filesystem::path model = folder / "m.safetensors", checkpoint = folder / "m.safetensors.checkpoint";
  std::ofstream(checkpoint) << "progress of an earlier run";
  for (const FitChoice& method : {FitChoice(FitMethod::process), fit_choice("nngp:subset=100")}) {
    run_fit(without_networks(method, model), small_dataset(10, 12));
    EXPECT_TRUE(std::filesystem::exists(model));
    EXPECT_TRUE(std::filesystem::exists(checkpoint)) << text_of(method);
  }
}

TEST(RunFit, StoppedWithoutNetworksDoesNotPointToACheckpoint) {
  const ScratchFolder folder;
  const std::filesystem::path checkpoint = folder / "m.safetensors.checkpoint";
  std::ofstream(checkpoint) << "progress of an earlier run";
  for (const FitChoice& method : {FitChoice(FitMethod::process), fit_choice("nngp:subset=100")}) {
    const FitPlan plan = plan_fit(without_networks(method, folder / "m.safetensors"), small_dataset());
    std::stop_source stop;
    stop.request_stop();
    try {
      fit(plan, small_dataset(), {.stop = stop.get_token(), .checkpoint = checkpoint});
      ADD_FAILURE() << "it went on";
    } catch (const Stopped& stopped) {
      EXPECT_STREQ(stopped.what(), "stopped; nothing was written: only the training of networks has checkpoints")
          << text_of(method);
    }
  }
}

TEST(RunFit, SearchesFirstWhenTheSettingsAskForIt) {
  RunSettings settings = quick_settings();
  settings.tune.method = TuneMethod::bayes;
  settings.tune.trials = 2;
  std::size_t plans = 0, trials = 0;
  run_fit(settings, small_dataset(), {},
          {.planned = [&](const FitPlan&) { ++plans; }, .trial = [&](const Study&, const Trial&) { ++trials; }});
  EXPECT_EQ(plans, 2u);
  EXPECT_EQ(trials, 2u);
}

// Whatever the work is at when a stop is asked for, it ends with Stopped and leaves no model.
TEST(RunFit, StopsAtEveryStage) {
  const ScratchFolder folder;
  RunSettings settings = small_settings();
  settings.train.epochs = 3.0;
  settings.output.model = (folder / "m.safetensors").string();
  std::set<std::string> stages;
  for (const double at : {0.0, 0.01, 0.7, 0.9, 0.95}) {
    std::stop_source stop;
    if (at == 0.0) stop.request_stop();
    const Control control = {.progress =
                                 [&](double share, const std::string& what) {
                                   if (share < at || stop.stop_requested()) return;
                                   stages.insert(what.substr(0, 7));
                                   stop.request_stop();
                                 },
                             .stop = stop.get_token(),
                             .fresh = true};
    EXPECT_THROW(run_fit(settings, small_dataset(24, 20), control), Stopped) << at;
    EXPECT_FALSE(std::filesystem::exists(settings.output.model)) << at;
  }
  EXPECT_GE(stages.size(), 2u) << "training, the process and judging should all have been under way";
}

TEST(PredictMap, HasTheSameNumbersInMemoryAsAtPoints) {
  const FieldModel model = run_fit(quick_settings(), small_dataset()).result.model;
  const Field field =
      predict_map(model, {.grid = parse_grid("bbox:-10,15,10,30:5"), .time_days = {20003.0}, .wants = {.gradient = true}});
  std::vector<double> lon(field.header.grid.size()), lat(lon.size());
  grid_positions(field.header.grid, 0, lon, lat);
  const PointLayers points = predict_at(*make_cpu_engine(), model, lon, lat, std::vector<double>{20003.0}, {.gradient = true});
  ASSERT_EQ(points.layers.size(), field.header.layers.size());
  for (std::size_t i = 0; i < points.layers.size(); ++i) {
    EXPECT_EQ(points.layers[i].info.name, field.header.layers[i].info.name);
    EXPECT_EQ(points.values[i], field.values[i]) << points.layers[i].info.name;
  }
  EXPECT_EQ(field.layer("ssh_upper90").size(), lon.size());
  EXPECT_EQ(field.layer("ugos").size(), lon.size());
}

TEST(PredictMap, StoppedLeavesNoFile) {
  const ScratchFolder folder;
  const FieldModel model = run_fit(quick_settings(), small_dataset()).result.model;
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(predict_map(*make_cpu_engine(), model, {.grid = parse_grid("bbox:-10,15,10,30:5"), .time_days = {20003.0}},
                           netcdf_sink(folder / "map.nc"), {.stop = stop.get_token()}),
               Stopped);
  EXPECT_EQ(folder.files(), 0u);
}

}  // namespace
}  // namespace drift
