#pragma once

#include <string>
#include <string_view>

#include "drift/observations.h"
#include "netcdf/cf_time.h"

namespace drift {

// How numbers count time, by --time-units: CF's words, "seconds since 2000-01-01", or "datenum", MATLAB's days, or "yyyymmdd",
// dates written as numbers. Throws UsageError.
CfTime parse_time_units(const std::string& units);

// Whether a variable or column of this name may hold times, or a piece of them: "time_utc", "JULD", "year".
bool looks_like_time_name(std::string_view name);

// A sentence on times without a unit that can hardly be days, with what to do about it; empty where they may be.
std::string doubtful_times(const Observations& observations);

}  // namespace drift
