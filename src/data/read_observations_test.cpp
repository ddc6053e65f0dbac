#include "drift/read_observations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/scratch_folder.h"
#include "data/reading_testing.h"
#include "drift/calendar.h"
#include "drift/error.h"
#include "netcdf/netcdf_testing.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kSecond = 1.0 / 86400.0;

// A plain file of five observations along a track: packed numbers, one value missing, one outside its range, longitudes to 360.
class Plain : public testing::Test {
 protected:
  struct Options {
    int format = NC_NETCDF4;
    std::string unit = "m";
    std::vector<double> time = {0, 20, 40, 60, 80};
    std::vector<double> lat = {100, 200, 300, 400, 500};
    std::vector<double> value = {10, -32767, 30, 5000, 50};
    std::string feature = "trajectory";
  };

  std::string write(const std::string& name, const Options& options) const {
    NcTestFile file(folder_ / name, options.format);
    const int time = file.dimension("time", options.time.size());
    file.variable("time", NC_DOUBLE, {time}, options.time, "seconds since 2000-01-01 00:00:00.0", "time");
    file.pack(file.variable("lat", NC_INT, {time}, options.lat, "degrees_north"), 0.01);
    file.pack(file.variable("lon", NC_INT, {time}, {35800, 35900, 0, 100, 200}, "degrees_east"), 0.01);
    const int sla = file.variable("sla", NC_SHORT, {time}, options.value, options.unit, "sea_surface_height_above_sea_level");
    file.pack(sla, 0.001, 1.0);
    file.attribute(sla, "_FillValue", NC_SHORT, {-32767});
    file.attribute(sla, "valid_range", NC_SHORT, {-4000, 4000});
    file.attribute(sla, "long_name", "Sea level anomaly");
    const int flag = file.variable("flag", NC_BYTE, {time}, {0, 1, 0, 1, 2});
    file.attribute(flag, "flag_values", NC_BYTE, {0, 1, 2});
    file.attribute(flag, "flag_meanings", "good bad doubtful");
    file.attribute(NC_GLOBAL, "featureType", options.feature);
    return (folder_ / name).string();
  }

  ScratchFolder folder_;
};

TEST_F(Plain, FileIsReadByItsMetadata) {
  for (const int format : {NC_NETCDF4, NC_CLASSIC_MODEL | NC_NETCDF4, 0, NC_64BIT_OFFSET, NC_64BIT_DATA}) {
    SCOPED_TRACE(format);
    const Reading reading = read_observations({write("plain.nc", {.format = format})});
    const Observations& o = reading.observations;
    EXPECT_THAT(o.lon_deg, ElementsAre(testing::DoubleNear(-2, 1e-12), 0.0, testing::DoubleNear(2, 1e-12)));
    EXPECT_THAT(o.lat_deg, ElementsAre(1.0, 3.0, 5.0));
    EXPECT_THAT(o.value, ElementsAre(testing::DoubleNear(1.01, 1e-12), testing::DoubleNear(1.03, 1e-12),
                                     testing::DoubleNear(1.05, 1e-12)));
    EXPECT_NEAR(o.time_days[1], 18262 + 40 * kSecond, 1e-9);
    EXPECT_THAT(o.sigma, IsEmpty());
    EXPECT_THAT(o.platform, IsEmpty());
    const ReadReport& report = reading.report;
    EXPECT_EQ(report.format, "NetCDF");
    EXPECT_EQ(report.preset, "");
    EXPECT_EQ(report.rows, 5u);
    EXPECT_EQ(count_of(report, "value missing"), 1u);
    EXPECT_EQ(count_of(report, "value outside the file's valid range"), 1u);
    EXPECT_EQ(report.roles, (Roles{.lon = "lon", .lat = "lat", .time = "time", .value = "sla"}));
    EXPECT_EQ(reading.value, (VariableInfo{"sla", "Sea level anomaly", "sea_surface_height_above_sea_level", "m"}));
    EXPECT_TRUE(reading.calendar_time);
    EXPECT_FALSE(reading.on_plane);
    EXPECT_EQ(reading.tracks, 1u);
    EXPECT_EQ(reading.tracks_from, "gaps of 60 s and turns");
    EXPECT_THAT(report.warnings, IsEmpty());
  }
}

