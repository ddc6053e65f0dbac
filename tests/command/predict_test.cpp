#include "drift/predict.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "small_run.h"

namespace {

using nlohmann::json;

FinishedRun predict(const TemporaryFolder& folder, const std::string& more) {
  return run_shell(folder.path(), fmt::format("drift predict '{}' {}", (small_run() / "model.safetensors").string(), more));
}

// Runs lines of Python on a map opened by xarray as `m`; the status is theirs.
void expect_python(const TemporaryFolder& folder, const std::string& map, const std::string& lines) {
  const std::string python = python_with_xarray();
  if (python.empty()) GTEST_SKIP() << "no python3 with xarray and netCDF4: apt-get install python3-xarray python3-netcdf4";
  std::ofstream(folder.path() / "check.py") << "import numpy as np, xarray as xr\nm = xr.open_dataset('" << map << "')\n"
                                            << lines;
  const FinishedRun run = run_shell(folder.path(), python + " check.py");
  EXPECT_EQ(run.status, 0) << run.err;
}

TEST(PredictMap, IsWhatXarrayUsersExpect) {
  const TemporaryFolder folder;
  ASSERT_EQ(predict(folder, "--grid bbox:-50,25,-10,55:1 --time 2020-03-02/2020-03-05/1 --members --out map.nc").status, 0);
  const std::string python = python_with_xarray();
  if (python.empty()) GTEST_SKIP() << "no python3 with xarray and netCDF4: apt-get install python3-xarray python3-netcdf4";
  const FinishedRun check =
      run_shell(folder.path(), fmt::format("{} '{}/tests/python/check_map.py' map.nc ssh --times 4", python, DRIFT_SOURCE));
  EXPECT_EQ(check.status, 0) << check.err;
  expect_python(folder, "map.nc", R"(
assert m.ssh.dims == ('time', 'latitude', 'longitude'), m.ssh.dims
assert str(m.time.values[1]).startswith('2020-03-03T00:00'), m.time.values
assert m.ssh.attrs['standard_name'] == 'sea_surface_height_above_geoid'
assert 'ssh_uncertainty' in m.ssh.attrs['ancillary_variables']
# A blend lies near its networks' mean, and its spread is not theirs alone: it grows towards the corners, away from the tracks.
assert float(abs(m.ssh_members.mean('member') - m.ssh).mean()) < 0.2
assert (m.ssh_uncertainty > 0).all()
assert (m.ssh_total_uncertainty >= m.ssh_uncertainty - 1e-6).all()
)");
}

TEST(PredictMap, AddsGradientAndGeostrophicVelocityOfHeights) {
  const TemporaryFolder folder;
  const FinishedRun run = predict(folder, "--grid bbox:-50,-10,-10,50:1 --gradient --out map.nc --json");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "ugos"));
  expect_python(folder, "map.nc", R"(
u, lat = m.ugos.isel(time=0), m.latitude
assert np.isnan(u.where(abs(lat) < 5, drop=True)).all()
assert np.isfinite(u.where(abs(lat) > 5.01, drop=True)).all()
f = 2 * 7.292115e-5 * np.sin(np.deg2rad(lat))
expected = -9.8 / f * m.ssh_gradient_north.isel(time=0) / 1000
good = abs(lat) > 5.01
assert np.allclose(u.where(good, drop=True), expected.where(good, drop=True), rtol=5e-3)
)");
}

TEST(PredictMap, RemembersTheWholeCommandLineAndTheUsersAttributes) {
  const TemporaryFolder folder;
  const FinishedRun run = predict(folder,
                                  "--grid bbox:-50,25,-10,55:5 --mask data:300km --attr 'institution=Royal Society of \"Maps\"' "
                                  "--attr license=CC-BY-4.0 --attr id=a=b --out map.nc --quiet --threads 1");
  ASSERT_EQ(run.status, 0) << run.err;
  expect_python(folder, "map.nc", R"(
assert m.attrs['institution'] == 'Royal Society of "Maps"', m.attrs
assert m.attrs['license'] == 'CC-BY-4.0' and m.attrs['id'] == 'a=b', m.attrs
history = m.attrs['history']
assert 'Z drift predict ' in history, history
assert "--grid bbox:-50,25,-10,55:5 --mask data:300km --attr 'institution=Royal Society of \"Maps\"' --attr" in history, history
assert history.endswith('--out map.nc --quiet --threads 1'), history
)");
  const FinishedRun own = predict(folder, "--attr Conventions=mine --out other.nc");
  EXPECT_EQ(own.status, 2);
  EXPECT_TRUE(contains(own.err, "attribute 'Conventions' is drift's own")) << own.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "other.nc"));
  EXPECT_EQ(predict(folder, "--attr license --out other.nc").status, 2);
  EXPECT_EQ(predict(folder, "--attr a=1 --attr a=2 --out other.nc").status, 2);
}

