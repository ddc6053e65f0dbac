#pragma once

#include <string>

namespace drift {

// How a CF time variable counts: days since 1950-01-01 = number * days_per_unit + offset_days.
struct CfTime {
  double days_per_unit = 1.0;
  double offset_days = 0.0;
  bool written = false;  // the numbers are no count but dates, as days_of_written_date takes them

  double to_days(double number) const;
};

// Days since 1950-01-01 of 20200131, with a fraction of the day or with two digits more for the hour, the minute and the second,
// 20200131123005. NaN for a number that is no such date.
double days_of_written_date(double number);

// From the attributes units, "seconds since 2000-01-01 00:00:00.0" (weeks, days, hours, minutes, seconds, milli-, micro- and
// nanoseconds, in CF's spellings; a zone, a T, fractions, dates such as 2000-1-1), and calendar (empty: standard). The standard
// calendar is Julian before 1582-10-15 and has no year 0; proleptic_gregorian is Gregorian throughout and has one. UTC, GMT and
// TAI behind the time are passed over: see tai_to_utc. "day as %Y%m%d.%f" is that of dates written as numbers. Throws Error
// naming what is wrong: another calendar (360_day, noleap,
// ...), months or years as units, a text that is no time unit.
CfTime parse_cf_time(const std::string& units, const std::string& calendar);

// Whether the units are those of a time, "... since ..." or "day as %Y%m%d", right or wrong.
bool looks_like_cf_time(const std::string& units);

// Seconds of a unit of spans of time: "s", "days"; 0 where it is none.
double span_seconds(const std::string& unit);

// TAI - UTC in seconds, whole, at a day since 1950-01-01 UTC: 10 until 1972-06-30, 37 since 2017. Announced by IERS Bulletin C.
double tai_minus_utc(double days_since_1950);

// Days since 1950-01-01 on the clock of TAI to those of UTC. A leap second is the first second of the next day.
double tai_to_utc(double tai_days);

}  // namespace drift