TEST_F(Plain, FileYieldsEachVariableByNamePathOrStandardName) {
  const std::string path = write("plain.nc", {});
  for (const char* name : {"sla", "/sla", "SLA", "sea_surface_height_above_sea_level"}) {
    EXPECT_EQ(read_observations({path}, {.roles = {.value = name}}).observations.size(), 3u) << name;
  }
  EXPECT_EQ(read_observations({path}, {.roles = {.value = "flag"}}).observations.size(), 5u);
  EXPECT_THAT(refusal({path}, {.roles = {.value = "slaa"}}),
              testing::AllOf(testing::StartsWith("usage: "), HasSubstr("no variable 'slaa'"), HasSubstr("did you mean 'sla'?")));
  EXPECT_THAT(refusal({path}, {.roles = {.lat = "latt"}}), HasSubstr("did you mean 'lat'?"));
  EXPECT_THAT(refusal({path}, {.roles = {.value = kNoRole}}), HasSubstr("values are needed"));
}

TEST_F(Plain, RolesCanBeGivenUp) {
  const Reading reading = read_observations({write("plain.nc", {})}, {.roles = {.time = kNoRole}});
  EXPECT_THAT(reading.observations.time_days, IsEmpty());
  EXPECT_EQ(reading.tracks, 0u);
  EXPECT_EQ(reading.report.roles.time, "");
}

TEST_F(Plain, ObservationsAreFilteredByAnyVariable) {
  const std::string path = write("plain.nc", {});
  const auto left = [&](const std::vector<std::string>& where) {
    return read_observations({path}, {.roles = {.value = "sla"}, .where = where}).observations.lat_deg;
  };
  EXPECT_THAT(left({"flag in 0,1"}), ElementsAre(1, 3));
  EXPECT_THAT(left({"flag not in 0"}), ElementsAre(5));
  EXPECT_THAT(left({"flag in good, bad"}), ElementsAre(1, 3));
  EXPECT_THAT(left({"flag == doubtful"}), ElementsAre(5));
  EXPECT_THAT(left({"lat > 1", "lat<=3"}), ElementsAre(3));
  EXPECT_THAT(left({"flag has 2"}), ElementsAre(5));
  EXPECT_THAT(left({"sla != 1.01"}), ElementsAre(3, 5));
  const Reading reading = read_observations({path}, {.where = {"flag in 0,1"}});
  EXPECT_EQ(count_of(reading.report, "not flag in 0,1"), 1u);
  EXPECT_THAT(refusal({path}, {.where = {"flg in 0,1"}}), HasSubstr("did you mean 'flag'?"));
  EXPECT_THAT(refusal({path}, {.where = {"flag in worse"}}), HasSubstr("neither a number nor a meaning of the flag"));
  EXPECT_THAT(refusal({path}, {.where = {"flag is 1"}}), HasSubstr("usage: the condition \"flag is 1\""));
}

TEST_F(Plain, ObservationsAreFilteredByValueBoxAndTime) {
  const std::string path = write("plain.nc", {});
  const auto left = [&](const ReadOptions& options) { return read_observations({path}, options).observations.lat_deg; };
  EXPECT_THAT(left({.valid = Range{1.02, 1.04}}), ElementsAre(3));
  EXPECT_THAT(left({.box = {{-10, 2, 10, 90}}}), ElementsAre(3, 5));
  EXPECT_THAT(left({.box = {{350, -90, 1, 90}}}), ElementsAre(1, 3));
  EXPECT_THAT(left({.box = {{1, -90, -1, 90}}}), ElementsAre(1, 5));
  EXPECT_THAT(left({.box = {{0, -90, 360, 90}}}), ElementsAre(1, 3, 5));
  EXPECT_THAT(left({.time = Range{18262 + 10 * kSecond, 18262 + 60 * kSecond}}), ElementsAre(3));
  const Reading reading = read_observations({path}, {.valid = Range{1.02, 1.04}});
  EXPECT_EQ(count_of(reading.report, "value outside the valid range"), 2u);
  EXPECT_THAT(refusal({path}, {.valid = Range{2, 1}}), HasSubstr("usage: --valid"));
  EXPECT_THAT(refusal({path}, {.box = {{0, 10, 10, 0}}}), HasSubstr("west, south, east, north"));
  EXPECT_THAT(refusal({path}, {.roles = {.time = kNoRole}, .time = Range{0, 1}}), HasSubstr("has no times"));
}

