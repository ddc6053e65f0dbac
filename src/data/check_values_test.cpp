#include "data/check_values.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/scratch_folder.h"
#include "data/platform_names.h"
#include "data/reading_testing.h"
#include "data/standard_names.h"
#include "data/time_units.h"
#include "drift/error.h"
#include "drift/standard_name.h"
#include "netcdf/netcdf_testing.h"

namespace drift {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Table : public testing::Test {
 protected:
  // Twenty rows: values from 0 to 1.9 and then those of `more`; times as given.
  std::string write(const std::vector<std::string>& more, double time0 = 0.0, double time_step = 1.0) const {
    std::string text = "lon,lat,time,value\n";
    const std::size_t rows = 20 + more.size();
    for (std::size_t i = 0; i < rows; ++i) {
      text += fmt::format("{},2,{},{}\n", i, time0 + time_step * static_cast<double>(i),
                          i < 20 ? fmt::format("{}", 0.1 * static_cast<double>(i)) : more[i - 20]);
    }
    write_bytes(folder_ / "t.csv", text);
    return (folder_ / "t.csv").string();
  }
  std::vector<std::string> warnings(const std::string& path, const ReadOptions& options = {}) const {
    return read_observations({path}, options).report.warnings;
  }
  ScratchFolder folder_;
};

TEST_F(Table, FillValuesAreRemarkedUponWithAProposal) {
  EXPECT_THAT(warnings(write({})), IsEmpty());
  for (const char* fill : {"-9999", "-32768", "9.96921e36", "9.969209968386869e+36", "1e20"}) {
    const std::string path = write({fill, fill});
    EXPECT_THAT(warnings(path), ElementsAre(AllOf(HasSubstr("2 of 22 values of 'value' are"), HasSubstr("--valid 0:1.9"))))
        << fill;
    EXPECT_THAT(warnings(path, {.valid = Range{0.0, 1.9}}), IsEmpty());
  }
  EXPECT_THAT(warnings(write({"-99", "-60", "-80"})), IsEmpty());  // not far from the others: it may be a value
}

// `count` fills among 1,000 values evenly between low and high.
std::vector<std::string> warnings_among(double low, double high, const std::vector<std::pair<double, int>>& fills) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(low + (high - low) * i / 999.0);
  for (const auto& [fill, count] : fills) values.insert(values.end(), static_cast<std::size_t>(count), fill);
  std::vector<std::string> warnings;
  check_values(values, {.name = "v"}, warnings);
  return warnings;
}

TEST(FillValues, AreRemarkedUponAmongWideValuesWhereTheyAreRepeated) {
  EXPECT_THAT(warnings_among(0, 4000, {{-9999, 40}}), ElementsAre(AllOf(HasSubstr("40 of 1,040"), HasSubstr("--valid 0:4000"))));
  EXPECT_THAT(warnings_among(-6000, 2000, {{-32768, 40}}), ElementsAre(HasSubstr("are -32768, which looks like a fill value")));
  EXPECT_THAT(warnings_among(-500, 500, {{-9999, 30}}), ElementsAre(HasSubstr("are -9999,")));
  EXPECT_THAT(warnings_among(0, 4000, {{-9999, 1}}), IsEmpty()) << "once it may be a value";
  EXPECT_THAT(warnings_among(0, 4000, {{-9999, 4}}), IsEmpty()) << "less than 0.5 %";
  EXPECT_THAT(warnings_among(-80, -60, {{-99, 2}}), IsEmpty());
  EXPECT_THAT(warnings_among(0, 4000, {{999, 40}}), IsEmpty()) << "within the others";
  EXPECT_THAT(warnings_among(0, 800, {{999.0, 40}}), ElementsAre(HasSubstr("are 999,")))
      << "further than the others from each other";
}

TEST(FillValues, AreAllNamedAlsoInSinglePrecision) {
  for (const double fill : {999.9, -999.9, 99.99, -99.99, -9999.99}) {
    EXPECT_THAT(warnings_among(-1, 1, {{fill, 5}}), ElementsAre(HasSubstr(fmt::format("are {:g}", fill))));
    EXPECT_THAT(warnings_among(-1, 1, {{static_cast<float>(fill), 5}}), ElementsAre(HasSubstr(fmt::format("are {:.10g}", fill))));
  }
  EXPECT_THAT(warnings_among(-1, 1, {{-9999, 5}, {1e20, 7}, {-99.5, 1}}),
              ElementsAre(AllOf(HasSubstr("12 of 1,013 values of 'v' look like fill values (5 are -9999, 7 are 1e+20)"))));
}

