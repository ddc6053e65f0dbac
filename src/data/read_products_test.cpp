// Files made as those of the products are: names, types, packing, attributes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scratch_folder.h"
#include "data/product_testing.h"
#include "data/reading_testing.h"
#include "netcdf/cf_time.h"
#include "netcdf/netcdf_testing.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kSecond = 1.0 / 86400.0;
constexpr double k2000 = 18262.0;  // days since 1950

class Product : public testing::Test {
 protected:
  std::string path(const std::string& name = "product.nc") const { return (folder_ / name).string(); }
  ScratchFolder folder_;
};

class CmemsSla : public Product {
 protected:
  std::string write(const std::string& name, const std::string& platform, const std::vector<double>& times,
                    const std::vector<double>& tracks) const {
    NcTestFile file(path(name));
    const int time = file.dimension("time", times.size());
    const std::size_t n = times.size();
    std::vector<double> lat, lon, value;
    for (std::size_t i = 0; i < n; ++i) {
      lat.push_back(-1e6 + 1e5 * static_cast<double>(i));
      lon.push_back(359900000 + 1e5 * static_cast<double>(i % 3));
      value.push_back(static_cast<double>(i));
    }
    file.variable("time", NC_DOUBLE, {time}, times, "days since 1950-01-01 00:00:00", "time");
    file.pack(file.variable("latitude", NC_INT, {time}, lat, "degrees_north", "latitude"), 1e-6);
    file.pack(file.variable("longitude", NC_INT, {time}, lon, "degrees_east", "longitude"), 1e-6);
    file.variable("cycle", NC_SHORT, {time}, std::vector<double>(n, 7), "1");
    file.variable("track", NC_SHORT, {time}, tracks, "1");
    for (const char* sla : {"sla_unfiltered", "sla_filtered"}) {
      const int id = file.variable(sla, NC_SHORT, {time}, value, "m", "sea_surface_height_above_sea_level");
      file.pack(id, *(sla + 4) == 'u' ? 0.001 : 0.002);
      file.attribute(id, "coordinates", "longitude latitude");
      file.attribute(id, "_FillValue", NC_SHORT, {32767});
    }
    for (const char* other : {"dac", "ocean_tide", "internal_tide", "lwe", "mdt", "tpa_correction"}) {
      file.pack(file.variable(other, NC_SHORT, {time}, value, "m"), 0.001);
    }
    file.attribute(NC_GLOBAL, "platform", platform);
    return path(name);
  }
};

TEST_F(CmemsSla, IsRecognised) {
  const Reading reading = read_observations({write("a.nc", "Jason-3", {25000.0, 25000.00001, 25000.00002}, {12, 12, 13})});
  const Observations& o = reading.observations;
  EXPECT_EQ(reading.report.preset, "cmems-l3-sla");
  EXPECT_EQ(reading.report.roles,
            (Roles{.lon = "longitude", .lat = "latitude", .time = "time", .value = "sla_unfiltered", .track = "track"}));
  EXPECT_THAT(o.platform_names, ElementsAre("Jason-3"));
  EXPECT_THAT(o.track, ElementsAre(0, 0, 1));
  EXPECT_EQ(reading.layout, DataLayout::along_track);
  EXPECT_EQ(reading.tracks, 2u);
  EXPECT_EQ(reading.tracks_from, "variables 'cycle' and 'track'");
  EXPECT_DOUBLE_EQ(o.time_days[2], 25000.00002);
  EXPECT_NEAR(o.value[2], 0.002, 1e-15);
  EXPECT_NEAR(o.lon_deg[0], -0.1, 1e-9);
  EXPECT_NEAR(read_observations({path("a.nc")}, {.roles = {.value = "sla_filtered"}}).observations.value[2], 0.004, 1e-15);
}

