// Whatever takes a Control ends within a second of a stop request, with Stopped and without leaving a file.

#include "drift/control.h"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <map>
#include <thread>

#include "core/child_process.h"
#include "core/random.h"
#include "core/scratch_folder.h"
#include "drift/compare.h"
#include "drift/ocean_mask.h"
#include "drift/plot.h"
#include "drift/predict.h"
#include "drift/simulate.h"
#include "drift/synthetic_field.h"
#include "drift/truth.h"
#include "drift/tune_run.h"
#include "fields/sources.h"
#include "fitting/fitting_testing.h"
#include "fitting/judge.h"

namespace drift {
namespace {

constexpr double kLongestS = 1.0;

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
  const RunSettings settings = network_settings(1.0);
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
  const std::vector<double> here = {0.0};
  const std::map<std::string, std::function<void(const Control&)>> works = {
      {"reading", [&](const Control& c) { read_observations({csv}, {.roles = {.value = "value"}}, c); }},
      {"planning", [&](const Control& c) { plan_fit(settings, data, Judging::automatic, c); }},
      {"training", [&](const Control& c) { fit(plan, data, c); }},
      {"kriging", [&](const Control& c) { fit(kriging, data, c); }},
      {"searching", [&](const Control& c) { tune_run(plan, data, {}, c); }},
      {"comparing", [&](const Control& c) { compare(compared, data, c); }},
      {"predicting", [&](const Control& c) { predict_map(*make_cpu_engine(), model, map, netcdf_sink(folder / "m.nc"), c); }},
      {"scoring", [&](const Control& c) { score_model(*make_cpu_engine(), model, data, ScoreGroups::none, c); }},
      {"simulating", [&](const Control& c) { simulate(synthetic_truth().truth, {.days = 3.0}, nullptr, c); }},
      {"plotting", [&](const Control& c) { plot_map(drawn, folder / "m.png", {}, c); }},
      {"planning a comparison", [&](const Control& c) { plan_compare(comparing, data, make_compared_method, c); }},
      {"drawing progress",
       [&](const Control& c) {
         plot_progress({1.0, 0.5}, folder / "p.png", c);
       }},
      {"masking", [&](const Control& c) { is_ocean(here, here, {}, c); }},
      {"opening a truth", [&](const Control& c) { open_truth(drawn, 1, c); }},
  };
  for (const auto& [name, work] : works) EXPECT_LT(seconds_to_stop(work, std::chrono::milliseconds(0)), kLongestS) << name;
  EXPECT_EQ(folder.files(), files);
}

// Longer work, stopped in its midst.
TEST(Control, StopsLongWorkInItsMidst) {
  using std::chrono::milliseconds;
  const ScratchFolder folder;
  const Dataset data = small_dataset(24, 20);
  RunSettings settings = network_settings(1.0), kriging = settings;
  settings.train.epochs = 100000.0;
  settings.compare.methods = {"drift"};
  settings.compare.folder = (folder / "comparison").string();
  settings.compare.grid = "bbox:-10,15,10,30:5";
  kriging.fit.method = FitMethod::process;
  const Dataset more = small_dataset(60, 100);
  const FitPlan plan = plan_fit(settings, data), krige = plan_fit(kriging, more);
  const ComparePlan compared = plan_compare(settings, data);
  const FieldModel networks = fit(plan_fit(network_settings(1.0), data), data).model;
  const Dataset few = small_dataset(10, 12);
  const FieldModel process = fit(plan_fit(kriging, few), few).model;
  const MapOptions wide = {.grid = parse_grid("global:0.1"), .time_days = {20003.0}};
  const std::string csv = (folder / "long.csv").string(), drawn = (folder / "drawn.nc").string();
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "1.234567,2.345678,20000.123456,0.123456789\n";
  {
    std::ofstream file(csv);
    file << "lon,lat,time,value\n";
    for (int i = 0; i < 2000; ++i) file << lines;
  }
  predict_map(*make_cpu_engine(), networks, {.grid = parse_grid("global:5"), .time_days = {20003.0}}, netcdf_sink(drawn));
  Dataset many = few;
  many.observations = {};
  for (int i = 0; i < 300000; ++i) {
    many.observations.lon_deg.push_back(1e-4 * i - 15.0), many.observations.lat_deg.push_back(20.0);
    many.observations.time_days.push_back(20003.0), many.observations.value.push_back(0.1);
  }
  struct Long {
    const char* name;
    std::function<void(const Control&)> work;
    milliseconds after = milliseconds(300);
  };
  const std::vector<Long> works = {
      {"reading", [&](const Control& c) { read_observations({csv}, {.roles = {.value = "value"}}, c); }, milliseconds(50)},
      {"training", [&](const Control& c) { fit(plan, data, c); }},
      {"searching", [&](const Control& c) { tune_run(plan, data, {}, c); }},
      {"comparing", [&](const Control& c) { compare(compared, data, c); }},
      {"kriging", [&](const Control& c) { fit(krige, more, c); }},
      {"judging", [&](const Control& c) { score_model(*make_cpu_engine(), process, many, ScoreGroups::none, c); }},
      {"simulating", [&](const Control& c) { simulate(synthetic_truth().truth, {.days = 300.0}, nullptr, c); }},
      {"predicting", [&](const Control& c) { predict_map(networks, wide, c); }},
      {"plotting", [&](const Control& c) { plot_map(drawn, folder / "m.png", {}, c); }, milliseconds(100)},
  };
  for (const Long& one : works) EXPECT_LT(seconds_to_stop(one.work, one.after), kLongestS) << one.name;
}

// Millions of observations in no order, so that every stage of a plan takes its time: the split into blocks, the folds, the gaps
// between neighbours.
TEST(Control, StopsPlansOfMillionsOfObservationsAtAnyStage) {
  constexpr std::size_t kCount = 2'000'000;
  Dataset data;
  data.value = {"ssh", "", "", "m"};
  data.calendar_time = true;
  RandomStream random({.seed = 5, .purpose = Purpose::simulation});
  for (std::size_t i = 0; i < kCount; ++i) {
    data.observations.lon_deg.push_back(-20.0 + 40.0 * random.uniform());
    data.observations.lat_deg.push_back(10.0 + 30.0 * random.uniform());
    data.observations.time_days.push_back(20000.0 + 10.0 * random.uniform());
    data.observations.value.push_back(random.normal());
  }
  RunSettings settings = network_settings(1.0);
  settings.split.method = SplitMethod::block;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begun = Clock::now();
  plan_fit(settings, data);
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun);
  for (const int percent : {15, 40, 65}) {
    const auto plan = [&](const Control& c) { plan_fit(settings, data, Judging::automatic, c); };
    EXPECT_LT(seconds_to_stop(plan, whole * percent / 100), kLongestS) << percent << " % of " << whole.count() << " ms";
  }
}