TEST(PredictMap, SaysWhyThereAreNoCurrents) {
  const TemporaryFolder folder;
  std::ofstream table(folder.path() / "sst.csv");
  table << "lon,lat,sst\n";
  for (int i = 0; i < 400; ++i) table << -50 + i % 20 << "," << 25 + i / 20 << "," << 15 + i % 7 << "\n";
  table.close();
  ASSERT_EQ(run_shell(folder.path(),
                      "drift fit sst.csv --value sst --members 2 --features 32 --layers 1 --epochs 1 --out m.safetensors --quiet")
                .status,
            0);
  const FinishedRun run =
      run_shell(folder.path(), "drift predict m.safetensors --gradient --grid bbox:-50,25,-40,35:1 --out map.nc");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "No geostrophic currents: 'sst' is not a height of the sea surface.")) << run.out;
  std::ofstream(folder.path() / "points.csv") << "lon,lat\n-45,30\n";
  const std::string points = "drift predict m.safetensors --gradient --at points.csv --out predicted.csv";
  EXPECT_TRUE(
      contains(run_shell(folder.path(), points).out, "No geostrophic currents: 'sst' is not a height of the sea surface."));
  EXPECT_TRUE(contains(run_shell(folder.path(), points + " --json").out, "\"no_currents\": \"'sst' is not a height"));
}

TEST(PredictMap, GivesStandardDeviationsOfSlopesOverAStatedScale) {
  const TemporaryFolder folder;
  ASSERT_EQ(predict(folder, "--grid bbox:-50,25,-10,55:5 --gradient --gradient-scale 120 --out map.nc --quiet").status, 0);
  expect_python(folder, "map.nc", R"(
for name in ('ssh_gradient_east', 'ssh_gradient_north', 'ugos', 'vgos'):
    sd = m[name + '_uncertainty']
    assert m[name].attrs['ancillary_variables'] == sd.name and 'over 120 km' in m[name].attrs['comment'], m[name].attrs
    assert sd.attrs['units'] == m[name].attrs['units'] and float(sd.min()) > 0, sd
)");
  ASSERT_EQ(predict(folder, "--grid bbox:-50,25,-10,55:5 --gradient --gradient-scale 0 --out exact.nc --quiet").status, 0);
  expect_python(folder, "exact.nc", "assert not any('ugos_' in name or 'east_' in name for name in m), list(m)");
  const FinishedRun alone = predict(folder, "--gradient-scale 50 --out alone.nc");
  EXPECT_EQ(alone.status, 2);
  EXPECT_TRUE(contains(alone.err, "a gradient scale goes with a gradient")) << alone.err;
}

TEST(TrainedShare, IsPrintedWithTheScores) {
  const TemporaryFolder folder;
  const std::string model = (small_run() / "model.safetensors").string(), tracks = (small_run() / "tracks.nc").string();
  const FinishedRun run = run_shell(folder.path(), fmt::format("drift score '{}' '{}'", model, tracks));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(contains(run.out + run.err, "100 % of these observations trained the model: the scores are optimistic")) << run.out;
}