TEST_F(Table, ValuesThatCannotBeSquaredGetAnEarlyAnswer) {
  EXPECT_THAT(refusal({write({"1e300"})}), AllOf(HasSubstr("the value 1e+300"), HasSubstr("--valid")));
  EXPECT_THAT(refusal(
                  {
                      write({"-1e300"}),
                  },
                  {.valid = Range{-10, 10}}),
              "accepted");
  write_bytes(folder_ / "small.csv", std::string("lon,lat,value\n1,2,1e-170\n2,2,2e-170\n3,2,3e-170\n"));
  EXPECT_THAT(refusal({(folder_ / "small.csv").string()}), HasSubstr("too close together to compute with; scale them"));
}

TEST_F(Table, TimesThatCanHardlyBeDaysAreRemarkedUpon) {
  EXPECT_THAT(warnings(write({}, 26000.0)), IsEmpty());
  EXPECT_THAT(warnings(write({}, 1.6e9)), ElementsAre(HasSubstr("--time-units 'seconds since 1970-01-01'")));
  EXPECT_THAT(warnings(write({}, 6e8)), ElementsAre(HasSubstr("--time-units 'seconds since 2000-01-01'")));
  EXPECT_THAT(warnings(write({}, 737791.0)), ElementsAre(HasSubstr("--time-units 'datenum'")));
  EXPECT_THAT(warnings(write({}, 0.0, 86400.0)), ElementsAre(HasSubstr("span 4.49e+03 years")));
  EXPECT_THAT(warnings(write({}, 2014.1, 0.01)), ElementsAre(HasSubstr("look like years")));
  const std::string path = write({}, 1.6e9);
  EXPECT_THAT(warnings(path, {.time_units = "seconds since 1970-01-01"}), IsEmpty());
}

TEST(DoubtfulTimes, AreDatesWrittenAsNumbers) {
  Observations observations;
  observations.time_days = {20200131.0, 20210228.0};
  EXPECT_THAT(doubtful_times(observations),
              HasSubstr("look like dates written as YYYYMMDD; --time-units 'yyyymmdd' reads them so"));
  observations.time_days = {20200131120000.0, 20210228060000.0};
  EXPECT_THAT(doubtful_times(observations), HasSubstr("--time-units 'yyyymmddhhmmss'"));
}

TEST_F(Table, OptionsSayWhatTheValuesAre) {
  const std::string path = write({});
  EXPECT_EQ(read_observations({path}).value.unit, "");  // unknown stays unknown
  const ReadOptions options = {.units = "m", .standard_name = "sea_surface_height_above_geoid", .long_name = "Height"};
  EXPECT_EQ(read_observations({path}, options).value, (VariableInfo{"value", "Height", "sea_surface_height_above_geoid", "m"}));
  EXPECT_THAT(warnings(path, options), IsEmpty());
  EXPECT_THAT(warnings(path, {.standard_name = "sea_surface_height_above_geoid"}), ElementsAre(HasSubstr("--units 'm'")));
  EXPECT_THAT(warnings(path, {.units = "m", .standard_name = "sea_surface_height_above_geiod"}),
              ElementsAre(AllOf(HasSubstr("did you mean 'sea_surface_height_above_geoid'"),
                                HasSubstr("maps carry it all the same, as you ask"))));
  EXPECT_EQ(read_observations({path}, {.standard_name = "sea_level_of_the_moon"}).value.standard_name, "sea_level_of_the_moon");
}

TEST_F(Table, RefusesAStandardNameThatCanBeNone) {
  const std::string path = write({});
  for (const char* name : {"ssh", "Sea surface height", "wind_speed by_me"}) {
    try {
      read_observations({path}, {.standard_name = name});
      FAIL() << name;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string("'") + name + "' is no standard name of CF"));
    }
  }
}

TEST(HeavyTails, AreThoseFarBeyondTheQuartiles) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(0.001 * i - 0.5);
  EXPECT_FALSE(heavy_tails(values, 0.289));
  values.back() = 328.0;
  const auto tails = heavy_tails(values, 10.4);
  ASSERT_TRUE(tails);
  EXPECT_EQ(tails->beyond, 1u);
  EXPECT_GT(tails->valid.high, 0.5);
  EXPECT_LT(tails->valid.high, 10.0);
}

