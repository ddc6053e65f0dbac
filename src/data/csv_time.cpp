#include "data/csv_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "data/csv_field.h"
#include "drift/calendar.h"

namespace drift {
namespace {

bool are_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Day and time of day in two columns.
class DayAndClock {
 public:
  DayAndClock(const CsvField& day, const CsvField& clock, const CsvLayout& layout) : day_(day), clock_(clock), layout_(layout) {}

  bool is_missing() const { return drift::is_missing(day_.text) || drift::is_missing(clock_.text); }

  double days() const {
    double both = 0.0;
    if (looks_like_date(clock_.text) && parse_iso_time(clock_.text, both)) return both;  // the day is a repetition
    return day() + of_day();
  }

 private:
  double day() const {
    double days = std::nan(""), number = 0.0;
    if (looks_like_date(day_.text) && parse_iso_time(day_.text, days)) return days;
    if (day_.text.size() == 8 && parse_number(day_.text, number) == CsvParsed::good) days = days_of_written_date(number);
    if (!std::isnan(days)) return days;
    throw field_problem(day_, layout_.names[layout_.date_columns[0]], "is not a date like 2020-01-31 or 20200131");
  }

  // 12:30:05.5, 9:30, 123005, 1230
  double of_day() const {
    std::string clock(clock_.text);
    const bool plain = are_digits(clock) && (clock.size() == 4 || clock.size() == 6);
    for (std::size_t at = 2; plain && at < clock.size(); at += 3) clock.insert(at, 1, ':');
    if (clock.find(':') == 1) clock.insert(0, 1, '0');
    double days = 0.0;
    if (clock.find(':') != 2 || !parse_iso_time("1950-01-01T" + clock, days)) {
      throw field_problem(clock_, layout_.names[layout_.date_columns[1]],
                          "is not a time of day like 12:30:05; --time names the column of the times");
    }
    return days;
  }

  const CsvField &day_, &clock_;
  const CsvLayout& layout_;
};

// Year, month and day, or year and day of the year, and hour, minute and second as far as they are. False: one is missing.
bool read_date(const CsvLayout& layout, const std::vector<CsvField>& fields, double& days) {
  std::array<double, 6> pieces = {};
  for (std::size_t i = 0; i < layout.date_columns.size(); ++i) {
    const std::size_t column = layout.date_columns[i];
    // The day of the year takes the places of month and day.
    const std::size_t place = layout.date_form == DateForm::day_of_year && i > 0 ? i + 1 : i;
    const CsvParsed parsed = parse_number(fields[column].text, pieces.at(place));
    if (parsed == CsvParsed::missing) return false;
    if (parsed != CsvParsed::good) throw field_problem(fields[column], layout.names[column], "is not a number");
  }
  const std::size_t first = layout.date_columns[0];
  if (layout.date_form == DateForm::calendar) {
    if (days_of_date(pieces, days)) return true;
    throw CsvProblem{fields[first].text.data(),
                     fmt::format("\"{}\" in column \"{}\" with month {:g} and day {:g} is no date", excerpt(fields[first].text),
                                 excerpt(layout.names[first]), pieces[1], pieces[2]),
                     "no such date"};
  }
  const double of_year = pieces[2];
  pieces[1] = pieces[2] = 1.0;
  double next_year = 0.0;
  const bool good = days_of_date(pieces, days) && days_of_date({pieces[0] + 1.0, 1.0, 1.0, 0.0, 0.0, 0.0}, next_year);
  days += of_year - 1.0;
  if (good && of_year >= 1.0 && days < next_year) return true;
  throw CsvProblem{fields[first].text.data(),
                   fmt::format("\"{}\" in column \"{}\" with day {:g} of the year is no date", excerpt(fields[first].text),
                               excerpt(layout.names[first]), of_year),
                   "no such date"};
}

}  // namespace

CsvTime read_time(const CsvLayout& layout, const std::vector<CsvField>& fields, double& time) {
  if (layout.date_form == DateForm::day_and_clock) {
    const DayAndClock both(fields[layout.date_columns[0]], fields[layout.date_columns[1]], layout);
    if (both.is_missing()) return CsvTime::missing;
    time = both.days();
    return CsvTime::date;
  }
  if (!layout.date_columns.empty()) return read_date(layout, fields, time) ? CsvTime::date : CsvTime::missing;
  const CsvField& field = fields[layout.column_of(CsvRole::time)];
  const auto problem = [&](const char* what) { return field_problem(field, layout.name_of(CsvRole::time), what); };
  if (looks_like_date(field.text)) {
    if (!parse_iso_time(field.text, time)) throw problem("is not a time like 2020-01-31T12:00:00Z");
    return CsvTime::date;
  }
  const CsvParsed parsed = parse_number(field.text, time);
  if (parsed == CsvParsed::missing) return CsvTime::missing;
  if (parsed == CsvParsed::not_finite) throw problem("is not a finite number");
  if (parsed != CsvParsed::good) throw problem("is neither a number nor a time like 2020-01-31T12:00:00Z");
  if (!layout.time_units) return CsvTime::number;
  time = layout.time_units->to_days(time);
  if (std::isnan(time)) throw problem("is not a date like 20200131");
  return CsvTime::number;
}

}  // namespace drift
