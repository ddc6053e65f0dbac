#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/parse_number.h"
#include "drift/predict.h"

namespace drift {
namespace {

constexpr double kMostTimes = 1e5;
constexpr std::chrono::sys_days kDayZero = std::chrono::year{1950} / 1 / 1;

// Of "hourly", "6-hourly"; 0: the word is another.
double hours_of(const std::string& word) {
  if (word == "hourly") return 1.0;
  const std::string_view end = "-hourly";
  if (!word.ends_with(end)) return 0.0;
  const auto hours = parse_number<double>(std::string_view(word).substr(0, word.size() - end.size()));
  if (!hours || !(*hours >= 1.0 && *hours <= 24.0) || *hours != std::floor(*hours))
    throw UsageError(fmt::format("time '{}': the hours must be a whole number from 1 to 24", word));
  return *hours;
}

std::vector<double> middles_of_months(double first, double last) {
  using namespace std::chrono;
  std::vector<double> times;
  year_month_day day = year_month_day(kDayZero + days(static_cast<int>(std::floor(first)))).year() / 1 / 15;
  for (;; day += months(1)) {
    const auto time = static_cast<double>((sys_days(day) - kDayZero).count());
    if (time > last) return times;
    if (time >= first) times.push_back(time);
  }
}

// `text`: the whole of what was asked for, for messages.
double time_of(const std::string& part, bool calendar, const std::string& text) {
  double days = 0.0;
  if (parse_iso_time(part, days)) {
    if (!calendar)
      throw UsageError(fmt::format("time '{}': the model's times are plain numbers, not dates; give a number", text));
    return days;
  }
  if (const auto number = parse_number<double>(part)) return *number;
  throw UsageError(
      fmt::format("time '{}': must be a time such as {}", text, calendar ? "2020-03-01 or 2020-03-01T06:00" : "12.5"));
}

std::vector<double> times_of_span(const FieldInfo& info, const std::string& text) {
  const std::size_t first = text.find('/'), second = text.find('/', first + 1);
  if (second == std::string::npos) throw UsageError(fmt::format("time '{}': a span is FROM/TO/STEP, the step in days", text));
  const double from = time_of(text.substr(0, first), info.calendar_time, text),
               to = time_of(text.substr(first + 1, second - first - 1), info.calendar_time, text);
  const auto step = parse_number<double>(text.substr(second + 1));
  if (!step) throw UsageError(fmt::format("time '{}': the step must be a number of days", text));
  const double count = std::floor((to - from) / *step + 1e-9) + 1.0;
  if (!(*step > 0.0) || !(to >= from) || count > kMostTimes) {
    throw UsageError(
        fmt::format("time '{}': the step must be positive, TO must not be before FROM, and at most {:g} times are possible", text,
                    kMostTimes));
  }
  std::vector<double> times;
  for (double i = 0.0; i < count; ++i) times.push_back(from + i * *step);
  return times;
}

}  // namespace

std::vector<double> map_times(const FieldInfo& info, const std::string& text) {
  if (auto regular = regular_times(info, text)) return *std::move(regular);
  if (text.find('/') != std::string::npos) return times_of_span(info, text);
  return {time_of(text, info.calendar_time, text)};
}

std::optional<std::vector<double>> regular_times(const FieldInfo& info, const std::string& word) {
  const double hours = word == "daily" ? 24.0 : hours_of(word);
  if (hours == 0.0 && word != "monthly") return std::nullopt;
  if (!info.calendar_time) throw UsageError(fmt::format("time '{}': the model's times are plain numbers, not dates", word));
  const double first = info.first_time_days, last = info.last_time_days, step = hours / 24.0;
  if (hours > 0.0 && (last - first) / step > kMostTimes)
    throw UsageError(fmt::format("time '{}': more than {:g} times in the observation period", word, kMostTimes));
  std::vector<double> times;
  if (hours == 0.0) {
    times = middles_of_months(first, last);
  } else {
    const double offset = word == "daily" ? 0.5 : 0.0;
    constexpr double kRounding = 1e-6;  // of a step: an hour is no exact share of a day
    for (double i = std::ceil((first - offset) / step - kRounding); (last - offset) / step - i >= -kRounding; i += 1.0)
      times.push_back(std::clamp(i * step + offset, first, last));
  }
  if (times.empty()) throw UsageError(fmt::format("time '{}': no such time lies within the observation period", word));
  return times;
}

}  // namespace drift