TEST(PredictMap, HasTheGradientOfItsOwnField) {
  const TemporaryFolder folder;
  ASSERT_EQ(predict(folder, "--grid bbox:-30.1,40,-30,40.1:0.0025 --gradient --gradient-scale 0 --out map.nc --quiet").status, 0);
  expect_python(folder, "map.nc", R"(
h, north, east = (v.isel(time=0) for v in (m.ssh, m.ssh_gradient_north, m.ssh_gradient_east))
km = 111.04  # a degree of latitude at 40 N
dn = (h.shift(latitude=-1) - h.shift(latitude=1)) / (0.005 * km)
de = (h.shift(longitude=-1) - h.shift(longitude=1)) / (0.005 * 111.32 * np.cos(np.deg2rad(h.latitude)) * 1.0014)
for a, b in ((dn, north), (de, east)):
    error = abs(a - b) / np.nanmax(abs(b))
    assert np.nanmedian(error) < 1e-3, np.nanmedian(error)
    assert np.nanquantile(error, 0.98) < 0.02, np.nanquantile(error, 0.98)
    # Across lines where the process's farthest neighbour changes, the slope may step by a few per cent, halved by a difference.
    assert np.nanmax(error) < 0.05, np.nanmax(error)
    assert np.nanmedian(abs(a + b)) / np.nanmax(abs(b)) > 0.5  # the sign turned must not pass
)");
}

// Without a process the gradient is exact, the mean that of the members and the spread theirs.
TEST(PredictMap, OfNetworksAloneHasTheirGradientMeanAndSpread) {
  const TemporaryFolder folder;
  const FinishedRun fit =
      run_shell(folder.path(), fmt::format("drift fit '{}' --value ssh --method network {} --quiet --out m.safetensors",
                                           (small_run() / "tracks.nc").string(), kSmallNetworks));
  ASSERT_EQ(fit.status, 0) << fit.err;
  const FinishedRun map = run_shell(folder.path(),
                                    "drift predict m.safetensors --grid bbox:-30.1,40,-30,40.1:0.0025 --gradient "
                                    "--gradient-scale 0 --members --out map.nc --quiet");
  ASSERT_EQ(map.status, 0) << map.err;
  expect_python(folder, "map.nc", R"(
h, north, east = (v.isel(time=0) for v in (m.ssh, m.ssh_gradient_north, m.ssh_gradient_east))
dn = (h.shift(latitude=-1) - h.shift(latitude=1)) / (0.005 * 111.04)  # km of a degree of latitude at 40 N
de = (h.shift(longitude=-1) - h.shift(longitude=1)) / (0.005 * 111.32 * np.cos(np.deg2rad(h.latitude)) * 1.0014)
for a, b in ((dn, north), (de, east)):
    error = np.nanmax(abs(a - b)) / np.nanmax(abs(b))
    assert error < 0.02, error
assert np.allclose(m.ssh_members.mean('member'), m.ssh, atol=1e-5)
# The uncertainty is the members' spread times the factor that calibration found.
ratio = m.ssh_uncertainty / m.ssh_members.std('member', ddof=1)
assert float(ratio.std() / ratio.mean()) < 1e-2, ratio
)");
}

TEST(PredictMap, LeavesLandAndWhatIsFarFromDataEmpty) {
  const TemporaryFolder folder;
  ASSERT_EQ(predict(folder, "--grid bbox:-20,10,10,60:2 --mask ocean --out ocean.nc --quiet").status, 0);
  expect_python(folder, "ocean.nc", R"(
h = m.ssh.isel(time=0)
assert np.isnan(h.sel(longitude=5, latitude=45, method='nearest'))     # France
assert np.isfinite(h.sel(longitude=-15, latitude=45, method='nearest'))  # the Atlantic
)");
  ASSERT_EQ(predict(folder, "--grid bbox:-30,10,60,40:2 --mask data:200km --out near.nc --quiet").status, 0);
  expect_python(folder, "near.nc", R"(
h = m.ssh.isel(time=0)
assert np.isnan(h.sel(longitude=55, latitude=35, method='nearest'))
assert np.isfinite(h.sel(longitude=-25, latitude=35, method='nearest'))
)");
}

TEST(PredictMap, TakesTheGridOfAnotherFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(predict(folder, "--grid bbox:-50,25,-10,55:2.5 --out first.nc --quiet").status, 0);
  ASSERT_EQ(predict(folder, "--grid first.nc --out second.nc --quiet").status, 0);
  expect_python(folder, "second.nc",
                "f = xr.open_dataset('first.nc')\nassert np.allclose(f.ssh, m.ssh) and (f.longitude == m.longitude).all()\n");
}

TEST(PredictMap, WarnsOfTimesFarOutsideTheObservations) {
  const TemporaryFolder folder;
  const FinishedRun run = predict(folder, "--grid bbox:-50,25,-10,55:5 --time 2020-04-01 --out map.nc");
  EXPECT_EQ(run.status, 0);
  EXPECT_TRUE(contains(run.err, "2020-04-01 lies 25")) << run.err;
  EXPECT_TRUE(contains(run.err, "days after the last observation (2020-03-06")) << run.err;
}