TEST_F(Plain, LatitudesBeyondThePoleAreLeftOutButMostOfThemAreAnError) {
  const Reading reading = read_observations({write("plain.nc", {.lat = {100, 200, 9100, 400, 500}})});
  EXPECT_EQ(reading.observations.size(), 2u);
  EXPECT_EQ(count_of(reading.report, "latitude beyond 90 degrees"), 1u);
  EXPECT_THAT(refusal({write("plain.nc", {.lat = {10000, 200, 9100, 400, 500}})}),
              HasSubstr("2 of 3 latitudes in variable 'lat' are beyond 90 degrees; is it the right variable?"));
}

TEST_F(Plain, TimesMustNotRunBackwardsInATrajectory) {
  const Options back = {.time = {0, 1, 2, 1.5, 4}};
  EXPECT_THAT(
      refusal({write("back.nc", back)}),
      HasSubstr(
          "back.nc: times run backwards: variable 'time' goes from 2000-01-01T00:00:02Z to 2000-01-01T00:00:02Z at index 3"));
  EXPECT_EQ(read_observations({write("back.nc", back)}, {.any_order = true}).observations.size(), 3u);
  Options no_trajectory = back;
  no_trajectory.feature = "point";
  EXPECT_EQ(read_observations({write("back.nc", no_trajectory)}).observations.size(), 3u);
  EXPECT_EQ(read_observations({write("same.nc", {.time = {0, 1, 1, 1, 4}})}).observations.size(), 3u);
}

TEST_F(Plain, MissingTimesAreLeftOutAndNothingLeftIsAnErrorWithCounts) {
  const double none = std::nan("");
  const Reading reading = read_observations({write("plain.nc", {.time = {0, 1, none, 3, 4}})});
  EXPECT_EQ(reading.observations.size(), 2u);
  EXPECT_EQ(count_of(reading.report, "time missing"), 1u);
  EXPECT_THAT(refusal({write("plain.nc", {.time = {none, none, none, none, none}})}),
              HasSubstr("none of 5 values of 'sla' is left: time missing 5"));
  EXPECT_THAT(refusal({write("plain.nc", {.value = {-32767, -32767, 5000, -32767, -32767}})}),
              HasSubstr("none of 5 values of 'sla' is left: value missing 4, value outside the file's valid range 1"));
}

TEST_F(Plain, FilesInTwoUnitsAreAnErrorThatQuotesBoth) {
  const std::string a = write("a.nc", {}), b = write("b.nc", {.unit = "cm"});
  EXPECT_THAT(refusal({a, b}),
              testing::AllOf(HasSubstr("'sla' is in \"m\" in"), HasSubstr("a.nc"), HasSubstr("\"cm\" in"), HasSubstr("b.nc")));
}

TEST_F(Plain, OptionsThatCannotBeAreRefused) {
  const std::string path = write("plain.nc", {});
  EXPECT_THAT(refusal({path}, {.preset = "cmems-l3-slaa"}),
              HasSubstr("usage: no preset is called 'cmems-l3-slaa'; did you mean 'cmems-l3-sla'?"));
  EXPECT_THAT(refusal({path}, {.track_gap_s = 0}), HasSubstr("usage: track_gap_s"));
  EXPECT_THAT(refusal({path}, {.threads = -1}), HasSubstr("usage: threads"));
  EXPECT_THAT(refusal({path}, {.roles = {.lon = "lon", .x = "lon"}}), HasSubstr("one or the other"));
}

