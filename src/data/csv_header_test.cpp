#include "data/csv_header.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drift/error.h"

namespace drift {
namespace {

using testing::HasSubstr;

CsvLayout layout_of(std::vector<std::string> names, const Roles& wanted = {}) {
  CsvLayout layout;
  layout.names = std::move(names);
  assign_roles("f.csv", wanted, layout);
  return layout;
}

std::string refusal(std::vector<std::string> names, const Roles& wanted = {}) {
  try {
    layout_of(std::move(names), wanted);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(DetectSeparator, TakesTheCommonestOutsideQuotes) {
  EXPECT_EQ(detect_separator("lon,lat,value\n"), ',');
  EXPECT_EQ(detect_separator("lon;lat;value\n"), ';');
  EXPECT_EQ(detect_separator("lon\tlat\tsea level\n"), '\t');
  EXPECT_EQ(detect_separator("lon lat   value\n"), ' ');
  EXPECT_EQ(detect_separator("time (UTC, ISO);lon;lat\n"), ';');
  EXPECT_EQ(detect_separator("\"a,b,c,d\";lon;lat\n"), ';');
}

TEST(Roles, AreGuessedFromUsualNamesInAnyCaseWithOrWithoutUnits) {
  const CsvLayout layout =
      layout_of({"Mission", "PASS", "DateTime", "id", "Latitude (deg)", "LON [degrees_east]", "Value", "Uncertainty"});
  EXPECT_FALSE(layout.on_plane);
  EXPECT_EQ(layout.column, (std::array<std::size_t, kCsvRoles>{5, 4, 2, 6, 7, 1, 0}));
}

TEST(Roles, OfATableInMemoryAreFoundAsThoseOfAFile) {
  EXPECT_EQ(roles_of_columns("t", {"Longitude", "LAT", "sst"}).roles, (Roles{.lon = "Longitude", .lat = "LAT", .value = "sst"}));
  EXPECT_EQ(roles_of_columns("t", {"x", "y", "a", "b"}, {.value = "b"}).roles, (Roles{.x = "x", .y = "y", .value = "b"}));
  EXPECT_THROW(roles_of_columns("t", {"lon", "value"}), UsageError);
  const std::vector<std::string> names = {"lon", "lat", "gemessen", "ssh"};
  EXPECT_TRUE(roles_of_columns("t", names, {.value = "ssh"}).warnings.empty());
  const ColumnRoles found = roles_of_columns("t", names, {}, {"1.5", "2.5", "2020-01-31 12:00:00", "0.1"});
  EXPECT_EQ(found.roles.value, "ssh");  // the only one left
  EXPECT_THAT(found.warnings, testing::ElementsAre(HasSubstr("the column \"gemessen\" may hold them: --time gemessen reads it")));
}

TEST(Roles, OfTimeSigmaTrackAndPlatformMayBeAbsent) {
  EXPECT_EQ(layout_of({"lon", "lat", "value"}).column,
            (std::array<std::size_t, kCsvRoles>{0, 1, kNoColumn, 2, kNoColumn, kNoColumn, kNoColumn}));
}

TEST(Roles, OfThePlaneAreTakenWhereThereAreNoDegreesOrWhereAskedFor) {
  EXPECT_TRUE(layout_of({"x", "y", "value"}).on_plane);
  EXPECT_TRUE(layout_of({"Easting", "Northing", "value"}).on_plane);
  const CsvLayout degrees = layout_of({"x", "y", "lon", "lat", "value"});
  EXPECT_FALSE(degrees.on_plane);
  EXPECT_EQ(degrees.column_of(CsvRole::lon), 2u);
  const CsvLayout plane = layout_of({"lon", "lat", "x", "y", "value"}, {.x = "x"});
  EXPECT_TRUE(plane.on_plane);
  EXPECT_EQ(plane.column_of(CsvRole::lat), 3u);
  EXPECT_EQ(columns_in_use(plane).y, "y");
  EXPECT_EQ(columns_in_use(plane).lat, "");
  EXPECT_THAT(refusal({"lon", "lat", "x", "y", "value"}, {.lon = "lon", .y = "y"}), HasSubstr("both lon or lat and x or y"));
}

TEST(Roles, GivenByOptionsWinOverGuesses) {
  const CsvLayout layout = layout_of({"lon", "lat", "value", "SSH", "error"}, {.value = "ssh", .sigma = kNoRole});
  EXPECT_EQ(layout.column_of(CsvRole::value), 3u);
  EXPECT_FALSE(layout.has(CsvRole::sigma));
  // A column that an option takes is not guessed for another role.
  EXPECT_FALSE(layout_of({"lon", "lat", "error"}, {.value = "error"}).has(CsvRole::sigma));
  // Case decides where nothing else does.
  EXPECT_EQ(layout_of({"lon", "lat", "SSH", "ssh"}, {.value = "ssh"}).column_of(CsvRole::value), 3u);
}

TEST(Roles, MissingListTheColumnsAndTheOption) {
  EXPECT_EQ(refusal({"lon", "lat", "ssh", "sst"}),
            "f.csv: no column is called value; name the right one with --value, likeliest first:\n  ssh\n  sst");
  EXPECT_EQ(layout_of({"lon", "lat", "ssh"}).column_of(CsvRole::value), 2u);  // nothing else can be
  EXPECT_THAT(refusal({"lon", "value"}),
              HasSubstr("no column is called lat or latitude or lat_deg; name the right one with --lat"));
  EXPECT_THAT(refusal({"a", "b"}), HasSubstr("--lon"));
  EXPECT_THAT(refusal({"lon", "lat", "value"}, {.value = kNoRole}), HasSubstr("is needed"));
}

TEST(Roles, CandidatesForTheValueAreRankedWithFlagsAndAltitudesLast) {
  EXPECT_THAT(
      refusal({"lon", "lat", "quality_flag", "Altitude [m]", "pressure", "SLA [m]", "range-rms", "alternative"}),
      testing::EndsWith("likeliest first:\n  SLA [m]\n  pressure\n  Altitude [m]\n  quality_flag\n  range-rms\n  alternative"));
}

TEST(Roles, PassesWithoutTimesAreSaidSo) {
  EXPECT_THAT(layout_of({"lon", "lat", "pass", "value"}).warnings, testing::ElementsAre(HasSubstr("passes have no times")));
  EXPECT_TRUE(layout_of({"lon", "lat", "pass", "value"}, {.time = kNoRole}).warnings.empty());
  EXPECT_TRUE(layout_of({"lon", "lat", "pass", "time", "value"}).warnings.empty());
  // A column that may hold them says it already.
  EXPECT_THAT(layout_of({"lon", "lat", "pass", "JULD", "value"}).warnings,
              testing::ElementsAre(HasSubstr("--time JULD reads it")));
}

TEST(Roles, AmbiguousNameBothColumnsAndTheOption) {
  EXPECT_EQ(refusal({"datetime", "time", "lon", "lat", "value"}),
            "f.csv: both \"datetime\" and \"time\" could be the time; name the right one with --time, or \"-\" for none. Its "
            "columns are \"datetime\", \"time\", \"lon\", \"lat\", \"value\"");
  EXPECT_THAT(refusal({"lon", "longitude", "lat", "value"}), HasSubstr("--lon. Its"));
  EXPECT_THAT(refusal({"lon", "lat", "ssh", "ssh"}, {.value = "ssh"}), HasSubstr("2 columns are called \"ssh\""));
}

TEST(Roles, ATimeOrAnErrorIsNeverGuessedAsTheValue) {
  const CsvLayout layout = layout_of({"lon", "lat", "time", "co2", "co2std", "flight_time"});
  EXPECT_EQ(layout.name_of(CsvRole::value), "co2");
  EXPECT_FALSE(layout.has(CsvRole::sigma));  // it is offered, not taken
  EXPECT_THAT(layout.warnings, testing::ElementsAre(HasSubstr("--sigma co2std uses it")));
  EXPECT_TRUE(layout_of({"lon", "lat", "time", "co2", "co2std"}, {.sigma = kNoRole}).warnings.empty());
  for (const char* error : {"ssh_err", "sigma_ssh", "SSH uncertainty [m]", "ssh_sd"}) {
    EXPECT_EQ(layout_of({"lon", "lat", "time", "ssh", error}).warnings.size(), 1u) << error;
  }
  EXPECT_TRUE(layout_of({"lon", "lat", "time", "ssh", "sshock"}, {.value = "ssh"}).warnings.empty());
}

TEST(Roles, ADateMayBeOfSeveralColumns) {
  const CsvLayout guessed = layout_of({"Year", "Month", "Day", "Hour", "lon", "lat", "value"});
  EXPECT_THAT(guessed.date_columns, testing::ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(columns_in_use(guessed).time, "Year,Month,Day,Hour");
  const CsvLayout named = layout_of({"d", "m", "y", "lon", "lat", "value"}, {.time = "y,m,d"});
  EXPECT_THAT(named.date_columns, testing::ElementsAre(2, 1, 0));
  EXPECT_TRUE(layout_of({"year", "month", "day", "time", "lon", "lat", "value"}).date_columns.empty());
  EXPECT_THAT(refusal({"y", "m", "lon", "lat", "value"}, {.time = "y,m,y,m,y,m,y"}), HasSubstr("names 7 columns"));
}

TEST(Roles, ADateMayBeOfAYearAndADayOfIt) {
  const CsvLayout guessed = layout_of({"year", "doy", "hour", "lon", "lat", "value"});
  EXPECT_EQ(guessed.date_form, DateForm::day_of_year);
  EXPECT_THAT(guessed.date_columns, testing::ElementsAre(0, 1, 2));
  EXPECT_TRUE(guessed.warnings.empty());
  const CsvLayout named = layout_of({"lon", "lat", "y", "JDay", "value"}, {.time = "y,JDay"});
  EXPECT_EQ(named.date_form, DateForm::day_of_year);
  EXPECT_THAT(named.date_columns, testing::ElementsAre(2, 3));
}

TEST(Roles, ADateMayBeOfADayAndATimeOfDay) {
  for (const CsvLayout& layout :
       {layout_of({"lon", "Time", "Date", "lat", "value"}), layout_of({"lon", "hm", "on", "lat", "value"}, {.time = "on,hm"})}) {
    EXPECT_EQ(layout.date_form, DateForm::day_and_clock);
    EXPECT_THAT(layout.date_columns, testing::ElementsAre(2, 1));
  }
  EXPECT_TRUE(layout_of({"date", "time", "lon", "lat", "value"}, {.time = "time"}).date_columns.empty());
}

TEST(Roles, OfTimeAreKnownAsPangaeaCallsThem) {
  EXPECT_EQ(layout_of({"Latitude", "Longitude", "Date/Time", "Temp [C]"}).name_of(CsvRole::time), "Date/Time");
}

TEST(Roles, AYearAloneIsAPieceOfADateAndNoTime) {
  EXPECT_THAT(layout_of({"lon", "lat", "year", "value"}).warnings,
              testing::ElementsAre(HasSubstr("the column \"year\" may be a piece of a date: --time year,month,day")));
}

TEST(Roles, InMemoryAreOfOneColumnEach) {
  try {
    roles_of_columns("t", {"date", "time", "lon", "lat", "value"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("its times are in several columns, date,time; make one column of them"));
  }
}

TEST(Roles, AColumnThatMayHoldTimesAndIsNotReadGetsAWarning) {
  EXPECT_THAT(layout_of({"lon", "lat", "time_utc", "value"}).warnings,
              testing::ElementsAre(HasSubstr("--time time_utc reads it")));
  EXPECT_THAT(layout_of({"lon", "lat", "JULD", "value"}).warnings, testing::SizeIs(1));
  EXPECT_TRUE(layout_of({"lon", "lat", "JULD", "value"}, {.time = kNoRole}).warnings.empty());
  for (const char* name : {"when", "Zeit", "hour", "Hours [h]", "t_s", "T_days", "utc_hour"}) {
    EXPECT_THAT(layout_of({"lon", "lat", name, "value"}).warnings, testing::ElementsAre(HasSubstr("no times are read"))) << name;
  }
  for (const char* name : {"yield", "temp_s", "t_wall", "shour"}) {
    EXPECT_TRUE(layout_of({"lon", "lat", name, "value"}).warnings.empty()) << name;
  }
}

TEST(Roles, MisspeltAreOfferedANameThatIsThere) {
  EXPECT_EQ(refusal({"lon", "lat", "ssha"}, {.value = "shha"}), "f.csv: no column \"shha\" (--value); did you mean 'ssha'?");
  EXPECT_EQ(refusal({"lon", "lat", "ssha"}, {.value = "elevation"}),
            "f.csv: no column \"elevation\" (--value); choose from lon, lat, ssha");
}

}  // namespace
}  // namespace drift