TEST(PredictMap, LeavesNothingBehindWhenStopped) {
  const TemporaryFolder folder;
  const FinishedRun run =
      run_shell(folder.path(),
                fmt::format("'{}' predict '{}' --grid global:0.05 --out map.nc & until ls | grep -q part || ! kill -0 $!; do "
                            "sleep 0.02; done; kill -TERM $!; wait $!",
                            DRIFT_COMMAND, (small_run() / "model.safetensors").string()));
  EXPECT_EQ(run.status, 1) << run.err;
  EXPECT_TRUE(contains(run.err, "stopped; map.nc was not written")) << run.err;
  EXPECT_EQ(run_shell(folder.path(), "ls | grep map").out, "");
}

TEST(PredictPoints, PutsColumnsBesideTheRows) {
  const TemporaryFolder folder;
  const FinishedRun run = predict(folder, fmt::format("--at '{}' --out out.csv", (small_run() / "points.csv").string()));
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "5 rows, 1 without a position or time")) << run.out;
  std::istringstream lines(read_file(folder.path() / "out.csv"));
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(line);
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0], "name,lon,lat,time,ssh,ssh_uncertainty,ssh_total_uncertainty,ssh_lower90,ssh_upper90");
  EXPECT_TRUE(rows[3].starts_with("\"C, with a comma\",-20,30,2020-03-04,")) << rows[3];
  EXPECT_EQ(rows[4], "D,,30,2020-03-04,,,,,");
  // The same as the library says.
  const drift::FieldModel model = drift::load_field_model(small_run() / "model.safetensors");
  const auto engine = drift::make_cpu_engine();
  const std::vector<double> lon = {-30.0}, lat = {40.0}, time = {25629.0};  // 2020-03-03
  const drift::FieldPrediction there = drift::predict_field(*engine, model, lon, lat, time);
  const std::string numbers = rows[1].substr(std::string("A,-30,40,2020-03-03,").size());
  EXPECT_NEAR(std::stod(numbers), there.mean[0], 1e-5);
}

TEST(PredictPoints, StreamsManyRowsAndCompressedOnes) {
  const TemporaryFolder folder;
  {
    std::ofstream table(folder.path() / "many.csv");
    table << "lat;lon\n";
    for (int i = 0; i < 30000; ++i) table << 25 + i % 30 << ";" << -50 + i % 40 << "\n";
  }
  ASSERT_EQ(run_shell(folder.path(), "gzip -k many.csv").status, 0);
  ASSERT_EQ(predict(folder, "--at many.csv --time 2020-03-03 --out plain.csv --quiet").status, 0);
  ASSERT_EQ(predict(folder, "--at many.csv.gz --time 2020-03-03 --out packed.csv --quiet --threads 1").status, 0);
  const std::string plain = read_file(folder.path() / "plain.csv");
  EXPECT_EQ(std::count(plain.begin(), plain.end(), '\n'), 30001);
  EXPECT_TRUE(plain == read_file(folder.path() / "packed.csv"));
  EXPECT_TRUE(plain.starts_with("lat;lon;ssh;")) << plain.substr(0, 60);
}

TEST(PredictPoints, AsksForATimeWhereTheTableHasNone) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "p.csv") << "lon,lat\n-30,40\n";
  const FinishedRun run = predict(folder, "--at p.csv --out out.csv");
  EXPECT_EQ(run.status, 2);
  EXPECT_TRUE(contains(run.err, "--time")) << run.err;
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "out.csv"));
}

TEST(ScoreVerb, PrintsScoresAndJson) {
  const std::string line =
      fmt::format("drift score '{}' '{}' ", (small_run() / "model.safetensors").string(), (small_run() / "tracks.nc").string());
  const FinishedRun text = run_shell(small_run(), line);
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "RMSE")) << text.out;
  EXPECT_TRUE(contains(text.out, "Sentinel-3B")) << text.out;
  const json scores = json::parse(run_shell(small_run(), line + "--json").out);
  EXPECT_LT(scores["rmse"].get<double>(), 0.2);
  EXPECT_EQ(scores["groups"].size(), 3u);
}

