// Whatever takes a Control ends within a second of a stop request, with Stopped and without leaving a file.

#include "drift/control.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include "core/scratch_folder.h"
#include "drift/compare.h"
#include "drift/plot.h"
#include "drift/predict.h"
#include "drift/simulate.h"
#include "drift/synthetic_field.h"
#include "drift/tune_run.h"
#include "fitting/fitting_testing.h"

namespace drift {
namespace {

constexpr double kLongestS = 1.0;

RunSettings network_settings() {
  RunSettings settings = small_settings();
  settings.fit.method = FitMethod::network;
  settings.train.epochs = 1.0;
  return settings;
}

// Seconds from the stop request, `after` the beginning, to Stopped.
double seconds_to_stop(const std::function<void(const Control&)>& work, std::chrono::milliseconds after) {
  using Clock = std::chrono::steady_clock;
  std::stop_source stop;
  Clock::time_point asked = Clock::now();
  if (after.count() == 0) stop.request_stop();
  std::jthread asking([&] {
    if (after.count() == 0) return;
    std::this_thread::sleep_for(after);
    asked = Clock::now();
    stop.request_stop();
  });
  EXPECT_THROW(work({.stop = stop.get_token()}), Stopped);
  const Clock::time_point ended = Clock::now();
  asking.join();
  return std::chrono::duration<double>(ended - asked).count();
}

TEST(Control, StopsWhateverTakesIt) {
  const ScratchFolder folder;
  const Dataset data = small_dataset(24, 20);
  const RunSettings settings = network_settings();
  const FitPlan plan = plan_fit(settings, data);
  const FieldModel model = fit(plan, data).model;
  const MapOptions map = {.grid = parse_grid("bbox:-10,15,10,30:5"), .time_days = {20003.0}};
  const std::string csv = (folder / "o.csv").string(), drawn = (folder / "drawn.nc").string();
  std::ofstream(csv) << "lon,lat,time,value\n1,2,3,4\n5,6,7,8\n";
  predict_map(*make_cpu_engine(), model, map, netcdf_sink(drawn));
  const std::size_t files = folder.files();
  RunSettings comparing = settings, process = settings;
  comparing.compare.methods = {"nngp:subset=100"};
  comparing.compare.grid = "bbox:-10,15,10,30:5";
  const ComparePlan compared = plan_compare(comparing, data);
  process.fit.method = FitMethod::process;
  const FitPlan kriging = plan_fit(process, data);
  const std::map<std::string, std::function<void(const Control&)>> works = {
      {"reading", [&](const Control& c) { read_observations({csv}, {.roles = {.value = "value"}}, c); }},
      {"planning", [&](const Control& c) { plan_fit(settings, data, Judging::automatic, c); }},
      {"training", [&](const Control& c) { fit(plan, data, c); }},
      {"kriging", [&](const Control& c) { fit(kriging, data, c); }},
      {"searching", [&](const Control& c) { tune_run(plan, data, {}, c); }},
      {"comparing", [&](const Control& c) { compare(compared, data, c); }},
      {"predicting", [&](const Control& c) { predict_map(*make_cpu_engine(), model, map, netcdf_sink(folder / "m.nc"), c); }},
      {"scoring", [&](const Control& c) { score_model(*make_cpu_engine(), model, data.observations, ScoreGroups::none, c); }},
      {"simulating", [&](const Control& c) { simulate(synthetic_truth().truth, {.days = 3.0}, nullptr, c); }},
      {"plotting", [&](const Control& c) { plot_map(drawn, folder / "m.png", {}, c); }},
  };
  for (const auto& [name, work] : works) EXPECT_LT(seconds_to_stop(work, std::chrono::milliseconds(0)), kLongestS) << name;
  EXPECT_EQ(folder.files(), files);
}

// Work that would take minutes, stopped in its midst.
TEST(Control, StopsLongWorkInItsMidst) {
  const Dataset data = small_dataset(24, 20);
  RunSettings settings = network_settings();
  settings.train.epochs = 100000.0;
  const FitPlan plan = plan_fit(settings, data);
  const FieldModel model = fit(plan_fit(network_settings(), data), data).model;
  const MapOptions wide = {.grid = parse_grid("global:0.1"), .time_days = {20003.0}};
  const std::map<std::string, std::function<void(const Control&)>> works = {
      {"training", [&](const Control& c) { fit(plan, data, c); }},
      {"simulating", [&](const Control& c) { simulate(synthetic_truth().truth, {.days = 300.0}, nullptr, c); }},
      {"predicting", [&](const Control& c) { predict_map(model, wide, c); }},
  };
  for (const auto& [name, work] : works) EXPECT_LT(seconds_to_stop(work, std::chrono::milliseconds(300)), kLongestS) << name;
}

}  // namespace
}  // namespace drift