TEST(Sketches, ShowWhereAndWhen) {
  Observations o;
  for (int i = 0; i < 100; ++i) {
    o.lon_deg.push_back(i < 90 ? 170.0 : -170.0);  // over the date line: 20 degrees apart, not 340
    o.lat_deg.push_back(i < 90 ? 10.0 : -10.0);
    o.time_days.push_back(i < 90 ? 0.0 : 10.0);
    o.value.push_back(0.1 * i);
  }
  const Dataset data = make_dataset(o, {}, {.calendar_time = false});
  const Sketch sketch = sketch_map(data, 40);
  const std::vector<std::string>& map = sketch.rows;
  ASSERT_THAT(map.size(), testing::AllOf(testing::Ge(15u), testing::Le(25u)));
  EXPECT_EQ(map.front().front(), '#');
  EXPECT_EQ(map.back().back(), ':');
  EXPECT_EQ(map.front().back(), ' ');
  EXPECT_EQ(sketch_times(data, 10), "#        :");
}

TEST(Summary, TellsTheTails) {
  Observations o;
  for (int i = 0; i < 1000; ++i) {
    o.lon_deg.push_back(0.1 * i);
    o.lat_deg.push_back(1.0);
    o.value.push_back(i == 500 ? 328.0 : 0.001 * i);
  }
  const Summary summary = summarise(make_dataset(o));
  EXPECT_EQ(summary.highest.front(), 328.0);
  EXPECT_EQ(summary.lowest.front(), 0.0);
  ASSERT_TRUE(summary.tails);
  EXPECT_EQ(summary.tails->beyond, 1u);
}

TEST(StandardNames, AreAscendingAndKnownWithTheirModifier) {
  EXPECT_TRUE(std::is_sorted(standard_names().begin(), standard_names().end()));
  EXPECT_TRUE(is_standard_name("sea_surface_height_above_sea_level"));
  EXPECT_TRUE(is_standard_name("sea_surface_height_above_sea_level standard_error"));
  EXPECT_FALSE(is_standard_name("ssh"));
  EXPECT_FALSE(is_standard_name(""));
  EXPECT_FALSE(is_standard_name("wind_speed of_mine"));
  EXPECT_EQ(canonical_unit("wind_speed"), "m s-1");
  for (const StandardName& known : standard_name_table()) EXPECT_TRUE(may_be_standard_name(known.name)) << known.name;
}

TEST(StandardNames, OfAHeightFollowWhatTheLongNameSaysItIsAbove) {
  const auto proposed = [](std::string_view long_name) { return standard_name_proposal("ssh", long_name); };
  const std::string anomaly = "; did you mean 'sea_surface_height_above_mean_sea_level'?";
  EXPECT_EQ(proposed("sea surface height relative to mean_sea_surface"), anomaly);
  EXPECT_EQ(proposed("Sea surface height anomaly"), anomaly);
  EXPECT_EQ(proposed("sea surface height above geoid"), "; did you mean 'sea_surface_height_above_geoid'?");
  EXPECT_EQ(proposed("height above the ellipsoid"), "; did you mean 'sea_surface_height_above_reference_ellipsoid'?");
  for (const char* of_both : {"", "sea surface height", "anomaly of the dynamic topography"}) {
    EXPECT_THAT(proposed(of_both),
                AllOf(HasSubstr("above_mean_sea_level' (an anomaly)"), HasSubstr("or 'sea_surface_height_above_geoid'")));
  }
}

TEST(StandardNames, MisspeltByOneLetterAreToldFromOthersThatMayBeRight) {
  EXPECT_EQ(misspelt_standard_name("sea_surface_temprature"), "sea_surface_temperature");
  EXPECT_EQ(misspelt_standard_name("sea_surface_hieght_above_geoid"), "sea_surface_height_above_geoid");
  EXPECT_EQ(misspelt_standard_name("Wind_Speed"), "wind_speed");
  for (const char* name :
       {"sea_surface_temperature", "mole_fraction_of_butane_in_air", "mass_concentration_of_chlorophyll_d_in_sea_water",
        "westward_wind", "sea_level_of_a_distant_planet", "sst", ""})
    EXPECT_EQ(misspelt_standard_name(name), "") << name;
}

