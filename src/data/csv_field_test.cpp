#include "data/csv_field.h"

#include <gtest/gtest.h>

#include <cmath>

namespace drift {
namespace {

double days(std::string_view text) {
  double result = std::nan("");
  EXPECT_TRUE(parse_iso_time(text, result)) << text;
  return result;
}

double number(std::string_view text) {
  double result = std::nan("");
  EXPECT_EQ(parse_number(text, result), CsvParsed::good) << text;
  return result;
}

TEST(IsoTime, CountsDaysSince1950) {
  EXPECT_EQ(days("1950-01-01"), 0.0);
  EXPECT_EQ(days("1949-12-31"), -1.0);
  EXPECT_EQ(days("1970-01-01"), 7305.0);
  EXPECT_EQ(days("2000-01-01"), 18262.0);
  EXPECT_EQ(days("2020-03-01T12:00"), 25627.5);
}

TEST(IsoTime, KnowsLeapYears) {
  EXPECT_EQ(days("2020-03-01") - days("2020-02-28"), 2.0);
  EXPECT_EQ(days("2019-03-01") - days("2019-02-28"), 1.0);
  EXPECT_EQ(days("2000-03-01") - days("2000-02-28"), 2.0);  // by 400
  EXPECT_EQ(days("1900-03-01") - days("1900-02-28"), 1.0);  // by 100
  double ignored = 0.0;
  EXPECT_TRUE(parse_iso_time("2024-02-29", ignored));
  EXPECT_FALSE(parse_iso_time("2023-02-29", ignored));
  EXPECT_FALSE(parse_iso_time("1900-02-29", ignored));
}

TEST(IsoTime, ReadsTheTimeOfDayToTheMicrosecond) {
  EXPECT_DOUBLE_EQ(days("1950-01-01T06:00:00"), 0.25);
  EXPECT_DOUBLE_EQ(days("1950-01-01 00:00:01"), 1.0 / 86400.0);
  EXPECT_DOUBLE_EQ(days("1950-01-01t00:00:00.125z"), 0.125 / 86400.0);
  EXPECT_NEAR((days("2020-06-01T10:11:12.345678") - days("2020-06-01")) * 86400.0, 36672.345678, 1e-6);
  EXPECT_DOUBLE_EQ(days("1950-01-01T00:00:00.50000000000000000000000000000000000000"), 0.5 / 86400.0);
  EXPECT_EQ(days("2016-12-31T23:59:60Z"), days("2017-01-01"));  // a leap second
}

TEST(IsoTime, SubtractsTheZone) {
  EXPECT_EQ(days("2020-01-01T00:00Z"), days("2020-01-01"));
  EXPECT_EQ(days("2020-01-01T02:00+02:00"), days("2020-01-01"));
  EXPECT_EQ(days("2019-12-31T18:30-05:30"), days("2020-01-01"));
  EXPECT_EQ(days("2020-01-01T02:00:00.0+0200"), days("2020-01-01"));
  EXPECT_EQ(days("2020-01-01T02:00+02"), days("2020-01-01"));
}

TEST(IsoTime, RefusesWhatIsNotATime) {
  for (const char* text : {"",
                           "2020",
                           "2020-1-01",
                           "2020-13-01",
                           "2020-00-10",
                           "2020-04-31",
                           "2020-01-00",
                           "2020-01-01T",
                           "2020-01-01T24:00",

                           "2020-01-01T12:60",
                           "2020-01-01T12:00:61",
                           "2020-01-01T12:00:00.",
                           "2020-01-01T12:00+",
                           "2020-01-01T12:00+2",
                           "2020-01-01T12:00+02:",
                           "2020-01-01T12:00+24:00",
                           "2020-01-01Z",
                           "2020-01-01T12:00Zx",
                           "2020-01-01x",
                           "2020/01/01",
                           "+2020-01-01",
                           "2020-01-01T-1:00",
                           "20200-01-01"}) {
    double ignored = 0.0;
    EXPECT_FALSE(parse_iso_time(text, ignored)) << text;
  }
}

TEST(CsvNumber, IsReadToTheLastBit) {
  EXPECT_EQ(number("0.1"), 0.1);
  EXPECT_EQ(number("-179.99999999999997"), -179.99999999999997);
  EXPECT_EQ(number("+1.5e-3"), 1.5e-3);
  EXPECT_EQ(number("1E5"), 1e5);
  EXPECT_EQ(number(".5"), 0.5);
  EXPECT_EQ(number("5."), 5.0);
  EXPECT_EQ(number("9007199254740993"), 9007199254740992.0);
  EXPECT_EQ(number("4.9e-324"), 4.9e-324);
  EXPECT_EQ(number("1e-400"), 0.0);
}

TEST(CsvNumber, TellsMissingFromBadAndFromInfinite) {
  double ignored = 0.0;
  for (const char* text : {"", "NA", "na", "N/A", "nan", "NaN", "NAN", "-nan", "null", "NULL"}) {
    EXPECT_EQ(parse_number(text, ignored), CsvParsed::missing) << text;
  }
  for (const char* text : {"x", "1x", "1,5", "--1", "+-1", "+", "-", "1 2", "0x10", "1e", "nano", "none", "1.2.3", "1\"\"2"}) {
    EXPECT_EQ(parse_number(text, ignored), CsvParsed::bad) << text;
  }
  for (const char* text : {"inf", "-Infinity", "1e999", "-1e400"}) {
    EXPECT_EQ(parse_number(text, ignored), CsvParsed::not_finite) << text;
  }
}

TEST(Excerpt, IsShortAndPrintable) {
  EXPECT_EQ(excerpt("plain"), "plain");
  EXPECT_EQ(excerpt(std::string("a\tb\0c\n", 6)), "a?b?c?");
  EXPECT_EQ(excerpt(std::string(100, 'x')), std::string(40, 'x') + "...");
  std::string accents = "x";
  for (int i = 0; i < 30; ++i) accents += "\xC3\xA9";
  EXPECT_EQ(excerpt(accents), accents.substr(0, 39) + "...");  // no half character
}

}  // namespace
}  // namespace drift
