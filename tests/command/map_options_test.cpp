// What a map covers, when, what it leaves empty and what it says of its making.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "small_run.h"

namespace {

using nlohmann::json;

FinishedRun predict(const TemporaryFolder& folder, const std::string& more) {
  return run_shell(folder.path(), fmt::format("drift predict '{}' {}", (small_run() / "model.safetensors").string(), more));
}

json report(const TemporaryFolder& folder, const std::string& more) {
  const FinishedRun run = predict(folder, more + " --json");
  EXPECT_EQ(run.status, 0) << run.err;
  return run.status == 0 ? json::parse(run.out) : json();
}

TEST(PredictMap, CombinesMasks) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "area.geojson")
      << R"({"type": "Polygon", "coordinates": [[[-45,30],[-20,30],[-20,45],[-45,45],[-45,30]]]})";
  const std::string grid = "--grid bbox:-50,25,-10,55:1 --time 2020-03-03 --out map.nc";
  const auto filled = [&](const std::string& mask) {
    return report(folder, grid + " --mask '" + mask + "'")["filled"].get<int>();
  };
  EXPECT_EQ(filled("none"), 40 * 30);
  EXPECT_EQ(filled("area.geojson"), 25 * 15);
  ASSERT_EQ(predict(folder, "--grid bbox:-50,25,-30,55:1 --time 2020-03-03 --out west.nc --quiet").status, 0);
  EXPECT_EQ(filled("west.nc:ssh>-99"), 20 * 30) << "nothing outside the file";
  EXPECT_EQ(filled("area.geojson,west.nc:ssh>-99"), 15 * 15);
  EXPECT_LT(filled("area.geojson,west.nc:ssh>-99,data:20km"), 15 * 15);
  const FinishedRun wrong = predict(folder, grid + " --mask 'west.nc:sst>0'");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(contains(wrong.err, "west.nc: no variable 'sst' on a grid; ")) << wrong.err;
  EXPECT_EQ(predict(folder, "--grid bbox:-50,25,-30,55:1 --mask 'west.nc:ssh>0' --out west.nc").status, 2) << "not what it reads";
}

TEST(PredictMap, KeepsWhatAnotherFileHasAValueFor) {
  const TemporaryFolder folder;
  ASSERT_EQ(predict(folder, "--grid bbox:-50,25,-10,55:1 --time 2020-03-03 --mask data:100km --out near.nc --quiet").status, 0);
  const auto filled = [&](const std::string& mask) {
    return report(folder, "--grid bbox:-50,25,-10,55:1 --time 2020-03-03 --out map.nc --mask " + mask)["filled"].get<int>();
  };
  EXPECT_EQ(filled("near.nc:ssh"), filled("data:100km"));
  EXPECT_LT(filled("near.nc:ssh"), 40 * 30);
}

// Freeboards on 25 km cells with two-dimensional positions, without a value on land and beyond the ice.
TEST(PredictMap, TakesAConditionOnARealCurvilinearFile) {
  const std::filesystem::path maps = std::filesystem::path(DRIFT_TEST_DATA) / "freeboard_maps";
  const std::filesystem::path file = std::filesystem::absolute(maps / "cs2s3_radar_freeboard_201901.nc");
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no freeboards at " << maps;
  const TemporaryFolder folder;
  const FinishedRun fit = run_shell(folder.path(),
                                    "awk 'BEGIN { print \"lon,lat,time,h\"; for (i = 0; i < 600; ++i) printf "
                                    "\"%.3f,%.3f,2019-01-%02d,%.3f\\n\", -180 + (i * 37 % 360),"
                                    "60 + (i * 61 % 290) / 10, 1 + i % 30, sin(i) }' > a.csv && drift fit a.csv --value h "
                                    "--method process --out m.safetensors --quiet");
  ASSERT_EQ(fit.status, 0) << fit.err;
  const FinishedRun run = run_shell(folder.path(),
                                    "drift predict m.safetensors --grid EPSG:6931:25km:-3000,-3000,3000,3000 --time "
                                    "2019-01-10 --out map.nc --json --mask '" +
                                        file.string() + ":radar_freeboard>-9'");
  ASSERT_EQ(run.status, 0) << run.err;
  const int filled = json::parse(run.out)["filled"].get<int>();
  EXPECT_GT(filled, 15000) << "of 15,277 to 18,080 cells of 25 km";
  EXPECT_LT(filled, 18500);
}

