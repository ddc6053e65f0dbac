#include "drift/calendar.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace drift {
namespace {

using std::chrono::sys_days, std::chrono::year_month_day;

constexpr sys_days kEpoch = year_month_day(std::chrono::year(1950), std::chrono::January, std::chrono::day(1));

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Takes pieces from the front of a text; after the first that is not there, nothing is.
class Taker {
 public:
  explicit Taker(std::string_view text) : rest_(text) {}

  bool finished() const { return good_ && rest_.empty(); }

  // One of these characters, if it comes next.
  bool optional(std::string_view any_of) {
    const bool here = good_ && !rest_.empty() && any_of.find(rest_.front()) != std::string_view::npos;
    if (here) rest_.remove_prefix(1);
    return here;
  }
  void require(std::string_view any_of) { good_ = optional(any_of); }

  // A number of exactly so many digits, at most `most`.
  int digits(std::size_t count, int most) {
    int number = 0;
    good_ = good_ && rest_.size() >= count &&
            std::all_of(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(count), is_digit);
    if (!good_) return 0;
    for (std::size_t i = 0; i < count; ++i) number = 10 * number + (rest_[i] - '0');
    rest_.remove_prefix(count);
    good_ = number <= most;
    return number;
  }

  // Digits behind a decimal point, at least one.
  double fraction() {
    double number = 0.0, scale = 1.0;
    good_ = good_ && !rest_.empty() && is_digit(rest_.front());
    while (good_ && !rest_.empty() && is_digit(rest_.front())) {
      if (scale < 1e15) {  // what follows is less than a double can tell
        number = 10.0 * number + (rest_.front() - '0');
        scale *= 10.0;
      }
      rest_.remove_prefix(1);
    }
    return number / scale;
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

// Seconds east of UTC.
double take_zone(Taker& taker) {
  if (taker.optional("Zz")) return 0.0;
  const bool east = taker.optional("+");
  if (!east && !taker.optional("-")) return 0.0;
  const int hours = taker.digits(2, 23);
  const bool minutes_follow = taker.optional(":") || !taker.finished();
  const int minutes = minutes_follow ? taker.digits(2, 59) : 0;
  return (east ? 60.0 : -60.0) * (60 * hours + minutes);
}

// Seconds since midnight, UTC.
double take_time_of_day(Taker& taker) {
  const int hours = taker.digits(2, 23);
  const bool to_the_hour = !taker.optional(":");
  const int minutes = to_the_hour ? 0 : taker.digits(2, 59);
  double seconds = 60.0 * (60 * hours + minutes);
  if (!to_the_hour && taker.optional(":")) {
    seconds += taker.digits(2, 60);
    if (taker.optional(".")) seconds += taker.fraction();
  }
  return seconds - take_zone(taker);
}

}  // namespace

bool parse_iso_time(std::string_view text, double& days_since_1950) {
  Taker taker(text);
  const std::chrono::year year(taker.digits(4, 9999));
  taker.require("-");
  const std::chrono::month month(static_cast<unsigned>(taker.digits(2, 12)));
  taker.require("-");
  const std::chrono::day day(static_cast<unsigned>(taker.digits(2, 31)));
  const double seconds = taker.optional("Tt ") ? take_time_of_day(taker) : 0.0;
  const year_month_day date(year, month, day);
  if (!taker.finished() || !date.ok()) return false;
  days_since_1950 = static_cast<double>((sys_days(date) - kEpoch).count()) + seconds / kSecondsPerDay;
  return true;
}

std::string iso_time(double days_since_1950) {
  const double seconds = std::round(days_since_1950 * kSecondsPerDay);
  const bool four_digits = seconds >= -712224.0 * kSecondsPerDay && seconds < 2940208.0 * kSecondsPerDay;  // years 0 to 9999
  if (!four_digits) return fmt::format("{:g} days since 1950-01-01", days_since_1950);
  const double day = std::floor(seconds / kSecondsPerDay);
  const auto of_day = static_cast<int>(seconds - day * kSecondsPerDay);
  const year_month_day date(kEpoch + std::chrono::days(static_cast<int>(day)));
  std::string text = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                                 static_cast<unsigned>(date.day()));
  if (of_day != 0) text += fmt::format("T{:02}:{:02}:{:02}Z", of_day / 3600, of_day / 60 % 60, of_day % 60);
  return text;
}

}  // namespace drift
