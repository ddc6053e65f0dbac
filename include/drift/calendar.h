#pragma once

#include <string>
#include <string_view>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Times of the calendar are days since 1950-01-01T00:00 UTC, every day 86,400 s long, in the proleptic Gregorian calendar.
inline constexpr double kSecondsPerDay = 86400.0;

// YYYY-MM-DD[THH[:MM[:SS[.fff]]][Z|+hh[:mm]|-hh[:mm]]], UTC if no zone is given; a blank may replace the T. A leap second,
// :60, is the first second of the next minute. Returns false for any other text.
bool parse_iso_time(std::string_view text, double& days_since_1950);

// The same as text, to the second: "2020-03-01T06:00:00Z"; the date alone, "2020-03-01", if it is midnight.
std::string iso_time(double days_since_1950);

}  // namespace drift