TEST(PredictMap, TakesTimesByAWord) {
  const TemporaryFolder folder;
  EXPECT_EQ(report(folder, "--grid bbox:-50,25,-10,55:5 --time daily --out map.nc")["times"], 6);
  EXPECT_EQ(report(folder, "--grid bbox:-50,25,-10,55:10 --time 12-hourly --out map.nc")["times"], 12);
  EXPECT_EQ(predict(folder, "--grid bbox:-50,25,-10,55:5 --time monthly --out map.nc").status, 2);
  EXPECT_EQ(predict(folder, "--grid bbox:-50,25,-10,55:5 --time weekly --out map.nc").status, 2);
}

TEST(PredictMap, TakesTimesByASpanAndAStep) {
  const TemporaryFolder folder;
  EXPECT_EQ(report(folder, "--grid bbox:-50,25,-10,55:10 --time 2020-03-02/2020-03-04/0.5 --out map.nc")["times"], 5);
  const FinishedRun wrong = predict(folder, "--grid bbox:-50,25,-10,55:10 --time 2020-03-02/2020-03-04 --out map.nc");
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(contains(wrong.err, "a span is FROM/TO/STEP, the step in days")) << wrong.err;
}

TEST(PredictMap, ReportsTheSecondsOfItsPredictionsAlone) {
  const TemporaryFolder folder;
  const json map = report(folder, "--grid bbox:-50,25,-10,55:1 --out map.nc");
  EXPECT_GT(map["predict_s"].get<double>(), 0.0);
  EXPECT_GT(map["predict_core_s"].get<double>(), 0.0);
  std::ofstream(folder.path() / "points.csv") << "lon,lat,time\n-20,40,2020-03-03\n";
  EXPECT_GT(report(folder, "--at points.csv --out table.csv")["predict_s"].get<double>(), 0.0);
}

TEST(PredictMap, CoversTheObservationsOnAProjectedGrid) {
  const TemporaryFolder folder;
  // 20 to 60 N and 60 W to 0 on Mercator; its area of use goes around the Earth.
  const json whole = report(folder, "--grid EPSG:3395:100km --out map.nc");
  EXPECT_GT(whole["points"].get<int>(), 60 * 55);
  EXPECT_LT(whole["points"].get<int>(), 75 * 70);
}

TEST(PredictMap, SaysWhatItWasMadeFrom) {
  const std::string python = python_with_xarray();
  if (python.empty()) GTEST_SKIP() << "no python3 with xarray and netCDF4: apt-get install python3-xarray python3-netcdf4";
  const TemporaryFolder folder;
  ASSERT_EQ(predict(folder, "--grid bbox:-50,25,-10,55:10 --out map.nc --quiet").status, 0);
  std::ofstream(folder.path() / "check.py") << fmt::format(R"(
import hashlib, xarray as xr
sha256 = lambda name: hashlib.sha256(open('{}/' + name, 'rb').read()).hexdigest()
a = xr.open_dataset('map.nc').attrs
assert a['model_sha256'] == sha256('model.safetensors'), a
assert a['input_files'] == 'tracks.nc (sha256 ' + sha256('tracks.nc') + ')', a
assert a['random_seed'] == '1', a
)",
                                                           small_run().string());
  const FinishedRun run = run_shell(folder.path(), python + " check.py");
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(predict(folder, "--attr model_sha256=mine --out other.nc").status, 2);
}

TEST(PredictMap, WritesAGeotiff) {
  const TemporaryFolder folder;
  if (run_shell(folder.path(), "gdal_translate --version").status != 0)
    GTEST_SKIP() << "GDAL is not installed: apt-get install gdal-bin";
  ASSERT_EQ(predict(folder, "--grid EPSG:3035:200km --time 2020-03-02,2020-03-03 --out map.tif --quiet").status, 0);
  const FinishedRun information = run_shell(folder.path(), "gdalinfo map.tif");
  for (const char* said :
       {"LAYOUT=COG", "ID[\"EPSG\",3035]", "Description = ssh 2020-03-03T00:00:00Z", "NoData Value=nan", "Unit Type: m"})
    EXPECT_TRUE(contains(information.out, said)) << said << " is not in\n" << information.out;
  // Without GDAL the reason comes before the work.
  const FinishedRun without =
      run_shell(folder.path(), fmt::format("PATH=/nowhere '{}' predict '{}' --grid global:10 --out map.tif", DRIFT_COMMAND,
                                           (small_run() / "model.safetensors").string()));
  EXPECT_EQ(without.status, 1);
  EXPECT_TRUE(contains(without.err, "apt-get install gdal-bin")) << without.err;
}

}  // namespace
