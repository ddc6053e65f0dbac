#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "drift/field_file.h"
#include "drift/read_observations.h"
#include "drift/truth.h"
#include "run_command.h"

namespace {

using nlohmann::json;

drift::Reading read(const TemporaryFolder& folder, const std::string& name) {
  return drift::read_observations({(folder.path() / name).string()});
}

// A truth of 30, 31, ... at its times, on three days from 2020-01-01 (25567) on, at every place but those north of 60 N.
void write_truth(const std::filesystem::path& path, const std::vector<double>& time_days = {25567.0, 25568.0, 25569.0}) {
  drift::FieldHeader options = {.grid = drift::parse_grid("global:10"),
                                .time_days = time_days,
                                .layers = {{.info = {"zos", "Sea surface height", "sea_surface_height_above_geoid", "m"}}}};
  drift::FieldFileWriter writer(path, options);
  std::vector<double> values(options.grid.size());
  for (std::size_t time = 0; time < time_days.size(); ++time) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool known = options.grid.y.at(i / options.grid.x.count) < 60.0;
      values[i] = known ? 30.0 + static_cast<double>(time) : std::nan("");
    }
    writer.write(0, time, 0, values);
  }
  writer.finish();
}

TEST(Simulate, WritesObservationsThatDriftReadsWithoutBeingTold) {
  const TemporaryFolder folder;
  const FinishedRun run = run_shell(folder.path(),
                                    "drift simulate --out tracks.nc --truth geoid --observations 3000 --days 2 "
                                    "--bbox -50,25,-10,55 --noise 0.05 --json");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const json result = json::parse(run.out);
  const drift::Reading reading = read(folder, "tracks.nc");
  const drift::Observations& observations = reading.observations;
  EXPECT_EQ(observations.size(), result["observations"]);
  EXPECT_NEAR(static_cast<double>(observations.size()), 3000.0, 150.0);
  EXPECT_EQ(reading.value.name, "geoid_height");
  EXPECT_EQ(reading.value.unit, "m");
  EXPECT_TRUE(reading.calendar_time);
  EXPECT_EQ(reading.tracks, result["tracks"]);
  EXPECT_EQ(observations.platform_names.size(), 3u);
  ASSERT_EQ(observations.sigma.size(), observations.size());
  EXPECT_EQ(observations.sigma[0], 0.05f);
  for (std::size_t i = 0; i < observations.size(); ++i) {
    EXPECT_TRUE(observations.lon_deg[i] >= -50.0 && observations.lon_deg[i] <= -10.0);
    EXPECT_TRUE(observations.lat_deg[i] >= 25.0 && observations.lat_deg[i] <= 55.0);
    EXPECT_TRUE(std::abs(observations.value[i]) < 110.0);
  }
}

TEST(Simulate, ObservesAFileOverTheTimesItHas) {
  const TemporaryFolder folder;
  write_truth(folder.path() / "truth.nc");
  const FinishedRun run = run_shell(folder.path(),
                                    "drift simulate --out tracks.nc --truth truth.nc --rate-hz 0.02 --noise 0 "
                                    "--platforms CryoSat-2,Sentinel-3A");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "observations of zos")) << run.out;
  EXPECT_TRUE(contains(run.out, "2020-01-01 to 2020-01-03T12:00:00Z")) << run.out;
  EXPECT_TRUE(contains(run.out, "left out because the truth is missing there")) << run.out;
  const drift::Reading reading = read(folder, "tracks.nc");
  const drift::Observations& observations = reading.observations;
  EXPECT_EQ(reading.value.standard_name, "sea_surface_height_above_geoid");
  EXPECT_EQ(observations.platform_names, (std::vector<std::string>{"CryoSat-2", "Sentinel-3A"}));
  EXPECT_TRUE(observations.sigma.empty()) << "no noise, no error";
  for (std::size_t i = 0; i < observations.size(); ++i) {
    EXPECT_LT(observations.lat_deg[i], 60.0);
    EXPECT_NEAR(observations.value[i], 30.0 + std::min(2.0, observations.time_days[i] - 25567.0), 1e-5);
  }
}