// What judges and scores millions of observations, after their forecast.
TEST(Control, StopsNoiseAndScoresOfMillionsOfForecasts) {
  constexpr std::size_t kCount = 2'000'000;
  Forecast forecast = {.y = {}, .mean = std::vector<double>(kCount, 0.0), .sd_epistemic = {}, .noise_sd = {}};
  RandomStream random({.seed = 6, .purpose = Purpose::simulation});
  for (std::size_t i = 0; i < kCount; ++i) forecast.y.push_back(random.normal());
  forecast.sd_epistemic.assign(kCount, 0.5);
  forecast.noise_sd.assign(kCount, 0.5);
  const FieldModel model;
  const auto noise = [&](const Control& c) { estimate_noise(forecast, 1.0, c); };
  const auto scores = [&](const Control& c) { score(model, forecast, c); };
  EXPECT_LT(seconds_to_stop(noise, std::chrono::milliseconds(300)), kLongestS);
  EXPECT_LT(seconds_to_stop(scores, std::chrono::milliseconds(300)), kLongestS);
}

TEST(Control, StopsTheForecastOfAFitsTime) {
  const Dataset data = small_dataset(60, 60);
  RunSettings settings = network_settings(1.0);
  settings.model.members = 80;
  settings.model.layers = 4;
  settings.model.features = 250;
  settings.model.bottleneck = 32;
  settings.train.batch = 3000;
  settings.train.epochs = 8.0;
  const FitPlan plan = plan_fit(settings, data);
  const auto foresee = [&](const Control& c) { foresee_seconds(plan, data, c); };
  EXPECT_LT(seconds_to_stop(foresee, std::chrono::milliseconds(300)), kLongestS);
  EXPECT_THROW(foresee({.threads = -1}), UsageError);
}

