// Maps of every kind against the rules of CF: tests/python/check_cf.py.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "small_run.h"

namespace {

FinishedRun check_cf(const TemporaryFolder& folder, const std::string& arguments) {
  return run_shell(folder.path(),
                   fmt::format("{0} '{1}/tests/python/check_cf.py' {2}", python_with_xarray(), DRIFT_SOURCE, arguments));
}

const std::string kNames = fmt::format("'{}/src/data/standard_name_table.cpp'", DRIFT_SOURCE);

void predict(const TemporaryFolder& folder, const std::string& more) {
  const FinishedRun run =
      run_shell(folder.path(), fmt::format("drift predict '{}' --quiet {}", (small_run() / "model.safetensors").string(), more));
  ASSERT_EQ(run.status, 0) << run.err;
}

TEST(Maps, KeepTheRulesOfCf) {
  if (python_with_xarray().empty())
    GTEST_SKIP() << "no python3 with xarray and netCDF4: apt-get install python3-xarray python3-netcdf4";
  const TemporaryFolder folder;
  predict(folder, "--grid bbox:-50,25,-10,55:5 --time 2020-03-02,2020-03-03 --gradient --members --out degrees.nc");
  predict(folder, "--grid EPSG:3035:500km --gradient --members --mask data:300km --out projected.nc");
  predict(folder, "--grid EPSG:3035:500km --time 2020-03-02,2020-03-03 --mask data:300km --out several.nc");
  std::ofstream table(folder.path() / "plane.csv");
  table << "x,y,h\n";
  for (int i = 0; i < 300; ++i) table << i % 20 << "," << i / 20 << "," << (i * 7) % 11 << "\n";
  table.close();
  const FinishedRun plane =
      run_shell(folder.path(),
                "drift fit plane.csv --value h --units m --unit km --method process --out p.safetensors --quiet && drift "
                "predict p.safetensors --gradient --out plane.nc --quiet");
  ASSERT_EQ(plane.status, 0) << plane.err;
  const FinishedRun checked = check_cf(folder, kNames + " degrees.nc projected.nc several.nc plane.nc");
  EXPECT_EQ(checked.status, 0) << checked.err;
}

TEST(Maps, ThatBreakARuleOfCfAreNoticed) {
  if (python_with_xarray().empty())
    GTEST_SKIP() << "no python3 with xarray and netCDF4: apt-get install python3-xarray python3-netcdf4";
  const TemporaryFolder folder;
  predict(folder, "--grid bbox:-50,25,-10,55:5 --out map.nc");
  const FinishedRun checked = check_cf(folder, "--test " + kNames + " map.nc");
  EXPECT_EQ(checked.status, 0) << checked.err;
}

// What a map says of its quantities is what drift reads from it again.
TEST(Maps, KeepTheirStandardNamesWhenReadAgain) {
  const TemporaryFolder folder;
  const FinishedRun fit =
      run_shell(folder.path(),
                fmt::format("drift fit '{}' --value ssh --standard-name sea_surface_height_above_mean_sea_level {} --quiet --out "
                            "m.safetensors && drift predict m.safetensors --grid bbox:-50,25,-10,55:5 --gradient --out map.nc",
                            (small_run() / "tracks.nc").string(), kSmallNetworks));
  ASSERT_EQ(fit.status, 0) << fit.err;
  const std::pair<const char*, const char*> names[] = {
      {"ssh", "sea_surface_height_above_mean_sea_level"},
      {"ugosa", "surface_geostrophic_eastward_sea_water_velocity_assuming_mean_sea_level_for_geoid"}};
  for (const auto& [variable, name] : names) {
    const FinishedRun inspected = run_shell(folder.path(), fmt::format("drift inspect map.nc --value {} --json", variable));
    EXPECT_EQ(inspected.status, 0) << inspected.err;
    EXPECT_TRUE(contains(inspected.out, fmt::format("\"standard_name\": \"{}\"", name))) << inspected.out;
  }
}

TEST(Fit, RefusesAStandardNameThatCanBeNone) {
  const TemporaryFolder folder;
  const FinishedRun run = run_shell(
      folder.path(),
      fmt::format("drift fit '{}' --value ssh --standard-name ssh --out m.safetensors", (small_run() / "tracks.nc").string()));
  EXPECT_EQ(run.status, 2);
  EXPECT_TRUE(contains(run.err, "'ssh' is no standard name of CF; did you mean 'sea_surface_height_above_mean_sea_level'"))
      << run.err;
}

}  // namespace