TEST(ReadNetcdf, AmbiguousValuesAreListed) {
  const ScratchFolder folder;
  {
    NcTestFile file(folder / "two.nc");
    const int n = file.dimension("obs", 2);
    file.variable("longitude", NC_DOUBLE, {n}, {1, 2});
    file.variable("latitude", NC_DOUBLE, {n}, {1, 2});
    file.attribute(file.variable("height", NC_DOUBLE, {n}, {1, 2}, "m"), "long_name", "Height of something");
    file.variable("depth", NC_DOUBLE, {n}, {1, 2}, "km");
  }
  const std::string path = (folder / "two.nc").string();
  EXPECT_THAT(refusal({path}),
              testing::AllOf(testing::StartsWith("usage: "), HasSubstr("\n  'height' (Height of something, m)\n  'depth' (km)")));
  const Reading reading = read_observations({path}, {.roles = {.value = "depth"}});
  EXPECT_THAT(reading.observations.time_days, IsEmpty());  // purely spatial
  EXPECT_FALSE(reading.calendar_time);
  EXPECT_EQ(reading.tracks, 0u);
}

TEST(ReadNetcdf, SigmaComesFromAncillaryVariablesOnlyWhereItIsPlain) {
  const ScratchFolder folder;
  const auto write = [&](const std::string& ancillary, const std::string& unit = "m") {
    NcTestFile file(folder / "sigma.nc");
    const int n = file.dimension("obs", 4);
    file.variable("lon", NC_DOUBLE, {n}, {1, 2, 3, 4});
    file.variable("lat", NC_DOUBLE, {n}, {1, 2, 3, 4});
    file.attribute(file.variable("ssh", NC_DOUBLE, {n}, {1, 2, 3, 4}, "m"), "ancillary_variables", ancillary);
    file.variable("ssh_uncertainty", NC_FLOAT, {n}, {0.5, 0, -1, NC_FILL_FLOAT}, unit);
    file.variable("se", NC_DOUBLE, {n}, {0.25, 0.25, 0.25, 0.25}, "m", "sea_surface_height standard_error");
    return (folder / "sigma.nc").string();
  };
  const auto sigma = [&](const std::string& ancillary, const ReadOptions& options = {.roles = {.value = "ssh"}}) {
    return read_observations({write(ancillary)}, options).observations.sigma;
  };
  EXPECT_THAT(sigma(""), IsEmpty());
  EXPECT_THAT(sigma("se"), ElementsAre(0.25f, 0.25f, 0.25f, 0.25f));
  EXPECT_THAT(sigma("ssh_uncertainty"), ElementsAre(0.5f));
  EXPECT_THAT(sigma("se ssh_uncertainty"), IsEmpty());  // which of them?
  EXPECT_THAT(sigma("se", {.roles = {.value = "ssh", .sigma = kNoRole}}), IsEmpty());
  EXPECT_THAT(sigma("", {.roles = {.value = "ssh", .sigma = "se"}}), ElementsAre(0.25f, 0.25f, 0.25f, 0.25f));
  const Reading reading = read_observations({write("ssh_uncertainty")}, {.roles = {.value = "ssh"}});
  EXPECT_EQ(count_of(reading.report, "sigma missing"), 1u);
  EXPECT_EQ(count_of(reading.report, "sigma not more than zero"), 2u);
  EXPECT_THAT(refusal({write("", "cm")}, {.roles = {.value = "ssh", .sigma = "ssh_uncertainty"}}),
              HasSubstr("\"cm\" and the value"));
}