// Noise-free observations are the truth at their own times, not at that of the first, as the printed text names it.
TEST(Simulate, ObservesASyntheticFieldThatMoves) {
  const TemporaryFolder folder;
  const FinishedRun run = run_shell(folder.path(),
                                    "drift simulate --out t.nc --observations 400 --noise 0 --seed 7 --days 6 "
                                    "--evolution-days 5 --velocity 20,-10.5,-30,40 --json");
  ASSERT_EQ(run.status, 0) << run.err;
  const std::string truth = json::parse(run.out)["truth"];
  EXPECT_EQ(truth, "synthetic:7,evolution=5,velocity=20:-10.5:-30:40");
  const drift::SyntheticField field({.seed = 7, .evolution_days = 5.0, .velocity = {20.0, -10.5, {-30.0, 40.0}}});
  const drift::Reading reading = read(folder, "t.nc");
  const drift::Observations& observations = reading.observations;
  double changes = 0.0;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const drift::UnitVector at = drift::unit_vector({observations.lon_deg[i], observations.lat_deg[i]});
    EXPECT_NEAR(observations.value[i], field(at, observations.time_days[i]), 1e-3) << "positions are written to 1e-6 degrees";
    changes += std::abs(field(at, observations.time_days[i]) - field(at, observations.time_days[0]));
  }
  EXPECT_GT(changes / static_cast<double>(observations.size()), 0.3) << "six days make a difference";

  const FinishedRun again =
      run_shell(folder.path(), "drift simulate --out again.nc --observations 400 --noise 0 --days 6 --truth " + truth);
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(contains(again.out, "truth: " + truth)) << again.out;
  EXPECT_EQ(read(folder, "again.nc").observations.value, observations.value) << "the text says all";
}

// 91 daily maps of the Mediterranean: what is observed at noon lies halfway between two of them.
TEST(Simulate, ObservesARealFieldThatMoves) {
  const std::filesystem::path truth = std::filesystem::path(DRIFT_TEST_DATA) / "duacs_l4/dt_med_allsat_phy_l4_2005T2.nc";
  if (!std::filesystem::exists(truth)) GTEST_SKIP() << "no real data at " << truth;
  const TemporaryFolder folder;
  const std::string line = "drift simulate --truth " + truth.string() + " --noise 0 --rate-hz 0.2 --bbox -6,30,37,46";
  const FinishedRun run = run_shell(folder.path(), line + " --out t.nc --start 2005-04-10 --days 60 --json");
  ASSERT_EQ(run.status, 0) << run.err;
  const drift::Reading reading = read(folder, "t.nc");
  const drift::Observations& observations = reading.observations;
  ASSERT_GT(observations.size(), 5000u);
  const drift::NamedTruth known = drift::truth_from_file(truth);
  double along = 0.0, frozen = 0.0;
  std::size_t compared = 0;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const drift::UnitVector at = drift::unit_vector({observations.lon_deg[i], observations.lat_deg[i]});
    const double time = observations.time_days[i], day = std::floor(time);
    const std::array<drift::UnitVector, 3> points = {at, at, at};
    const std::array<double, 3> times = {day, day + 1.0, observations.time_days[0]};
    std::array<double, 3> maps = {};
    known.truth(points, times, maps);
    const double between = maps[0] + (time - day) * (maps[1] - maps[0]);
    if (!std::isfinite(between) || !std::isfinite(maps[2])) continue;  // a shore moved by the rounding of positions
    along += std::pow(observations.value[i] - between, 2), frozen += std::pow(observations.value[i] - maps[2], 2);
    ++compared;
  }
  EXPECT_GT(compared, observations.size() * 99 / 100);
  EXPECT_LT(std::sqrt(along / static_cast<double>(compared)), 1e-4) << "m";
  EXPECT_GT(std::sqrt(frozen / static_cast<double>(compared)), 0.03) << "m: the sea does move in 60 days";

  const FinishedRun beyond = run_shell(folder.path(), line + " --out u.nc --start 2005-06-20 --days 30");
  EXPECT_EQ(beyond.status, 2);
  EXPECT_TRUE(contains(beyond.err, "but observations are requested from 2005-06-20 to 2005-07-20")) << beyond.err;
}

