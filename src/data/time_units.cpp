#include "data/time_units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "data/words.h"
#include "drift/calendar.h"
#include "drift/error.h"

namespace drift {
namespace {

constexpr double kDatenumOf1950 = 712224.0;  // MATLAB counts the days from 0000-01-01, which is 1

struct Guess {
  double low, high;  // of numbers that count so, in 1978 to 2050
  std::string_view what;
  std::string_view units;  // for the option; empty: none can be proposed
};

constexpr std::array<Guess, 7> kGuesses = {
    {{19000101.0, 21001231.0, "dates written as YYYYMMDD", "yyyymmdd"},
     {19000101000000.0, 21001231235960.0, "dates written as YYYYMMDDhhmmss", "yyyymmddhhmmss"},
     {2.5e8, 8.0e8, "seconds since 2000", "seconds since 2000-01-01"},
     {8.0e8, 2.6e9, "seconds since 1970", "seconds since 1970-01-01"},
     {2.5e11, 2.6e12, "milliseconds since 1970", "milliseconds since 1970-01-01"},
     {2.5e17, 2.6e18, "nanoseconds since 1970", "nanoseconds since 1970-01-01"},
     {722000.0, 750000.0, "MATLAB's datenum", "datenum"}}};

}  // namespace

CfTime parse_time_units(const std::string& units) {
  const std::string word = lower(stripped(units));
  if (word == "datenum" || word == "matlab") return {.days_per_unit = 1.0, .offset_days = -kDatenumOf1950};
  if (word == "yyyymmdd" || word == "yyyymmddhhmmss") return {.written = true};
  try {
    return parse_cf_time(units, "");
  } catch (const Error& error) {
    throw UsageError(fmt::format("{}; datenum and yyyymmdd are others", error.what()));
  }
}

bool looks_like_time_name(std::string_view name) {
  constexpr std::array<std::string_view, 17> kTimeWords = {"time", "date",  "datetime", "day",   "days", "year",
                                                           "juld", "jd",    "mjd",      "utc",   "doy",  "epoch",
                                                           "hour", "hours", "when",     "datum", "zeit"};
  constexpr std::array<std::string_view, 10> kCounts = {"t s",       "t sec", "t seconds", "t ms", "t min",
                                                        "t minutes", "t h",   "t hours",   "t d",  "t days"};
  std::string words = lower(name.substr(0, name.find_first_of("([")));
  std::replace(words.begin(), words.end(), '_', ' ');
  return std::any_of(kTimeWords.begin(), kTimeWords.end(), [&](std::string_view word) { return has_word(words, word); }) ||
         std::find(kCounts.begin(), kCounts.end(), words) != kCounts.end() || words.starts_with("time") ||
         words.ends_with("time") || words.ends_with("date");
}

std::string doubtful_times(const Observations& observations) {
  if (observations.time_days.empty()) return {};
  const auto [least, most] = std::minmax_element(observations.time_days.begin(), observations.time_days.end());
  for (const Guess& guess : kGuesses) {
    if (*least < guess.low || *most > guess.high) continue;
    return fmt::format(
        "times have no unit and are taken as days, but {:.10g} to {:.10g} look like {}; --time-units '{}' reads "
        "them so.",
        *least, *most, guess.what, guess.units);
  }
  constexpr double kLongest = 150.0 * 365.25;  // days
  if (*most - *least > kLongest) {
    return fmt::format(
        "times have no unit and are taken as days, which makes them span {:.3g} years, {:.10g} to {:.10g}; if they "
        "are seconds, --time-units 'seconds since 2000-01-01' reads them so.",
        (*most - *least) / 365.25, *least, *most);
  }
  constexpr double kFirstYear = 1978.0, kLastYear = 2050.0;
  if (*least >= kFirstYear && *most <= kLastYear && *most > *least) {
    return fmt::format(
        "times have no unit and are taken as days, but {:.10g} to {:.10g} look like years; convert them to dates or "
        "days.",
        *least, *most);
  }
  return {};
}

}  // namespace drift
