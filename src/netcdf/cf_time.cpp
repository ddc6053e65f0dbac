#include "netcdf/cf_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "drift/calendar.h"
#include "drift/error.h"

namespace drift {
namespace {

struct Unit {
  double seconds;
  std::array<std::string_view, 6> names;  // in lower case
};
// NOLINTNEXTLINE(cert-err58-cpp): string views do not throw
const std::array<Unit, 8> kUnits = {{{7 * kSecondsPerDay, {"weeks", "week"}},
                                     {kSecondsPerDay, {"days", "day", "d"}},
                                     {3600.0, {"hours", "hour", "hrs", "hr", "h"}},
                                     {60.0, {"minutes", "minute", "mins", "min"}},
                                     {1.0, {"seconds", "second", "secs", "sec", "s"}},
                                     {1e-3, {"milliseconds", "millisecond", "millisecs", "millisec", "msec", "ms"}},
                                     {1e-6, {"microseconds", "microsecond", "microsecs", "microsec", "us", "\xC2\xB5s"}},
                                     {1e-9, {"nanoseconds", "nanosecond", "nanosecs", "nanosec", "nsec", "ns"}}}};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view stripped(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Takes pieces from the front of a text; after the first that is not there, nothing is.
class Taker {
 public:
  explicit Taker(std::string_view text) : rest_(text) {}

  bool finished() const { return good_ && rest_.empty(); }
  bool good() const { return good_; }
  bool digit_follows() const { return good_ && !rest_.empty() && is_digit(rest_.front()); }

  void blanks() {
    while (good_ && !rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
  }
  bool optional(std::string_view any_of) {
    const bool here = good_ && !rest_.empty() && any_of.find(rest_.front()) != std::string_view::npos;
    if (here) rest_.remove_prefix(1);
    return here;
  }
  void require(std::string_view any_of) { good_ = optional(any_of); }

  // A number of one to `most_digits` digits, at most `most`.
  int number(std::size_t most_digits, int most) {
    int number = 0;
    std::size_t digits = 0;
    for (; digits < most_digits && digit_follows(); ++digits) {
      number = 10 * number + (rest_.front() - '0');
      rest_.remove_prefix(1);
    }
    good_ = good_ && digits > 0 && number <= most;
    return number;
  }

  // Digits behind a decimal point; there may be none.
  double fraction() {
    double scale = 0.1, result = 0.0;
    for (; digit_follows(); rest_.remove_prefix(1), scale *= 0.1) result += scale * (rest_.front() - '0');
    return result;
  }

  // One of these words, in upper or lower case, if it is all that is left.
  bool ends_with_word(std::initializer_list<std::string_view> words) {
    std::string left = lower(rest_);
    std::erase_if(left, [](char c) { return c == '(' || c == ')'; });
    const bool here = good_ && std::find(words.begin(), words.end(), left) != words.end();
    if (here) rest_ = {};
    return here;
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

// Days from 1950-01-01 of the Gregorian calendar to a date of the same or of the Julian one. The count of days to a date that
// begins its year in March: Richards, in Explanatory Supplement to the Astronomical Almanac, 3rd ed., 15.11.
double days_to(long year, int month, int day, bool gregorian) {
  const long y = year - (month <= 2 ? 1 : 0) + 4800;  // years that begin in March, none negative for those that are allowed
  const long m = (month + 9) % 12;
  long julian_day = 365 * y + y / 4 + (153 * m + 2) / 5 + day - 32083;
  if (gregorian) julian_day += 38 - y / 100 + y / 400;
  constexpr long kJulianDayOf1950 = 2433283;  // at noon of 1950-01-01
  return static_cast<double>(julian_day - kJulianDayOf1950);
}

int days_in_month(long year, int month, bool gregorian) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (!gregorian || year % 100 != 0 || year % 400 == 0);
  return kDays.at(static_cast<std::size_t>(month - 1)) + (month == 2 && leap ? 1 : 0);
}

// Days since 1950, or none where there is no such date.
std::optional<double> days_of_date(int year, int month, int day, bool proleptic) {
  if (month < 1 || day < 1 || (!proleptic && year == 0)) return std::nullopt;
  const long astronomical = !proleptic && year < 0 ? year + 1L : year;
  const int number = 10000 * year + 100 * month + day;
  const bool gregorian = proleptic || (year > 0 && number >= 15821015);
  if (!gregorian && number > 15821004) return std::nullopt;
  if (day > days_in_month(astronomical, month, gregorian)) return std::nullopt;
  return days_to(astronomical, month, day, gregorian);
}

// Seconds to be taken off, east of Greenwich.
double take_zone(Taker& taker) {
  taker.blanks();
  if (taker.ends_with_word({"z", "utc", "gmt", "tai"})) return 0.0;
  const bool east = taker.optional("+");
  if (!east && !taker.optional("-")) return 0.0;
  int hours = taker.number(4, 2359);
  int minutes = 0;
  if (hours > 23) {  // +0130
    minutes = hours % 100;
    hours /= 100;
  } else if (taker.optional(":")) {
    minutes = taker.number(2, 59);
  }
  return (east ? 60.0 : -60.0) * (60 * hours + minutes);
}

// Seconds since midnight, UTC.
double take_time_of_day(Taker& taker) {
  taker.blanks();
  taker.optional("Tt");
  taker.blanks();
  double seconds = 0.0;
  if (taker.digit_follows()) {
    seconds = 3600.0 * taker.number(2, 23);
    if (taker.optional(":")) seconds += 60.0 * taker.number(2, 59);
    if (taker.optional(":")) seconds += taker.number(2, 60);
    if (taker.optional(".")) seconds += taker.fraction();
  }
  return seconds - take_zone(taker);
}

double parse_reference(std::string_view text, bool proleptic, const std::string& units) {
  Taker taker(text);
  const bool negative = taker.optional("-");
  const int year = (negative ? -1 : 1) * taker.number(4, 9999);
  taker.require("-");
  const int month = taker.number(2, 12);
  taker.require("-");
  const int day = taker.number(2, 31);
  const double seconds = take_time_of_day(taker);
  if (!taker.finished() || year < -4800) {
    throw Error(fmt::format("the time unit \"{}\" does not end with a date like 2000-01-01 00:00:00", units));
  }
  const auto days = days_of_date(year, month, day, proleptic);
  if (!days) {
    throw Error(fmt::format("the time unit \"{}\" counts from a date that is not in its calendar, {}", units,
                            proleptic ? "proleptic_gregorian" : "standard"));
  }
  return *days + seconds / kSecondsPerDay;
}

// Seconds of a unit by its name in lower case; 0: no such unit.
double seconds_of(const std::string& name) {
  for (const Unit& unit : kUnits) {
    if (std::find(unit.names.begin(), unit.names.end(), name) != unit.names.end() && !name.empty()) return unit.seconds;
  }
  return 0.0;
}

double parse_unit(std::string_view name, const std::string& units) {
  const std::string wanted = lower(name);
  if (const double seconds = seconds_of(wanted); seconds > 0.0) return seconds;
  if (wanted.find("month") != std::string::npos || wanted.find("year") != std::string::npos) {
    throw Error(fmt::format("the time unit \"{}\" counts {}, which are not equally long; convert it to days", units, name));
  }
  throw Error(
      fmt::format("the time unit \"{}\" begins with \"{}\", which is none of weeks, days, hours, minutes, seconds, "
                  "milliseconds, microseconds, nanoseconds",
                  units, name));
}

bool is_proleptic(const std::string& calendar) {
  const std::string name = lower(stripped(calendar));
  if (name == "proleptic_gregorian") return true;
  if (name.empty() || name == "standard" || name == "gregorian") return false;
  throw Error(fmt::format("the calendar \"{}\" is not one of real days; standard and proleptic_gregorian are", calendar));
}

// Where the word "since" begins, with blanks around it.
std::size_t find_since(const std::string& units) {
  const std::string text = lower(units);
  for (std::size_t at = text.find("since"); at != std::string::npos; at = text.find("since", at + 1)) {
    const bool blank_before = at > 0 && is_blank(text[at - 1]);
    if (blank_before && at + 5 < text.size() && is_blank(text[at + 5])) return at;
  }
  return std::string::npos;
}

// As the Climate Data Operators write them.
bool is_of_written_dates(const std::string& units) { return lower(stripped(units)).starts_with("day as %y%m%d"); }

// When a leap second had just been added, in days since 1950; TAI - UTC is 10 before the first.
std::array<double, 27> leap_days() {
  constexpr std::array<std::array<int, 2>, 27> kMonths = {
      {{1972, 7}, {1973, 1}, {1974, 1}, {1975, 1}, {1976, 1}, {1977, 1}, {1978, 1}, {1979, 1}, {1980, 1},
       {1981, 7}, {1982, 7}, {1983, 7}, {1985, 7}, {1988, 1}, {1990, 1}, {1991, 1}, {1992, 7}, {1993, 7},
       {1994, 7}, {1996, 1}, {1997, 7}, {1999, 1}, {2006, 1}, {2009, 1}, {2012, 7}, {2015, 7}, {2017, 1}}};
  std::array<double, 27> days = {};
  std::transform(kMonths.begin(), kMonths.end(), days.begin(), [](const auto& m) { return days_to(m[0], m[1], 1, true); });
  return days;
}

}  // namespace

double CfTime::to_days(double number) const {
  return written ? days_of_written_date(number) : number * days_per_unit + offset_days;
}

double days_of_written_date(double number) {
  const double none = std::nan("");
  if (!(number >= 1e7 && number < 1e14)) return none;
  double seconds = 0.0, date = number;
  if (number >= 1e8) {
    // Hours, and minutes and seconds as far as there are digits for them.
    const double per_second = number >= 1e13 ? 1.0 : number >= 1e11 ? 100.0 : 1e4;
    if (number < 1e9 || (number >= 1e10 && number < 1e11) || (number >= 1e12 && number < 1e13)) return none;
    const double clock = std::fmod(number * per_second, 1e6);
    date = std::floor(number * per_second / 1e6);
    const double hour = std::floor(clock / 1e4), minute = std::floor(std::fmod(clock, 1e4) / 100.0),
                 second = std::fmod(clock, 100.0);
    if (hour >= 24.0 || minute >= 60.0 || second > 60.0) return none;
    seconds = 3600.0 * hour + 60.0 * minute + second;
  }
  const double day = std::floor(date);
  const auto digits = static_cast<int>(day);
  if (digits / 100 % 100 > 12) return none;
  const auto days = days_of_date(digits / 10000, digits / 100 % 100, digits % 100, false);
  return days ? *days + (date - day) + seconds / kSecondsPerDay : none;
}

CfTime parse_cf_time(const std::string& units, const std::string& calendar) {
  const bool proleptic = is_proleptic(calendar);
  if (is_of_written_dates(units)) return {.written = true};
  const std::size_t since = find_since(units);
  if (since == std::string::npos) {
    throw Error(fmt::format("the unit \"{}\" is not that of a time, like \"days since 1950-01-01\"", units));
  }
  const double seconds = parse_unit(stripped(std::string_view(units).substr(0, since)), units);
  const double offset = parse_reference(stripped(std::string_view(units).substr(since + 5)), proleptic, units);
  return {.days_per_unit = seconds / kSecondsPerDay, .offset_days = offset};
}

bool looks_like_cf_time(const std::string& units) { return is_of_written_dates(units) || find_since(units) != std::string::npos; }

double span_seconds(const std::string& unit) { return seconds_of(lower(stripped(unit))); }

double tai_minus_utc(double days_since_1950) {
  static const std::array<double, 27> leaps = leap_days();
  const auto past = std::upper_bound(leaps.begin(), leaps.end(), days_since_1950);
  return 10.0 + static_cast<double>(past - leaps.begin());
}

double tai_to_utc(double tai_days) {
  const double about = tai_days - tai_minus_utc(tai_days) / kSecondsPerDay;  // a second early between leap and offset
  return tai_days - tai_minus_utc(about) / kSecondsPerDay;
}

}  // namespace drift
