#include "data/csv_field.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "netcdf/cf_time.h"

namespace drift {
namespace {

char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool has_negative_exponent(std::string_view number) {
  const std::size_t exponent = number.find_first_of("eE");
  return exponent != std::string_view::npos && number.substr(exponent + 1).starts_with('-');
}

}  // namespace

bool is_missing(std::string_view text) {
  if (text.empty()) return true;
  constexpr std::array<std::string_view, 4> kWords = {"na", "nan", "null", "n/a"};
  return std::any_of(kWords.begin(), kWords.end(), [text](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char a, char b) { return lower_case(a) == b; });
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

bool is_written_date(std::string_view text) {
  constexpr double kFrom = -18262.0, kTo = 55152.0;  // in days since 1950
  double number = 0.0;
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return false;
  if (parse_number(text, number) != CsvParsed::good) return false;
  const double days = days_of_written_date(number);
  return days >= kFrom && days <= kTo;
}

bool days_of_date(const std::array<double, 6>& pieces, double& days_since_1950) {
  const auto [year, month, day, hour, minute, second] = pieces;
  const double whole_day = std::floor(day);
  const bool whole = year == std::floor(year) && month == std::floor(month);
  const bool in_range = year >= 0.0 && year <= 9999.0 && month >= 1.0 && month <= 12.0 && whole_day >= 1.0 && whole_day <= 31.0;
  const bool in_day = hour >= 0.0 && hour <= 24.0 && minute >= 0.0 && minute <= 60.0 && second >= 0.0 && second <= 60.0;
  if (!whole || !in_range || !in_day) return false;
  using std::chrono::sys_days, std::chrono::year_month_day;
  constexpr sys_days kEpoch = year_month_day(std::chrono::year(1950), std::chrono::January, std::chrono::day(1));
  const year_month_day date(std::chrono::year(static_cast<int>(year)), std::chrono::month(static_cast<unsigned>(month)),
                            std::chrono::day(static_cast<unsigned>(whole_day)));
  if (!date.ok()) return false;
  days_since_1950 = static_cast<double>((sys_days(date) - kEpoch).count()) + (day - whole_day) +
                    (3600.0 * hour + 60.0 * minute + second) / kSecondsPerDay;
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