TEST(Simulate, GivesTheSameFileForTheSameSeed) {
  const TemporaryFolder folder;
  const std::string line = "drift simulate --observations 500 --days 1 --quiet";
  for (const char* more : {"--out a.nc --threads 1", "--out b.nc --threads 2", "--out c.nc --seed 2"}) {
    const FinishedRun run = run_shell(folder.path(), fmt::format("{} {}", line, more));
    EXPECT_EQ(run.status, 0) << run.err;
    EXPECT_EQ(run.out, "") << "quiet";
  }
  EXPECT_EQ(read(folder, "a.nc").observations.value, read(folder, "b.nc").observations.value);
  EXPECT_NE(read(folder, "a.nc").observations.value, read(folder, "c.nc").observations.value);
}

TEST(Simulate, AddsOutliersWhenAsked) {
  const TemporaryFolder folder;
  const FinishedRun run = run_shell(folder.path(),
                                    "drift simulate --out t.nc --observations 2000 --days 1 --noise 0.01 "
                                    "--outliers 0.1 --outlier-size 1000 --json");
  ASSERT_EQ(run.status, 0) << run.err;
  const drift::Reading reading = read(folder, "t.nc");
  const drift::Observations& observations = reading.observations;
  const auto large =
      std::count_if(observations.value.begin(), observations.value.end(), [](double v) { return std::abs(v) > 50.0; });
  EXPECT_NEAR(static_cast<double>(large), 0.1 * 2000.0, 60.0);  // 4 % of them happen to be small; four sd of the rest is 54
}

TEST(Simulate, WritesWhatXarrayUsersExpect) {
  const std::string python = python_with_xarray();
  if (python.empty()) GTEST_SKIP() << "no python3 with xarray and netCDF4: apt-get install python3-xarray python3-netcdf4";
  const TemporaryFolder folder;
  ASSERT_EQ(
      run_shell(folder.path(), "drift simulate --out t.nc --truth geoid --observations 500 --start 2020-03-01 --days 1").status,
      0);
  std::ofstream(folder.path() / "check.py") << R"(
import numpy as np, xarray as xr
t = xr.open_dataset('t.nc')
assert t.time.dtype.kind == 'M' and str(t.time.values.min()) >= '2020-03-01T00:00', t.time
assert str(t.time.values.max()) < '2020-03-02T00:00', t.time
assert t.geoid_height.dims == ('obs',) and np.isfinite(t.geoid_height).all()
assert set(t.geoid_height.coords) >= {'time', 'latitude', 'longitude'}, t.geoid_height.coords
assert t.platform.attrs['flag_meanings'].split() == ['Sentinel-3A', 'Sentinel-3B', 'CryoSat-2']
assert t.attrs['Conventions'] == 'CF-1.8, ACDD-1.3' and t.attrs['featureType'] == 'point'
)";
  const FinishedRun check = run_shell(folder.path(), python + " check.py");
  EXPECT_EQ(check.status, 0) << check.err;
}

// One line on stderr, nothing on stdout, no file.
void expect_failure(int status, const std::string& arguments, const std::string& message) {
  const TemporaryFolder folder;
  const FinishedRun run = run_shell(folder.path(), "drift simulate " + arguments);
  EXPECT_EQ(run.status, status) << arguments << run.err;
  EXPECT_EQ(run.out, "") << arguments;
  EXPECT_TRUE(contains(run.err, message)) << arguments << ": " << run.err;
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "t.nc")) << arguments;
}

