#include "drift/calendar.h"

#include <gtest/gtest.h>

namespace drift {
namespace {

TEST(IsoTime, WritesWhatParsingReads) {
  for (const char* text :
       {"1950-01-01", "2020-02-29T06:00:00Z", "1949-12-31T23:59:59Z", "1582-10-15", "0000-01-01", "9999-12-31"}) {
    double days = 0.0;
    ASSERT_TRUE(parse_iso_time(text, days)) << text;
    EXPECT_EQ(iso_time(days), text);
  }
}

TEST(IsoTime, RoundsToTheSecondAcrossMidnight) {
  EXPECT_EQ(iso_time(1.0 - 1e-9), "1950-01-02");
  EXPECT_EQ(iso_time(0.5), "1950-01-01T12:00:00Z");
}

TEST(IsoTime, SaysTheNumberWhereTheCalendarEnds) { EXPECT_EQ(iso_time(1e9), "1e+09 days since 1950-01-01"); }

}  // namespace
}  // namespace drift
