// One file, or the same rows in several: the observations are the same.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/scratch_folder.h"
#include "drift/read_observations.h"
#include "netcdf/netcdf_testing.h"

namespace drift {
namespace {

void expect_same(const Reading& one, const Reading& several) {
  const Observations &a = one.observations, &b = several.observations;
  ASSERT_EQ(a.size(), 300u);
  EXPECT_EQ(a.lon_deg, b.lon_deg);
  EXPECT_EQ(a.lat_deg, b.lat_deg);
  EXPECT_EQ(a.time_days, b.time_days);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.track, b.track);
  EXPECT_EQ(a.platform, b.platform);
  EXPECT_EQ(a.platform_names, b.platform_names);
  EXPECT_EQ(one.tracks, several.tracks);
  EXPECT_EQ(one.tracks, 15u);
}

TEST(SplitFiles, ReadAsTheOneTheyWere) {
  const ScratchFolder folder;
  const std::string header = "lon,lat,time,value,track,platform\n";
  std::string whole = header, part = header;
  for (int i = 0; i < 300; ++i) {
    const std::string row = fmt::format("{},{},2020-03-{:02}T00:{:02}:{:02}Z,{},{},{}\n", 0.25 * i - 30.0, 0.1 * i, 1 + i / 60,
                                        i % 60 / 10, i % 10, 0.001 * i * i, i / 20, i % 40 < 20 ? "S3A" : "S3B");
    whole += row;
    part += row;
    if (i % 100 == 99) {
      write_bytes(folder / fmt::format("part{}.csv", i / 100), part);
      part = header;
    }
  }
  write_bytes(folder / "whole.csv", whole);
  expect_same(read_observations({(folder / "whole.csv").string()}), read_observations({(folder / "part*.csv").string()}));
}

TEST(SplitFiles, OfNetcdfReadAsTheOneTheyWere) {
  const ScratchFolder folder;
  const auto write = [&](const std::string& name, int first, int last) {
    NcTestFile file(folder / name);
    std::vector<double> time, lon, lat, value, track;
    for (int i = first; i < last; ++i) {
      time.push_back(1e6 + 20.0 * i + 3600.0 * (i / 20));
      lon.push_back(0.25 * i - 30.0);
      lat.push_back(0.1 * i);
      value.push_back(0.001 * i * i);
      track.push_back(i / 20);
    }
    const int n = file.dimension("time", time.size());
    file.variable("time", NC_DOUBLE, {n}, time, "seconds since 2000-01-01", "time");
    file.variable("lon", NC_DOUBLE, {n}, lon, "degrees_east", "longitude");
    file.variable("lat", NC_DOUBLE, {n}, lat, "degrees_north", "latitude");
    file.variable("track", NC_INT, {n}, track);
    file.variable("ssh", NC_DOUBLE, {n}, value, "m");
  };
  write("whole.nc", 0, 300);
  for (int part = 0; part < 3; ++part) write(fmt::format("part{}.nc", part), 100 * part, 100 * (part + 1));
  const ReadOptions options = {.roles = {.value = "ssh", .track = "track"}};
  expect_same(read_observations({(folder / "whole.nc").string()}, options),
              read_observations({(folder / "part*.nc").string()}, options));
}

}  // namespace
}  // namespace drift
