#include "netcdf/cf_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "drift/error.h"

namespace drift {
namespace {

using testing::HasSubstr;

constexpr double kSecond = 1.0 / 86400.0;
constexpr double kMicrosecond = 1e-6 * kSecond;

double days(const std::string& units, double number, const std::string& calendar = "") {
  return parse_cf_time(units, calendar).to_days(number);
}

std::string refusal(const std::string& units, const std::string& calendar = "") {
  try {
    parse_cf_time(units, calendar);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// Reference values by cftime 1.6: num2date(number, units, calendar) - datetime(1950, 1, 1, calendar=calendar).
TEST(CfTime, AgreesWithCftime) {
  EXPECT_EQ(days("days since 1950-01-01", 12.5), 12.5);
  EXPECT_EQ(days("seconds since 2000-01-01 00:00:00.0", 0), 18262.0);
  EXPECT_NEAR(days("hours since 1900-01-01 00:00:0.0", 1000000, "gregorian"), 23404.666666666668, kMicrosecond);
  EXPECT_NEAR(days("minutes since 1992-10-8 15:15:42.5 -06:00", 7), 15621.890769675925, kMicrosecond);
  EXPECT_NEAR(days("seconds since 1981-01-01T00:00:00Z", 1e9), 22897.074074074073, kMicrosecond);
  EXPECT_NEAR(days("milliseconds since 1970-01-01", 1.6e12, "standard"), 25823.51851851852, kMicrosecond);
  EXPECT_NEAR(days("days since 1985-01-01 +01:30", 0), 12783.9375, kMicrosecond);
  EXPECT_EQ(days("days since -4713-01-01 12:00:00", 2433283), 0.5);  // Julian days
}

TEST(CfTime, IsJulianBefore1582UnlessProleptic) {
  EXPECT_EQ(days("days since 1-1-1", 0), -711859.0);
  EXPECT_EQ(days("days since 1-1-1", 0, "proleptic_gregorian"), -711857.0);
  EXPECT_EQ(days("days since 1582-10-04", 1), days("days since 1582-10-15", 0));
  EXPECT_EQ(days("days since 1582-10-15", 0), -134122.0);
  EXPECT_EQ(days("days since 1582-10-04", 0, "proleptic_gregorian"), -134133.0);
  EXPECT_EQ(days("days since 1500-02-29", 0), -164291.0);
  EXPECT_EQ(days("days since 1200-03-01", 0), -273865.0);
  EXPECT_EQ(days("days since 0-1-1", 0, "proleptic_gregorian"), -712223.0);
  EXPECT_EQ(days("days since -4712-01-01", 0, "proleptic_gregorian"), -2433245.0);
  EXPECT_THAT(refusal("days since 1500-02-29", "proleptic_gregorian"), HasSubstr("not in its calendar"));
  EXPECT_THAT(refusal("days since 1582-10-10"), HasSubstr("not in its calendar"));
  EXPECT_THAT(refusal("days since 0000-01-01"), HasSubstr("not in its calendar"));
}

TEST(CfTime, KnowsUnitsByAllTheirSpellings) {
  const std::string epoch = " since 1950-01-01";
  for (const char* name : {"days", "day", "d", "Days"}) EXPECT_EQ(days(name + epoch, 3), 3.0) << name;
  for (const char* name : {"hours", "hour", "hr", "h"}) EXPECT_EQ(days(name + epoch, 48), 2.0) << name;
  for (const char* name : {"minutes", "min"}) EXPECT_EQ(days(name + epoch, 720), 0.5) << name;
  for (const char* name : {"seconds", "second", "sec", "s"}) EXPECT_NEAR(days(name + epoch, 86400), 1.0, 1e-15) << name;
  for (const char* name : {"microseconds", "us", "\xC2\xB5s"}) EXPECT_NEAR(days(name + epoch, 86400e6), 1.0, 1e-12) << name;
  EXPECT_NEAR(days("nanoseconds" + epoch, 86400e9), 1.0, 1e-12);
  EXPECT_EQ(days("weeks" + epoch, 2), 14.0);
}

TEST(CfTime, KnowsZonesInAllTheirForms) {
  for (const char* zone : {"", "Z", " Z", " UTC", " utc", " GMT", " +00:00", " (TAI)", "+0000", "-0"}) {
    EXPECT_EQ(days(std::string("days since 1950-01-01 00:00:00") + zone, 1), 1.0) << zone;
  }
  for (const char* zone : {" -06:00", "-0600", " -6", "-6:00"}) {
    EXPECT_EQ(days(std::string("days since 1950-01-01 00:00:00") + zone, 0), 0.25) << zone;
  }
  EXPECT_EQ(days("days since 1950-01-01 00:00 +1:30", 0), -0.0625);
  EXPECT_EQ(days("days since 1950-01-01 UTC", 0), 0.0);
  EXPECT_EQ(days("  days   since   1950-1-1   6:0:0  ", 0), 0.25);
  EXPECT_EQ(days("days since 1950-01-01T06", 0), 0.25);
  EXPECT_NEAR(days("seconds since 1950-01-01 00:00:00.250", 0), 0.25 * kSecond, 1e-15);
}

TEST(CfTime, RefusesWhatIsNoTimeOfRealDays) {
  EXPECT_THAT(refusal("days since 2000-01-01", "noleap"), HasSubstr("the calendar \"noleap\""));
  EXPECT_THAT(refusal("days since 2000-01-01", "360_day"), HasSubstr("360_day"));
  EXPECT_THAT(refusal("months since 2000-01-01"), HasSubstr("months, which are not equally long"));
  EXPECT_THAT(refusal("years since 2000-01-01"), HasSubstr("years, which are not equally long"));
  EXPECT_THAT(refusal("fortnights since 2000-01-01"), HasSubstr("\"fortnights\", which is none of"));
  EXPECT_THAT(refusal("m"), HasSubstr("is not that of a time"));
  EXPECT_THAT(refusal(""), HasSubstr("is not that of a time"));
  for (const char* date : {"yesterday", "2000", "2000-13-01", "2000-01-01 25:00", "2000-01-01 00:00:00 XYZ", "2000-01-01 0:0:0:0",
                           "2000-01-01 +", "12345-01-01"}) {
    EXPECT_THAT(refusal(std::string("days since ") + date), HasSubstr("does not end with a date")) << date;
  }
  for (const char* date : {"2000-00-01", "2000-01-00", "2001-02-29", "1900-02-29"}) {
    EXPECT_THAT(refusal(std::string("days since ") + date), HasSubstr("not in its calendar")) << date;
  }
}

TEST(CfTime, LooksLikeOneWhereSinceIsAWordOfIts) {
  EXPECT_TRUE(looks_like_cf_time("days since 1950-01-01"));
  EXPECT_TRUE(looks_like_cf_time("fortnights Since whenever"));
  for (const char* units : {"m", "", "since", "days", "dayssince 1950-01-01"}) EXPECT_FALSE(looks_like_cf_time(units)) << units;
}

// From IERS's leap-seconds.list: seconds since 1900-01-01, and TAI - UTC from then on.
TEST(TaiMinusUtc, IsThatOfIers) {
  constexpr std::array<double, 27> kSince1900 = {
      2287785600, 2303683200, 2335219200, 2366755200, 2398291200, 2429913600, 2461449600, 2492985600, 2524521600,
      2571782400, 2603318400, 2634854400, 2698012800, 2776982400, 2840140800, 2871676800, 2918937600, 2950473600,
      2982009600, 3029443200, 3076704000, 3124137600, 3345062400, 3439756800, 3550089600, 3644697600, 3692217600};
  double offset = 10.0;
  for (const double seconds : kSince1900) {
    const double day = seconds * kSecond - 18262.0;
    EXPECT_EQ(tai_minus_utc(day - 0.01), offset);
    EXPECT_EQ(tai_minus_utc(day + 0.01), ++offset);
  }
  EXPECT_EQ(offset, 37.0);
  EXPECT_EQ(tai_minus_utc(27000.0), 37.0);
}

TEST(TaiToUtc, PassesOverALeapSecond) {
  const double leap = days("days since 2017-01-01", 0);
  const auto utc_s = [&](double tai_s) { return (tai_to_utc(leap + tai_s * kSecond) - leap) / kSecond; };
  constexpr double kTolerance = 1e-5;  // seconds; a day number near 24,000 tells 3e-7
  EXPECT_NEAR(utc_s(-100.0), -136.0, kTolerance);
  EXPECT_NEAR(utc_s(10.0), -26.0, kTolerance);
  EXPECT_NEAR(utc_s(35.5), -0.5, kTolerance);
  EXPECT_NEAR(utc_s(36.5), 0.5, kTolerance);  // within the leap second
  EXPECT_NEAR(utc_s(37.5), 0.5, kTolerance);
  EXPECT_NEAR(utc_s(100.0), 63.0, kTolerance);
}

TEST(WrittenDates, AreThoseOfTheirDigits) {
  const CfTime time = parse_cf_time("day as %Y%m%d.%f", "proleptic_gregorian");
  EXPECT_EQ(time.to_days(19500103.0), 2.0);
  EXPECT_EQ(time.to_days(20200131.25), 25597.25);
  EXPECT_EQ(time.to_days(20200131060000.0), 25597.25);
  for (const double none :
       {20200132.0, 20201301.0, 20200100.0, 2020.0, 20200131240000.0, 202001316000.0, 2e9, 2e15, -20200131.0}) {
    EXPECT_TRUE(std::isnan(time.to_days(none))) << none;
  }
}

}  // namespace
}  // namespace drift