TEST(ReadNetcdf, PlatformsComeFromNumbersTextOrAttributes) {
  const ScratchFolder folder;
  {
    NcTestFile file(folder / "p.nc");
    const int n = file.dimension("obs", 3), letters = file.dimension("letters", 4);
    file.variable("time", NC_DOUBLE, {n}, {1, 2, 3}, "days since 2000-01-01");
    file.variable("lon", NC_DOUBLE, {n}, {1, 2, 3});
    file.variable("lat", NC_DOUBLE, {n}, {1, 2, 3});
    file.variable("ssh", NC_DOUBLE, {n}, {1, 2, 3});
    file.strings("name", {n}, {"b", "", "a"});
    file.variable("code", NC_INT, {n}, {7, 7, 9});
    const int flag = file.variable("satellite", NC_BYTE, {n}, {2, 1, 2});
    file.attribute(flag, "flag_values", NC_BYTE, {1, 2});
    file.attribute(flag, "flag_meanings", "s3a s3b");
    file.variable("chars", NC_CHAR, {n, letters}, {});
    file.attribute(NC_GLOBAL, "vessel", "Polarstern");
  }
  const std::string path = (folder / "p.nc").string();
  const auto read = [&](const std::string& platform) {
    return read_observations({path}, {.roles = {.value = "ssh", .platform = platform}}).observations;
  };
  EXPECT_THAT(read("").platform_names, ElementsAre("Sentinel-3B", "Sentinel-3A"));
  EXPECT_THAT(read("").platform, ElementsAre(0, 1, 0));
  EXPECT_THAT(read("name").platform_names, ElementsAre("b", "a"));
  EXPECT_THAT(read("name").platform, ElementsAre(0, 1));
  EXPECT_THAT(read("code").platform_names, ElementsAre("7", "9"));
  EXPECT_THAT(read("vessel").platform_names, ElementsAre("Polarstern"));
  EXPECT_THAT(read(kNoRole).platform_names, IsEmpty());
  EXPECT_THAT(refusal({path}, {.roles = {.value = "ssh", .platform = "chars"}}), HasSubstr("platform missing 3"));
  EXPECT_THAT(refusal({path}, {.roles = {.value = "ssh", .platform = "nam"}}), HasSubstr("did you mean 'name'?"));
}

TEST(ReadNetcdf, PlatformsOfTextAreKnownByTheirName) {
  const ScratchFolder folder;
  {
    NcTestFile file(folder / "p.nc");
    const int n = file.dimension("obs", 3);
    file.variable("lon", NC_DOUBLE, {n}, {1, 2, 3});
    file.variable("lat", NC_DOUBLE, {n}, {1, 2, 3});
    file.variable("ssh", NC_DOUBLE, {n}, {1, 2, 3});
    file.strings("platform", {n}, {"b", "a", "b"});
  }
  const Observations o = read_observations({(folder / "p.nc").string()}).observations;
  EXPECT_THAT(o.platform_names, ElementsAre("b", "a"));
  EXPECT_THAT(o.platform, ElementsAre(0, 1, 0));
}

TEST(ReadNetcdf, UnsignedAndValueRangesAreThoseOfTheConventions) {
  const ScratchFolder folder;
  {
    NcTestFile file(folder / "u.nc");
    const int n = file.dimension("obs", 4);
    file.variable("lon", NC_DOUBLE, {n}, {1, 2, 3, 4});
    file.variable("lat", NC_DOUBLE, {n}, {1, 2, 3, 4});
    const int u = file.variable("u", NC_BYTE, {n}, {-56, 10, -1, 127});
    file.attribute(u, "_Unsigned", "true");
    file.attribute(u, "_FillValue", NC_BYTE, {-1});
    file.pack(u, 2.0);
    const int limited = file.variable("limited", NC_SHORT, {n}, {100, 200, 300, 400});
    file.pack(limited, 0.01);
    file.attribute(limited, "valid_max", NC_DOUBLE, {3.0});  // of the type of scale_factor: a value
    const int filled = file.variable("filled", NC_FLOAT, {n}, {1, 1e20, 3, NC_FILL_FLOAT});
    file.attribute(filled, "missing_value", NC_DOUBLE, {1e20});
  }
  const auto values = [&](const std::string& name) {
    return read_observations({(folder / "u.nc").string()}, {.roles = {.value = name}}).observations.value;
  };
  EXPECT_THAT(values("u"), ElementsAre(400, 20, 254));
  EXPECT_THAT(values("limited"), ElementsAre(1, 2, 3));
  EXPECT_THAT(values("filled"), ElementsAre(1, 3));
}

}  // namespace
}  // namespace drift