TEST(ScoreVerb, ScoresATableOfForecasts) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "t.csv") << "truth,fc,lo,hi\n1,1.5,-1,3\n2,2,-2,2.5\n4,3,3.5,4.5\nNA,1,0,2\n";
  const FinishedRun run =
      run_shell(folder.path(), "drift score --forecasts t.csv --observed truth --mean fc --lower lo --upper hi --json");
  ASSERT_EQ(run.status, 0) << run.err;
  const json scores = json::parse(run.out);
  EXPECT_EQ(scores["count"], 3);
  EXPECT_NEAR(scores["mae"].get<double>(), 0.5, 1e-12);
  EXPECT_EQ(scores["coverage95"], 1.0);
  EXPECT_NEAR(scores["interval_score95"].get<double>(), (4.0 + 4.5 + 1.0) / 3.0, 1e-12);
  EXPECT_EQ(run_shell(folder.path(), "drift score --forecasts t.csv --observed truth --mean fc --lower lo").status, 2);
  EXPECT_EQ(run_shell(folder.path(), "drift score").status, 2);
}

TEST(Inspect, TellsWhatIsInTheFiles) {
  const FinishedRun text = run_shell(small_run(), "drift inspect tracks.nc --value ssh");
  ASSERT_EQ(text.status, 0) << text.err;
  for (const char* said :
       {"value      ssh [m]  Sea surface height", "2020-03-01", "platform   CryoSat-2", "tracks", "median", "####"}) {
    EXPECT_TRUE(contains(text.out, said)) << said << " is not in\n" << text.out;
  }
  const json report =
      json::parse(run_shell(small_run(), "drift inspect tracks.nc --value ssh --json --valid 0:9 --from 2020-03-03").out);
  EXPECT_EQ(report["roles"]["track"], "track");
  EXPECT_GT(report["rows"], report["kept"]);
  EXPECT_GE(report["quantiles"][0], 0.0);
  std::size_t rejected = 0;
  for (const auto& [reason, count] : report["rejected"].items()) rejected += count.get<std::size_t>();
  EXPECT_EQ(rejected + report["kept"].get<std::size_t>(), report["rows"].get<std::size_t>());
}

TEST(Inspect, ShowsTailsAMapAndATimeLineAndProposesWhatToLeaveOut) {
  const TemporaryFolder folder;
  std::string table = "lon,lat,time,value\n";
  for (int i = 0; i < 200; ++i) {
    table += "" + std::to_string(i % 20) + "," + std::to_string(i / 20) + ",2020-03-01T" + (i < 100 ? "06" : "18") + "," +
             (i == 50 ? "328" : std::to_string(0.01 * (i % 17))) + "\n";
  }
  std::ofstream(folder.path() / "t.csv") << table << "1,2,2020-03-01,no number\n";
  const FinishedRun text = run_shell(folder.path(), "drift inspect t.csv");
  ASSERT_EQ(text.status, 0) << text.err;
  for (const char* said : {"highest 328", "lowest  0 ", "Where\n   0 E  ", " 19 E\n  |", "| 9 N\n", "| 0 N\n", "When\n  |#",
                           "\n   2020-03-01T06:00:00Z ", " 2020-03-01T18:00:00Z\n", ". below 5 %", "(12 hours)", "leaves it out",
                           "--valid ", "bad row", "t.csv:202: \"no number\""}) {
    EXPECT_TRUE(contains(text.out, said)) << said << " is not in\n" << text.out;
  }
  const json report = json::parse(run_shell(folder.path(), "drift inspect t.csv --json").out);
  EXPECT_EQ(report["highest"][0], 328.0);
  EXPECT_LT(report["proposed_valid"][1], 328.0);
  const FinishedRun drawn = run_shell(folder.path(), "drift inspect t.csv --valid 0:1 --png where.png");
  ASSERT_EQ(drawn.status, 0) << drawn.err;
  EXPECT_GT(std::filesystem::file_size(folder.path() / "where.png"), 5000u);
  EXPECT_EQ(run_shell(folder.path(), "drift inspect t.csv --png where.bmp").status, 2);
}