TEST(StandardNames, OfAFileThatAreMisspeltOrUnknownAreLeftOut) {
  const ScratchFolder folder;
  const std::string path = (folder / "s.nc").string();
  const auto reading = [&](const std::string& name) {
    {
      NcTestFile file(path);
      const int n = file.dimension("obs", 2);
      file.variable("lon", NC_DOUBLE, {n}, {1, 2}, "degrees_east");
      file.variable("lat", NC_DOUBLE, {n}, {1, 2}, "degrees_north");
      file.variable("heat", NC_DOUBLE, {n}, {1, 2}, "K", name.c_str());
    }
    return read_observations({path});
  };
  const Reading misspelt = reading("sea_surface_temprature");
  EXPECT_EQ(misspelt.value.standard_name, "");
  EXPECT_THAT(misspelt.report.warnings, ElementsAre(HasSubstr("--standard-name sea_surface_temperature sets it")));
  const Reading unknown = reading("sea_level_of_a_distant_planet");
  EXPECT_EQ(unknown.value.standard_name, "");
  EXPECT_THAT(unknown.report.warnings,
              ElementsAre(HasSubstr("so maps will not carry it; --standard-name sea_level_of_a_distant_planet keeps it")));
}

TEST(StandardNames, OfOneWordThatNobodyKnowsAreNoneAndOthersMayBe) {
  for (const char* name : {"ssh", "sst", "", "sea level", "2m_temperature"}) EXPECT_FALSE(may_be_standard_name(name)) << name;
  for (const char* name : {"depth", "air_sea_flux_of_13CO2", "sea_level_of_a_distant_planet standard_error"})
    EXPECT_TRUE(may_be_standard_name(name)) << name;
  EXPECT_EQ(standard_name_problem("sla"),
            "'sla' is no standard name of CF; did you mean 'sea_surface_height_above_mean_sea_level'?");
  EXPECT_EQ(standard_name_problem("wind_speed"), "");
}

// What drift derives must be known to it, or its own maps would be read back without their names.
TEST(StandardNames, IncludeThoseOfDriftsOwnLayers) {
  for (const char* direction : {"eastward", "northward"}) {
    const std::string name = std::string("surface_geostrophic_") + direction + "_sea_water_velocity";
    for (const char* end : {"", "_assuming_mean_sea_level_for_geoid", "_assuming_sea_level_for_geoid"})
      EXPECT_TRUE(is_standard_name(name + end)) << name << end;
  }
}

TEST(PlatformNames, AreThoseOfSatellites) {
  EXPECT_EQ(platform_called("Altika Drifting Phase"), "SARAL/AltiKa");
  EXPECT_EQ(platform_called("Sentinel 3A"), "Sentinel-3A");
  EXPECT_EQ(platform_called("OSTM/Jason-2"), "Jason-2");
  EXPECT_EQ(platform_called("Jason-3"), "Jason-3");
  EXPECT_EQ(platform_called("Polarstern"), "Polarstern");
  EXPECT_EQ(platform_called("Satellite"), "");
}

TEST(PlatformNames, OfACodeAreThoseOfAvisosSatellites) {
  EXPECT_THAT(platforms_called({"al", "c2", "h2", "j2"}), ElementsAre("SARAL/AltiKa", "CryoSat-2", "HY-2A", "Jason-2"));
  EXPECT_THAT(platforms_called({"TP", "en", "s6a-lr"}), ElementsAre("TOPEX/Poseidon", "Envisat", "Sentinel-6A"));
  EXPECT_EQ(platform_called("g2"), "GFO");
}

TEST(PlatformNames, OfAColumnStayApart) {
  EXPECT_THAT(platforms_called({"S3A", "altika", "Satellite", "buoy 7"}),
              ElementsAre("Sentinel-3A", "SARAL/AltiKa", "Satellite", "buoy 7"));
  EXPECT_THAT(platforms_called({"S3A1", "S3A2", "j2"}), ElementsAre("S3A1", "S3A2", "j2"));
  EXPECT_THAT(platforms_called({"j2", "tp", "buoy 7"}), ElementsAre("j2", "tp", "buoy 7"));
  EXPECT_THAT(platforms_called({"j1", "j1n", "c2"}), ElementsAre("j1", "j1n", "CryoSat-2"));
  EXPECT_TRUE(is_platform("Sentinel-3B", "s3b"));
  EXPECT_TRUE(is_platform("Jason-2", "j2"));
  EXPECT_TRUE(is_platform("buoy 7", "buoy 7"));
  EXPECT_FALSE(is_platform("Sentinel-3B", "S3A"));
}