TEST(Simulate, RefusesWhatCannotBeInOneSentence) {
  expect_failure(2, "--truth geoid", "--out is required");
  expect_failure(2, "--out t.nc --days 0", "--days: '0' is not a number greater than zero");
  expect_failure(2, "--out t.nc --noise -1", "--noise");
  expect_failure(2, "--out t.nc --outliers 2 --outlier-size 1", "--outliers: '2' is not a number from 0 to 1");
  expect_failure(2, "--out t.nc --outliers 0.1", "--outlier-size");
  expect_failure(2, "--out t.nc --rate-hz 1 --observations 10", "--rate-hz");
  expect_failure(2, "--out t.nc --start soon", "--start: 'soon'");
  expect_failure(2, "--out t.nc --bbox 1,2,3", "--bbox: '1,2,3' is not four numbers");
  expect_failure(2, "--out t.nc --bbox 0,50,10,40", "southern latitude is 50");
  expect_failure(2, "--out t.nc --bbox 0,89,10,90 --days 1", "no platform crosses the --bbox");
  expect_failure(2, "--out t.nc --platforms Jason-3", "'Jason-3'; choose from Sentinel-3A");
  expect_failure(2, "--out t.nc --truth geiod", "did you mean 'geoid'?");
  expect_failure(2, "--out t.nc --variable zos", "--variable is for a truth from a file");
  expect_failure(2, "--out t.nc --days 1e9", "at most 4e9");
  expect_failure(2, "--out t.nc --evolution-days -1", "--evolution-days");
  expect_failure(2, "--out t.nc --velocity 20", "velocity '20' is not EAST,NORTH");
  expect_failure(2, "--out t.nc --velocity 20,0,0,90", "latitude must be between -90 and 90");
  expect_failure(2, "--out t.nc --truth geoid --velocity 20,0", "--velocity is for the synthetic truth, but --truth is geoid");
  expect_failure(2, "--out t.nc --truth geoid --evolution-days 2", "--evolution-days is for the synthetic truth");
  expect_failure(2, "--out t.nc --truth synthetic:1,evolution=2 --evolution-days 3", "has one already");
  expect_failure(2, "--out t.nc --truth synthetic:1,evolution=x", "evolution 'x'");
}

TEST(Simulate, FailsAtOnceWhereItCannotReadOrWrite) {
  expect_failure(1, "--out nowhere/t.nc", "the folder nowhere does not exist");
  expect_failure(1, "--out t.nc --truth gone.nc", "gone.nc");
}

TEST(Simulate, ObservesAFileOfAFewHoursWithoutAMidnight) {
  const TemporaryFolder folder;
  write_truth(folder.path() / "truth.nc", {25567.375, 25567.5, 25567.625});
  const FinishedRun run = run_shell(folder.path(), "drift simulate --out t.nc --truth truth.nc --rate-hz 0.02 --noise 0");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "2020-01-01T07:30:00Z to 2020-01-01T16:30:00Z")) << run.out;
}

TEST(Simulate, RefusesTimesBeyondThoseOfTheTruth) {
  const TemporaryFolder folder;
  write_truth(folder.path() / "truth.nc");
  for (const char* times : {"--start 2021-01-01", "--start 2019-12-30", "--days 3", "--start 2020-01-03 --days 1"}) {
    const FinishedRun run =
        run_shell(folder.path(), fmt::format("drift simulate --out t.nc --truth truth.nc --rate-hz 0.01 {}", times));
    EXPECT_EQ(run.status, 2) << times;
    EXPECT_TRUE(contains(run.err, "covers 2019-12-31T12:00:00Z to 2020-01-03T12:00:00Z, but observations are requested"))
        << run.err;
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "t.nc")) << times;
  }
}

}  // namespace