TEST(Inspect, PrintsAUnitOnceAndASingleTimeAsOne) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "t.csv") << "lon,lat,Date/Time,Temperature [degC]\n1,2,2020-03-01,8\n-3,4,2020-03-01,9\n";
  const FinishedRun text = run_shell(folder.path(), "drift inspect t.csv");
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "value      Temperature [degC]\n")) << text.out;
  EXPECT_TRUE(contains(text.out, "time       2020-03-01 (all)\n")) << text.out;
  EXPECT_TRUE(contains(text.out, "Where\n   3 W ")) << text.out;
}

// Neither "1" nor anything else is made up for it, in the map or in what is read from it.
TEST(Predict, OfValuesWithoutAKnownUnitHasNone) {
  const TemporaryFolder folder;
  std::ofstream table(folder.path() / "t.csv");
  table << "lon,lat,value\n";
  for (int i = 0; i < 300; ++i) table << i % 20 << ',' << (i / 20) % 15 << ',' << 0.01 * ((i * 37) % 101) << '\n';
  table.close();
  const FinishedRun run =
      run_shell(folder.path(), fmt::format("drift fit t.csv --method network {} --quiet --out m.safetensors && drift predict "
                                           "m.safetensors --grid bbox:0,0,19,14:1 --mask none --out map.nc",
                                           kSmallNetworks));
  ASSERT_EQ(run.status, 0) << run.err;
  for (const char* layer : {"value", "value_uncertainty"}) {
    const FinishedRun again = run_shell(folder.path(), fmt::format("drift inspect map.nc --value {} --json", layer));
    ASSERT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(json::parse(again.out)["unit"], "") << layer;
  }
}

// From 10 W eastwards over the date line to 90 W: 350 to 630 degrees.
TEST(Inspect, NamesTheEndsOfAMapOnTheirSideOfGreenwich) {
  const TemporaryFolder folder;
  std::ofstream table(folder.path() / "t.csv");
  table << "lon,lat,value\n";
  for (int lon = -10; lon <= 270; lon += 20) table << lon << ',' << lon % 7 << ",1." << lon + 10 << '\n';
  table.close();
  const FinishedRun text = run_shell(folder.path(), "drift inspect t.csv");
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "Where\n   10 W ")) << text.out;
  EXPECT_TRUE(contains(text.out, " 90 W\n")) << text.out;
}

TEST(Inspect, PrintsTheQualityControlOfAProduct) {
  const std::string files = std::string(DRIFT_TEST_DATA) + "/gsfc_reference_ssh/*.nc";
  if (!std::filesystem::exists(std::string(DRIFT_TEST_DATA) + "/gsfc_reference_ssh")) GTEST_SKIP() << "no real data at " << files;
  const FinishedRun text = run_shell(small_run(), "drift inspect '" + files + "'");
  ASSERT_EQ(text.status, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "quality control: nasa_flag == 0 (")) << text.out;
  EXPECT_TRUE(contains(text.out, "observations left out; --no-quality-control keeps them)")) << text.out;
  const FinishedRun plan = run_shell(small_run(), "drift fit --plan '" + files + "'");
  ASSERT_EQ(plan.status, 0) << plan.err;
  const std::string told = plan.out + plan.err;
  EXPECT_NE(told.find("quality control"), std::string::npos) << told;
  EXPECT_EQ(told.find("quality control"), told.rfind("quality control")) << told;  // once
  const FinishedRun all = run_shell(small_run(), "drift inspect --no-quality-control '" + files + "'");
  EXPECT_FALSE(contains(all.out, "quality control:")) << all.out;
}

TEST(Completion, OffersVerbsOptionsAndFiles) {
  const TemporaryFolder folder;
  const auto complete = [&](const std::string& words, int at) {
    return run_shell(
               folder.path(),
               fmt::format(
                   "source <(drift completion bash); COMP_WORDS=(drift {}); COMP_CWORD={}; _drift; echo \"${{COMPREPLY[@]}}\"",
                   words, at))
        .out;
  };
  EXPECT_EQ(complete("fi", 1), "fit\n");
  EXPECT_EQ(complete("bench tr", 2), "train\n");
  EXPECT_TRUE(contains(complete("fit --ep", 2), "--epochs"));
  EXPECT_TRUE(contains(complete("predict x --gr", 3), "--gradient"));
  EXPECT_EQ(complete("fit obs", 2), "\n");  // left to the shell: file names
}

}  // namespace