TEST(PlatformNames, OfVariablesAndColumnsAreThoseOfSatellites) {
  const ScratchFolder folder;
  const std::string nc = (folder / "p.nc").string(), csv = (folder / "p.csv").string();
  {
    NcTestFile file(nc);
    const int n = file.dimension("obs", 3);
    file.variable("lon", NC_DOUBLE, {n}, {1, 2, 3}, "degrees_east");
    file.variable("lat", NC_DOUBLE, {n}, {1, 2, 3}, "degrees_north");
    file.variable("ssh", NC_DOUBLE, {n}, {1, 2, 3}, "m");
    const int satellite = file.variable("satellite", NC_BYTE, {n}, {4, 7, 4});
    file.attribute(satellite, "flag_meanings", "S3A altika");
    file.attribute(satellite, "flag_values", NC_BYTE, {4, 7});
  }
  std::ofstream(csv) << "lon,lat,ssh,mission\n1,1,1,cryosat2\n2,2,2,S3A\n";
  EXPECT_THAT(read_observations({nc}).observations.platform_names, ElementsAre("Sentinel-3A", "SARAL/AltiKa"));
  EXPECT_THAT(read_observations({csv}, {.roles = {.value = "ssh"}}).observations.platform_names,
              ElementsAre("CryoSat-2", "Sentinel-3A"));
}

TEST(Passes, WithoutTimesAreSaidSo) {
  const ScratchFolder folder;
  const std::string path = (folder / "p.nc").string();
  const auto write = [&](bool with_times) {
    NcTestFile file(path);
    const int n = file.dimension("obs", 3);
    file.variable("lon", NC_DOUBLE, {n}, {1, 2, 3}, "degrees_east");
    file.variable("lat", NC_DOUBLE, {n}, {1, 2, 3}, "degrees_north");
    file.variable("pass", NC_INT, {n}, {1, 1, 2});
    file.variable("ssh", NC_DOUBLE, {n}, {1, 2, 3}, "m", "ssh");  // none of CF's names, which gets a warning of its own
    if (with_times) file.variable("measured_at", NC_DOUBLE, {n}, {1, 2, 3}, "days since 2000-13-01");  // no such date
  };
  write(false);
  EXPECT_THAT(read_observations({path}).report.warnings, testing::Contains(HasSubstr("passes have no times")));
  EXPECT_THAT(read_observations({path}, {.roles = {.time = kNoRole}}).report.warnings,
              Not(testing::Contains(HasSubstr("passes have no times"))));
  write(true);
  EXPECT_THAT(refusal({path}), HasSubstr("does not end with a date"));
}

TEST(GuessedValue, IsNeverATimeAndCandidatesAreRanked) {
  const ScratchFolder folder;
  const std::string path = (folder / "g.nc").string();
  const auto write = [&](bool second) {
    NcTestFile file(path);
    const int n = file.dimension("obs", 3);
    file.variable("lon", NC_DOUBLE, {n}, {1, 2, 3}, "degrees_east");
    file.variable("lat", NC_DOUBLE, {n}, {1, 2, 3}, "degrees_north");
    file.variable("sst_dtime", NC_DOUBLE, {n}, {10, 20, 30}, "seconds");
    file.variable("wind", NC_DOUBLE, {n}, {1, 2, 3}, "m s-1");
    if (!second) return;
    file.variable("altitude", NC_DOUBLE, {n}, {1, 2, 3}, "m");
    file.variable("range_flag", NC_BYTE, {n}, {1, 2, 3});
    file.variable("swh", NC_DOUBLE, {n}, {1, 2, 3}, "m", "sea_surface_wave_significant_height");
  };
  write(false);
  EXPECT_EQ(read_observations({path}).report.roles.value, "wind");
  write(true);
  EXPECT_THAT(refusal({path}), HasSubstr("\n  'swh' (m)\n  'wind' (m s-1)\n  'altitude' (m)\n  'range_flag'"));
}

}  // namespace
}  // namespace drift
