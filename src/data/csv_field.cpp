#include "data/csv_field.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

namespace drift {
namespace {

constexpr double kSecondsPerDay = 86400.0;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool has_negative_exponent(std::string_view number) {
  const std::size_t exponent = number.find_first_of("eE");
  return exponent != std::string_view::npos && number.substr(exponent + 1).starts_with('-');
}

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
  taker.require(":");
  const int minutes = taker.digits(2, 59);
  double seconds = 60.0 * (60 * hours + minutes);
  if (taker.optional(":")) {
    seconds += taker.digits(2, 60);
    if (taker.optional(".")) seconds += taker.fraction();
  }
  return seconds - take_zone(taker);
}

}  // namespace

bool is_missing(std::string_view text) {
  if (text.empty()) return true;
  constexpr std::array<std::string_view, 4> kWords = {"na", "nan", "null", "n/a"};
  return std::any_of(kWords.begin(), kWords.end(), [text](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) { return lower(a) == b; });
  });
}

CsvParsed parse_number(std::string_view text, double& number) {
  const char *begin = text.data(), *const end = begin + text.size();
  if (text.size() > 1 && *begin == '+' && begin[1] != '-') ++begin;  // which from_chars does not know
  double parsed = 0.0;
  const auto [stop, error] = std::from_chars(begin, end, parsed);
  if (stop != end || error == std::errc::invalid_argument) return is_missing(text) ? CsvParsed::missing : CsvParsed::bad;
  if (error == std::errc::result_out_of_range) {
    if (!has_negative_exponent(text)) return CsvParsed::not_finite;
    parsed = 0.0;  // too small: to this it rounds
  }
  if (std::isinf(parsed)) return CsvParsed::not_finite;
  if (std::isnan(parsed)) return CsvParsed::missing;
  number = parsed;
  return CsvParsed::good;
}

bool parse_iso_time(std::string_view text, double& days_since_1950) {
  using std::chrono::sys_days, std::chrono::year_month_day;
  Taker taker(text);
  const std::chrono::year year(taker.digits(4, 9999));
  taker.require("-");
  const std::chrono::month month(static_cast<unsigned>(taker.digits(2, 12)));
  taker.require("-");
  const std::chrono::day day(static_cast<unsigned>(taker.digits(2, 31)));
  const double seconds = taker.optional("Tt ") ? take_time_of_day(taker) : 0.0;
  const year_month_day date(year, month, day);
  if (!taker.finished() || !date.ok()) return false;
  constexpr sys_days kEpoch = year_month_day(std::chrono::year(1950), std::chrono::January, std::chrono::day(1));
  days_since_1950 = static_cast<double>((sys_days(date) - kEpoch).count()) + seconds / kSecondsPerDay;
  return true;
}

std::string excerpt(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string shown(text.substr(0, kMost));
  std::replace_if(
      shown.begin(), shown.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  if (text.size() > kMost) {
    // Not half a UTF-8 character at the end.
    while (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0xC0U) == 0x80U) shown.pop_back();
    if (!shown.empty() && (static_cast<unsigned char>(shown.back()) & 0x80U) != 0) shown.pop_back();
    shown += "...";
  }
  return shown;
}

}  // namespace drift