TEST_F(CmemsSla, TracksAreCountedThroughAllFilesAndPlatforms) {
  write("b1.nc", "Jason-3", {25000.0, 25000.1}, {12, 13});
  write("b2.nc", "Jason-3", {25000.11, 25000.12}, {13, 14});  // the pass 13 goes on
  write("b3.nc", "Sentinel-3A", {25000.0, 25000.1}, {13, 13});
  const Reading reading = read_observations({(folder_ / "b*.nc").string()});
  EXPECT_THAT(reading.observations.track, ElementsAre(0, 1, 1, 2, 3, 3));
  EXPECT_THAT(reading.observations.platform, ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_THAT(reading.observations.platform_names, ElementsAre("Jason-3", "Sentinel-3A"));
  EXPECT_EQ(reading.tracks, 4u);
}

TEST_F(CmemsSla, CanBeReadWithoutItsPreset) {
  write("a.nc", "Jason-3", {25000.0, 25000.1}, {12, 13});
  EXPECT_THAT(refusal({path("a.nc")}, {.preset = "none"}), HasSubstr("usage: "));  // several could be the value
  const Reading reading = read_observations({path("a.nc")}, {.roles = {.value = "sla_filtered"}, .preset = "none"});
  EXPECT_EQ(reading.report.preset, "");
  EXPECT_EQ(reading.observations.size(), 2u);
  EXPECT_EQ(reading.report.roles.track, "track");
}

TEST_F(Product, CmemsWaveHeightsAreRecognised) {
  {
    NcTestFile file(path());
    const int time = file.dimension("time", 2);
    file.variable("time", NC_DOUBLE, {time}, {7e8, 7e8 + 1}, "seconds since 2000-01-01 00:00:00", "time");
    file.pack(file.variable("latitude", NC_INT, {time}, {10, 20}, "degrees_north", "latitude"), 1e-6);
    file.pack(file.variable("longitude", NC_INT, {time}, {10, 20}, "degrees_east", "longitude"), 1e-6);
    file.pack(file.variable("VAVH", NC_SHORT, {time}, {2000, 2100}, "m", "sea_surface_wave_significant_height"), 0.001);
    file.pack(file.variable("VAVH_UNFILTERED", NC_SHORT, {time}, {2001, 2101}, "m", "sea_surface_wave_significant_height"),
              0.001);
    file.pack(file.variable("WIND_SPEED", NC_SHORT, {time}, {1, 2}, "m s-1", "wind_speed"), 0.01);
    file.attribute(NC_GLOBAL, "platform", "CFOSAT");
  }
  const Reading reading = read_observations({path()});
  EXPECT_EQ(reading.report.preset, "cmems-l3-swh");
  EXPECT_EQ(reading.value.name, "VAVH");
  EXPECT_THAT(reading.observations.value, ElementsAre(2.0, 2.1));
  // Two variables have that standard name.
  EXPECT_THAT(refusal({path()}, {.roles = {.value = "sea_surface_wave_significant_height"}}),
              testing::AllOf(HasSubstr("'VAVH'"), HasSubstr("'VAVH_UNFILTERED'")));
}

TEST_F(Product, SentinelThreeRolesFollowTheValuesRate) {
  write_sentinel3(path());
  const Reading fast = read_observations({path()});
  EXPECT_EQ(fast.report.preset, "sentinel3-l2");
  EXPECT_EQ(fast.report.roles, (Roles{.lon = "lon_20_ku", .lat = "lat_20_ku", .time = "time_20_ku", .value = "ssha_20_ku"}));
  EXPECT_EQ(fast.report.rows, 4u);
  EXPECT_NEAR(fast.observations.time_days[0], k2000 + 6e8 * kSecond, 1e-9);
  EXPECT_THAT(fast.observations.platform_names, ElementsAre("Sentinel-3A"));
  EXPECT_EQ(fast.tracks_from, "the file's attribute 'pass_number'");
  EXPECT_EQ(fast.tracks, 1u);
  const Reading slow = read_observations({path()}, {.roles = {.value = "ssha_01_ku"}});
  EXPECT_EQ(slow.report.roles.time, "time_01");
  EXPECT_EQ(slow.observations.size(), 2u);
  EXPECT_EQ(read_observations({path()}, {.roles = {.value = "freeboard_20_ku"}, .where = {"surf_class_20_ku == 1"}})
                .observations.size(),
            1u);
  EXPECT_THAT(refusal({path()}, {.roles = {.value = "ssha_01_ku"}, .where = {"surf_class_20_ku == 1"}}),
              HasSubstr("does not lie along the dimensions of 'ssha_01_ku'"));
}

TEST_F(Product, CryosatIsPlacedAtClosestApproachAndBroughtFromTaiToUtc) {
  write_cryosat2(path(), false);
  const Reading reading = read_observations({path()});
  EXPECT_EQ(reading.report.preset, "cryosat2-l2");
  EXPECT_EQ(reading.report.roles.lat, "lat_poca_20_ku");
  EXPECT_EQ(reading.report.roles.value, "freeboard_20_ku");
  EXPECT_NEAR(reading.observations.lat_deg[0], 80.001, 1e-9);
  EXPECT_THAT(reading.observations.platform_names, ElementsAre("CryoSat-2"));
  // 2019-01-05: TAI is 37 s ahead of UTC.
  EXPECT_NEAR(reading.observations.time_days[0], k2000 + (6e8 - 37.0) * kSecond, 1e-9);
  EXPECT_NEAR(read_observations({path()}, {.roles = {.lon = "lon_20_ku", .lat = "lat_20_ku", .value = "height_1_20_ku"}})
                  .observations.lat_deg[0],
              80.0, 1e-9);
  write_cryosat2(path(), false, "UTC time");
  EXPECT_NEAR(read_observations({path()}).observations.time_days[0], k2000 + 6e8 * kSecond, 1e-9);
  // Without the preset there are two latitudes, and which is meant cannot be told.
  EXPECT_THAT(refusal({path()}, {.roles = {.value = "freeboard_20_ku"}, .preset = "none"}), HasSubstr("either could be the lon"));
}

TEST_F(Product, JasonOfFlatFilesIsReadAtOneAndTwentyHertz) {
  {
    NcTestFile file(path(), 0);
    const int time = file.dimension("time", 2), fast = file.dimension("meas_ind", 3);
    file.variable("time", NC_DOUBLE, {time}, {6e8, 6e8 + 1}, "seconds since 2000-01-01 00:00:00.0", "time");
    file.variable("meas_ind", NC_BYTE, {fast}, {0, 1, 2}, "count");
    file.variable("time_20hz", NC_DOUBLE, {time, fast}, {6e8, 6e8 + 0.05, 6e8 + 0.1, 6e8 + 1, 6e8 + 1.05, 6e8 + 1.1},
                  "seconds since 2000-01-01 00:00:00.0", "time");
    file.pack(file.variable("lat", NC_INT, {time}, {1000000, 1060000}, "degrees_north", "latitude"), 1e-6);
    file.pack(file.variable("lon", NC_INT, {time}, {1000000, 1060000}, "degrees_east", "longitude"), 1e-6);
    file.pack(file.variable("lat_20hz", NC_INT, {time, fast}, {1000000, 1003000, 1006000, 1060000, 1063000, 1066000},
                            "degrees_north", "latitude"),
              1e-6);
    file.pack(file.variable("lon_20hz", NC_INT, {time, fast}, {1000000, 1003000, 1006000, 1060000, 1063000, 1066000},
                            "degrees_east", "longitude"),
              1e-6);
    const int ssha = file.variable("ssha", NC_SHORT, {time}, {100, 32767}, "m", "sea_surface_height_above_sea_level");
    file.pack(ssha, 0.001);
    file.attribute(ssha, "_FillValue", NC_SHORT, {32767});
    const int range = file.variable("range_20hz_ku", NC_INT, {time, fast}, {1, 2, 3, 4, 5, 6}, "m", "altimeter_range");
    file.pack(range, 1e-4, 1300000);
    file.attribute(range, "coordinates", "lon_20hz lat_20hz");
    file.variable("surface_type", NC_BYTE, {time}, {0, 2});
    file.attribute(NC_GLOBAL, "mission_name", "Jason-3");
    file.attribute(NC_GLOBAL, "cycle_number", NC_INT, {10});
    file.attribute(NC_GLOBAL, "pass_number", NC_INT, {5});
  }
  const Reading slow = read_observations({path()});
  EXPECT_EQ(slow.report.preset, "jason-gdr");
  EXPECT_EQ(slow.observations.size(), 1u);
  EXPECT_EQ(slow.report.roles.lat, "lat");
  const Reading fast = read_observations({path()}, {.roles = {.value = "range_20hz_ku"}});
  EXPECT_EQ(fast.observations.size(), 6u);
  EXPECT_EQ(fast.report.roles.time, "time_20hz");
  EXPECT_EQ(fast.report.roles.lat, "lat_20hz");
  EXPECT_NEAR(fast.observations.lat_deg[4], 1.063, 1e-12);
  EXPECT_NEAR(fast.observations.time_days[4], k2000 + (6e8 + 1.05) * kSecond, 1e-9);
  // A condition at 1 Hz holds for all of its second.
  EXPECT_EQ(
      read_observations({path()}, {.roles = {.value = "range_20hz_ku"}, .where = {"surface_type == 0"}}).observations.size(), 3u);
  EXPECT_EQ(read_observations({path()}, {.roles = {.value = "range_20hz_ku"}, .preset = "none"}).report.roles.lat, "lat_20hz");
}

TEST_F(Product, JasonOfGroupsIsReadByPath) {
  {
    NcTestFile file(path());
    for (const char* rate : {"data_01", "data_20"}) {
      const std::size_t n = rate[5] == '0' ? 2 : 3;
      std::vector<double> times, at, values;
      for (std::size_t i = 0; i < n; ++i) {
        times.push_back(6e8 + static_cast<double>(i));
        at.push_back(1e6 + 1e4 * static_cast<double>(i));
        values.push_back(100.0 * static_cast<double>(n) + static_cast<double>(i));
      }
      file.enter(rate);
      const int time = file.dimension("time", n);
      file.variable("time", NC_DOUBLE, {time}, times, "seconds since 2000-01-01 00:00:00.0", "time");
      file.pack(file.variable("latitude", NC_INT, {time}, at, "degrees_north", "latitude"), 1e-6);
      file.pack(file.variable("longitude", NC_INT, {time}, at, "degrees_east", "longitude"), 1e-6);
      file.enter(std::string(rate) + "/ku");
      file.pack(file.variable("ssha", NC_INT, {time}, values, "m"), 0.001);
    }
    file.enter("");
    file.attribute(NC_GLOBAL, "mission_name", "Jason-3");
    file.attribute(NC_GLOBAL, "cycle_number", NC_INT, {10});
    file.attribute(NC_GLOBAL, "pass_number", NC_INT, {5});
  }
  const Reading slow = read_observations({path()});
  EXPECT_EQ(slow.report.preset, "jason-gdr");
  EXPECT_EQ(slow.report.roles.value, "data_01/ku/ssha");
  EXPECT_EQ(slow.report.roles.lat, "data_01/latitude");
  EXPECT_EQ(slow.value.name, "ssha");
  const Reading fast = read_observations({path()}, {.roles = {.value = "data_20/ku/ssha"}});
  EXPECT_EQ(fast.report.roles.time, "data_20/time");
  EXPECT_THAT(fast.observations.value, ElementsAre(0.3, 0.301, 0.302));
  EXPECT_THAT(refusal({path()}, {.roles = {.value = "ssha"}}),
              testing::AllOf(HasSubstr("'data_01/ku/ssha'"), HasSubstr("name one in full")));
}

TEST(Presets, AreListed) {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    names.push_back(preset.name);
    EXPECT_FALSE(preset.what.empty());
  }
  EXPECT_THAT(names, ElementsAre("cmems-l3-sla", "cmems-l3-swh", "swot-l3", "nasa-ssh", "rss-ssmis", "argo", "cryosat2-l2",
                                 "sentinel3-l2", "sentinel6-l2", "jason-gdr", "icesat2-atl10", "icesat2-atl07", "icesat2-atl21"));
}

}  // namespace
}  // namespace drift
