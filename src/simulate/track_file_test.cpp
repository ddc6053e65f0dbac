#include "drift/track_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/read_observations.h"
#include "netcdf/netcdf_reader.h"

namespace drift {
namespace {

using testing::HasSubstr;

const VariableInfo kHeight = {"height", "Height of the sea", "sea_surface_height_above_geoid", "m"};

// Two platforms, a few tracks, numbers that do not fit in single precision.
Observations some(std::size_t count) {
  Observations observations;
  observations.platform_names = {"Sentinel-3A", "CryoSat-2"};
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<double>(i);
    observations.lon_deg.push_back(std::remainder(n * 7.123456789, 360.0));
    observations.lat_deg.push_back(80.0 * std::sin(n * 0.01));
    observations.time_days.push_back(25627.0 + (n < 0.5 * static_cast<double>(count) ? n : n - 100.0) / 86400.0);
    observations.value.push_back(std::sin(n) / 3.0);
    observations.sigma.push_back(0.01f + 0.001f * static_cast<float>(i % 7));
    observations.track.push_back(static_cast<std::int32_t>(i / 50));
    observations.platform.push_back(2 * i < count ? 0 : 1);
  }
  return observations;
}

TEST(TrackFile, IsReadBackToTheLastBitWithEveryRoleRecognised) {
  const ScratchFolder folder;
  const Observations written = some(1000);
  write_track_file(folder / "obs.nc", written, kHeight);
  const Reading reading = read_observations({(folder / "obs.nc").string()});
  const Observations& read = reading.observations;
  EXPECT_EQ(read.lon_deg, written.lon_deg);
  EXPECT_EQ(read.lat_deg, written.lat_deg);
  EXPECT_EQ(read.time_days, written.time_days);
  EXPECT_EQ(read.value, written.value);
  EXPECT_EQ(read.sigma, written.sigma);
  EXPECT_EQ(read.track, written.track);
  EXPECT_EQ(read.platform, written.platform);
  EXPECT_EQ(read.platform_names, written.platform_names);
  EXPECT_EQ(reading.value, kHeight);
  EXPECT_TRUE(reading.calendar_time);
  EXPECT_FALSE(reading.on_plane);
  EXPECT_EQ(reading.report.roles.sigma, "height_uncertainty");
  EXPECT_TRUE(reading.report.rejected.empty());
}

TEST(TrackFile, LeavesOutWhatTheDataDoNotHave) {
  const ScratchFolder folder;
  Observations observations = some(10);
  observations.sigma.clear();
  observations.track.clear();
  observations.platform.clear();
  observations.time_days.clear();
  write_track_file(folder / "obs.nc", observations, {.name = "v"});
  const NcReader reader(folder / "obs.nc");
  std::vector<std::string> names;
  for (const NcVariable& variable : reader.variables()) names.push_back(variable.name);
  EXPECT_EQ(names, (std::vector<std::string>{"longitude", "latitude", "v"}));
}

TEST(TrackFile, KeepsAPlaneAndTimesOfNoCalendar) {
  const ScratchFolder folder;
  const Observations written = some(10);
  write_track_file(folder / "obs.nc", written, {.name = "v", .unit = "K"},
                   {.calendar_time = false, .on_plane = true, .plane_unit = "mm"});
  const Reading reading = read_observations({(folder / "obs.nc").string()});
  const Observations& read = reading.observations;
  EXPECT_EQ(read.lon_deg, written.lon_deg);
  EXPECT_EQ(read.time_days, written.time_days);
  EXPECT_TRUE(reading.on_plane);
  EXPECT_EQ(reading.plane_unit, "mm");
  EXPECT_FALSE(reading.calendar_time);
}

TEST(TrackFile, DescribesItself) {
  const ScratchFolder folder;
  write_track_file(folder / "obs.nc", some(100), kHeight, {.attributes = {{"title", "Mine"}}});
  const NcReader reader(folder / "obs.nc");
  EXPECT_EQ(reader.text("Conventions"), "CF-1.8, ACDD-1.3");
  EXPECT_EQ(reader.text("featureType"), "point");
  EXPECT_EQ(reader.text("title"), "Mine");
  EXPECT_EQ(reader.text("time_coverage_start"), "2020-02-29T23:59:10Z") << "the earliest, which is not the first";
  const NcVariable& value = *reader.find("height");
  EXPECT_EQ(reader.text(value, "coordinates"), "time latitude longitude");
  EXPECT_EQ(reader.text(value, "ancillary_variables"), "height_uncertainty");
  EXPECT_EQ(reader.text(*reader.find("height_uncertainty"), "standard_name"), "sea_surface_height_above_geoid standard_error");
  EXPECT_EQ(reader.text(*reader.find("platform"), "flag_meanings"), "Sentinel-3A CryoSat-2");
  EXPECT_EQ(reader.numbers(*reader.find("platform"), "flag_values"), (std::vector<double>{0.0, 1.0}));
}

TEST(TrackFile, RefusesColumnsThatDoNotFit) {
  const ScratchFolder folder;
  const auto refusal = [&](const std::function<void(Observations&)>& change) -> std::string {
    Observations observations = some(10);
    change(observations);
    try {
      write_track_file(folder / "obs.nc", observations, kHeight);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(refusal([](Observations& o) { o.lat_deg.pop_back(); }), HasSubstr("10 values but 9 latitudes"));
  EXPECT_THAT(refusal([](Observations& o) { o.track.pop_back(); }), HasSubstr("9 tracks"));
  EXPECT_THAT(refusal([](Observations& o) { o.value[3] = std::nan(""); }), HasSubstr("observation 3"));
  EXPECT_THAT(refusal([](Observations& o) { o.platform[2] = 5; }), HasSubstr("platform 5"));
  EXPECT_THAT(refusal([](Observations& o) { o = Observations(); }), HasSubstr("no observations"));
  EXPECT_EQ(folder.files(), 0u);
}

}  // namespace
}  // namespace drift