// GDAL turns the numbers into a GeoTIFF, and packed Zarr stores into NetCDF.
TEST(Control, StopsGdal) {
  const ScratchFolder folder;
  const auto sleep = [&](const Control& c) { run_gdal(find_program("sleep"), {"60"}, folder / "", c.stop); };
  EXPECT_LT(seconds_to_stop(sleep, std::chrono::milliseconds(100)), kLongestS);
  if (find_program("gdal_translate").empty()) GTEST_SKIP() << "no gdal_translate";
  const Grid grid = parse_grid("bbox:0,0,40,40:0.01");
  const auto sink = geotiff_sink(folder / "map.tif")({.grid = grid, .layers = {{.info = {"ssh", "", "", "m"}}}});
  RandomStream random({.seed = 7, .purpose = Purpose::simulation});
  std::vector<double> row(grid.x.count);
  for (std::size_t r = 0; r < grid.y.count; ++r) {
    for (double& value : row) value = random.uniform();
    sink->write(0, 0, r, row);
  }
  const auto finish = [&](const Control& c) { sink->finish(c); };
  EXPECT_LT(seconds_to_stop(finish, std::chrono::milliseconds(300)), kLongestS);
  EXPECT_FALSE(std::filesystem::exists(folder / "map.tif"));
}

TEST(Control, StopsTheChecksumOfAFile) {
  const ScratchFolder folder;
  write_bytes(folder / "a.csv", std::string(std::size_t{4} << 20, 'x'));
  const auto sum = [&](const Control& c) { sources_of({(folder / "a.csv").string()}, 2, c); };
  EXPECT_LT(seconds_to_stop(sum, std::chrono::milliseconds(0)), kLongestS);
}

TEST(Control, ItsNumberOfThreadsComesBeforeTheSettings) {
  const ScratchFolder folder;
  const Dataset data = small_dataset(24, 20);
  RunSettings settings = network_settings(1.0), kriging = settings;
  settings.threads = 1;
  settings.tune.trials = 1;
  settings.compare.methods = {"nngp:subset=100"};
  settings.compare.folder = (folder / "comparison").string();
  settings.compare.seeds = 1;
  settings.compare.grid = "bbox:-10,15,10,30:5";
  kriging.fit.method = FitMethod::process;
  const FitPlan plan = plan_fit(settings, data), by_process = plan_fit(kriging, data);
  const ComparePlan compared = plan_compare(settings, data);
  const Control three = {.threads = 3}, invalid = {.threads = -1};
  EXPECT_EQ(plan_fit(settings, data, Judging::automatic, three).settings.threads, 3);
  EXPECT_EQ(plan_compare(settings, data, make_compared_method, three).fit.settings.threads, 3);
  EXPECT_EQ(run_settings_from_toml(fit(plan, data, three).model.settings, "model").threads, 3);
  EXPECT_EQ(tune_run(plan, data, {}, three).settings.threads, 3);
  EXPECT_EQ(compare(compared, data, three).threads, 3);
  // Whoever takes it notices that this one is none.
  const std::string csv = (folder / "o.csv").string();
  std::ofstream(csv) << "lon,lat,time,value\n1,2,3,4\n5,6,7,8\n";
  const std::map<std::string, std::function<void(const Control&)>> works = {
      {"reading", [&](const Control& c) { read_observations({csv}, {.roles = {.value = "value"}}, c); }},
      {"planning", [&](const Control& c) { plan_fit(settings, data, Judging::automatic, c); }},
      {"training", [&](const Control& c) { fit(plan, data, c); }},
      {"kriging", [&](const Control& c) { fit(by_process, data, c); }},
      {"searching", [&](const Control& c) { tune_run(plan, data, {}, c); }},
      {"planning a comparison", [&](const Control& c) { plan_compare(settings, data, make_compared_method, c); }},
      {"comparing", [&](const Control& c) { compare(compared, data, c); }},
      {"simulating", [&](const Control& c) { simulate(synthetic_truth().truth, {.days = 3.0}, nullptr, c); }},
  };
  for (const auto& [name, work] : works) EXPECT_THROW(work(invalid), UsageError) << name;
}

}  // namespace
}  // namespace drift
