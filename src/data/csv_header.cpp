#include "data/csv_header.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "data/csv_field.h"
#include "data/time_units.h"
#include "data/unread.h"
#include "data/words.h"
#include "drift/did_you_mean.h"
#include "drift/error.h"

namespace drift {
namespace {

struct RoleNames {
  const char* option;  // in Roles
  std::string Roles::*wanted;
  std::vector<std::string_view> usual;  // names, in lower case
  bool required;
};

const RoleNames kLon = {"lon", &Roles::lon, {"lon", "longitude", "lon_deg"}, true};
const RoleNames kLat = {"lat", &Roles::lat, {"lat", "latitude", "lat_deg"}, true};
const RoleNames kX = {"x", &Roles::x, {"x", "easting"}, true};
const RoleNames kY = {"y", &Roles::y, {"y", "northing"}, true};
const RoleNames kTime = {
    "time", &Roles::time, {"time", "date", "datetime", "date/time", "date_time", "timestamp", "t", "time_days"}, false};
const RoleNames kValue = {"value", &Roles::value, {"value"}, true};
const RoleNames kSigma = {"sigma", &Roles::sigma, {"sigma", "sd", "error", "uncertainty"}, false};
const RoleNames kTrack = {"track", &Roles::track, {"track", "pass", "cycle_pass"}, false};
const RoleNames kPlatform = {"platform", &Roles::platform, {"platform", "satellite", "mission"}, false};

// Columns that make a date, the first three of them needed.
const std::array<RoleNames, 6> kDate = {{{"time", nullptr, {"year", "yr", "yyyy"}, true},
                                         {"time", nullptr, {"month", "mon"}, true},
                                         {"time", nullptr, {"day", "dom", "day_of_month"}, true},
                                         {"time", nullptr, {"hour", "hr", "hh"}, false},
                                         {"time", nullptr, {"minute", "min"}, false},
                                         {"time", nullptr, {"second", "sec"}, false}}};
const RoleNames kDayOfYear = {
    "time", nullptr, {"doy", "day_of_year", "dayofyear", "yday", "yearday", "jday", "julian_day", "julianday"}, true};

// "Longitude [degrees]" is "longitude".
std::string without_unit(std::string_view name) {
  name = name.substr(0, name.find_first_of("(["));
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  return lower(name);
}

class RoleFinder {
 public:
  RoleFinder(const std::string& file, const Roles& wanted, const CsvLayout& layout)
      : file_(file), wanted_(wanted), names_(layout.names), first_row_(layout.first_row), claimed_(names_.size(), false) {
    for (const RoleNames* role : {&kLon, &kLat, &kX, &kY, &kTime, &kValue, &kSigma, &kTrack, &kPlatform}) {
      const std::string& name = wanted.*role->wanted;
      if (name.empty() || name == kNoRole) continue;
      if (role == &kTime && is_date(name)) {
        for (const std::string& piece : split(name, ',')) claimed_[named(role->option, piece)] = true;
      } else {
        claimed_[named(role->option, name)] = true;
      }
    }
  }

  // Whether the text names several columns that make a date: "year,month,day".
  bool is_date(const std::string& text) const {
    return text.find(',') != std::string::npos && std::find(names_.begin(), names_.end(), text) == names_.end();
  }

  bool is_wanted(const RoleNames& role) const { return !(wanted_.*role.wanted).empty(); }
  bool can_guess(const RoleNames& role) const { return !guesses(role).empty(); }

  std::size_t find(const RoleNames& role) const {
    const std::string& name = wanted_.*role.wanted;
    if (name == kNoRole && role.required) fail("--{} is \"{}\", but that column is needed", role.option, name);
    if (name == kNoRole) return kNoColumn;
    if (!name.empty()) return named(role.option, name);
    const std::vector<std::size_t> found = guesses(role);
    if (found.size() == 1) return found.front();
    if (found.empty() && !role.required) return kNoColumn;
    if (&role == &kValue && found.empty()) {
      const std::vector<std::size_t> left = likely_values();
      if (left.size() == 1) return left.front();
      if (left.size() > 1) fail_ambiguous(left);
    }
    if (found.empty()) {
      fail("no column is called {}; name the right one with --{}", fmt::join(role.usual, " or "), role.option);
    }
    fail("both \"{}\" and \"{}\" could be the {}; name the right one with --{}{}", names_[found[0]], names_[found[1]],
         role.option, role.option, role.required ? "" : fmt::format(", or \"{}\" for none", kNoRole));
  }

  // One of the columns that make a date; kNoColumn: there is none, or more than one.
  std::size_t find_piece(const RoleNames& piece) const {
    const std::vector<std::size_t> found = guesses(piece);
    return found.size() == 1 ? found.front() : kNoColumn;
  }

  bool is_called(std::size_t column, const RoleNames& role) const {
    return std::find(role.usual.begin(), role.usual.end(), without_unit(names_[column])) != role.usual.end();
  }
  bool is_piece_of_date(std::size_t column) const {
    return is_called(column, kDayOfYear) ||
           std::any_of(kDate.begin(), kDate.end(), [&](const RoleNames& piece) { return is_called(column, piece); });
  }

  // The only column that is called so and that no option names; kNoColumn: none, or several.
  std::size_t find_called(std::string_view wanted) const {
    std::size_t found = kNoColumn;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (claimed_[i] || without_unit(names_[i]) != wanted) continue;
      if (found != kNoColumn) return kNoColumn;
      found = i;
    }
    return found;
  }

  // The first column that may hold times, or the standard errors of `value`, and that no role took; kNoColumn: none.
  std::size_t find_unread_time() const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!claimed_[i] && may_hold_times(i)) return i;
    }
    return kNoColumn;
  }
  std::size_t find_error_of(std::size_t value) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!claimed_[i] && i != value && is_error_of(without_unit(names_[i]), without_unit(names_[value]))) return i;
    }
    return kNoColumn;
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    std::vector<std::string> shown;
    for (const std::string& name : names_) shown.push_back(fmt::format("\"{}\"", excerpt(name)));
    throw UsageError(
        fmt::format("{}: {}. Its columns are {}", file_, fmt::format(text, std::forward<Args>(args)...), fmt::join(shown, ", ")));
  }

  // The column that the caller named; `option` is for messages.
  std::size_t named(const char* option, const std::string& name) const {
    std::vector<std::size_t> same, alike;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == name) same.push_back(i);
      if (lower(names_[i]) == lower(name)) alike.push_back(i);
    }
    const std::vector<std::size_t>& found = same.empty() ? alike : same;
    if (found.size() == 1) return found.front();
    if (found.size() > 1) fail("{} columns are called \"{}\" (--{})", found.size(), name, option);
    std::vector<std::string> shown;
    for (const std::string& each : names_) shown.push_back(excerpt(each));
    const std::vector<std::string_view> known(shown.begin(), shown.end());
    throw UsageError(fmt::format("{}: no column \"{}\" (--{}){}", file_, name, option, did_you_mean(name, known)));
  }

 private:
  // By its name, or by what stands in it.
  bool may_hold_times(std::size_t column) const {
    if (looks_like_time_name(names_[column])) return true;
    if (column >= first_row_.size()) return false;
    const std::string& text = first_row_[column];
    double ignored = 0.0;
    return is_written_date(text) || (looks_like_date(text) && parse_iso_time(text, ignored));
  }

  // Those without a role that are neither times nor the error of another.
  std::vector<std::size_t> likely_values() const {
    std::vector<std::size_t> left = without_role();
    std::erase_if(left, [&](std::size_t i) {
      const std::string name = without_unit(names_[i]);
      const auto is_its_value = [&](const std::string& other) { return is_error_of(name, without_unit(other)); };
      return may_hold_times(i) || std::any_of(names_.begin(), names_.end(), is_its_value);
    });
    std::stable_sort(left.begin(), left.end(), [&](std::size_t a, std::size_t b) { return likelihood(a) > likelihood(b); });
    return left;
  }

  // Those with a unit before others; flags, counts and altitudes last.
  int likelihood(std::size_t column) const {
    const std::string& name = names_[column];
    return (looks_aside(without_unit(name)) ? -2 : 0) + (unit_in_name(name).empty() ? 0 : 1);
  }

  [[noreturn]] void fail_ambiguous(const std::vector<std::size_t>& found) const {
    std::vector<std::string> shown;
    for (const std::size_t i : found) shown.push_back(excerpt(names_[i]));
    throw UsageError(fmt::format("{}: no column is called value; name the right one with --value, likeliest first:\n  {}", file_,
                                 fmt::join(shown, "\n  ")));
  }

  // Columns that no option names and that are called like no role.
  std::vector<std::size_t> without_role() const {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto is_called_like = [&](const RoleNames* role) { return is_called(i, *role); };
      const std::array<const RoleNames*, 9> roles = {&kLon, &kLat, &kX, &kY, &kTime, &kValue, &kSigma, &kTrack, &kPlatform};
      const bool has_role = is_piece_of_date(i) || std::any_of(roles.begin(), roles.end(), is_called_like);
      if (!claimed_[i] && !has_role) left.push_back(i);
    }
    return left;
  }

  std::vector<std::size_t> guesses(const RoleNames& role) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!claimed_[i] && is_called(i, role)) found.push_back(i);
    }
    return found;
  }

  const std::string& file_;
  const Roles& wanted_;
  const std::vector<std::string>&names_, &first_row_;
  std::vector<bool> claimed_;  // by an option, so not to be guessed for another role
};

}  // namespace

char detect_separator(std::string_view header) {
  constexpr std::array<char, 3> kSeparators = {',', ';', '\t'};
  std::array<std::size_t, 3> counts = {};
  bool quoted = false;
  for (const char c : header) {
    quoted = quoted != (c == '"');
    for (std::size_t i = 0; i < kSeparators.size(); ++i) counts[i] += static_cast<std::size_t>(!quoted && c == kSeparators[i]);
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  return *most == 0 ? ' ' : kSeparators[static_cast<std::size_t>(most - counts.begin())];
}

namespace {

// The columns of a date as a caller names them.
void set_named_dates(const RoleFinder& finder, const std::string& wanted, CsvLayout& layout) {
  std::vector<std::size_t>& columns = layout.date_columns;
  for (const std::string& piece : split(wanted, ',')) columns.push_back(finder.named("time", piece));
  const bool by_day_of_year = columns.size() > 1 && finder.is_called(columns[1], kDayOfYear);
  layout.date_form = by_day_of_year ? DateForm::day_of_year : columns.size() == 2 ? DateForm::day_and_clock : DateForm::calendar;
  const std::size_t most = by_day_of_year ? kDate.size() - 1 : kDate.size();
  if (columns.size() >= 2 && columns.size() <= most) return;
  finder.fail(
      "--time names {} columns; a date has year, month and day, or year and day of the year, with hour, minute and "
      "second as well if they are there, or it has a day and a time of day",
      columns.size());
}

// The same by their usual names, where they are there.
void guess_dates(const RoleFinder& finder, CsvLayout& layout) {
  const std::size_t day = finder.find_called("date"), clock = finder.find_called("time");
  if (day != kNoColumn && clock != kNoColumn) {
    layout.date_columns = {day, clock};
    layout.date_form = DateForm::day_and_clock;
    return;
  }
  if (finder.can_guess(kTime)) return;
  const std::size_t of_year = finder.find_piece(kDayOfYear);
  const bool by_day_of_year = of_year != kNoColumn && finder.find_piece(kDate[1]) == kNoColumn;
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < kDate.size(); ++i) {
    if (by_day_of_year && i == 2) continue;
    const std::size_t column = by_day_of_year && i == 1 ? of_year : finder.find_piece(kDate.at(i));
    if (column == kNoColumn) break;
    columns.push_back(column);
  }
  if (columns.size() < (by_day_of_year ? 2U : 3U)) return;
  layout.date_columns = columns;
  layout.date_form = by_day_of_year ? DateForm::day_of_year : DateForm::calendar;
}

}  // namespace

void assign_roles(const std::string& file, const Roles& wanted, CsvLayout& layout) {
  assign_positions(file, wanted, layout);
  const RoleFinder finder(file, wanted, layout);
  for (const auto& [role, names] : {std::pair(CsvRole::value, &kValue), std::pair(CsvRole::sigma, &kSigma),
                                    std::pair(CsvRole::track, &kTrack), std::pair(CsvRole::platform, &kPlatform)}) {
    layout.column[static_cast<std::size_t>(role)] = finder.find(*names);
  }
  const std::size_t time = layout.has(CsvRole::time) || wanted.time == kNoRole ? kNoColumn : finder.find_unread_time();
  if (time != kNoColumn) {
    const std::string& name = layout.names[time];
    layout.warnings.push_back(finder.is_piece_of_date(time) ? unread_date(name) : unread_time("column", name));
  }
  const bool no_times = !layout.has(CsvRole::time) && wanted.time != kNoRole;
  if (no_times && time == kNoColumn && layout.has(CsvRole::track)) layout.warnings.emplace_back(kPassesWithoutTimes);
  const bool wants_sigma = !layout.has(CsvRole::sigma) && wanted.sigma.empty();
  const std::size_t error = wants_sigma ? finder.find_error_of(layout.column_of(CsvRole::value)) : kNoColumn;
  if (error != kNoColumn) {
    layout.warnings.push_back(unread_sigma("column", layout.names[error], layout.name_of(CsvRole::value)));
  }
}

void assign_positions(const std::string& file, const Roles& wanted, CsvLayout& layout) {
  const RoleFinder finder(file, wanted, layout);
  const bool wants_degrees = finder.is_wanted(kLon) || finder.is_wanted(kLat);
  const bool wants_plane = finder.is_wanted(kX) || finder.is_wanted(kY);
  if (wants_degrees && wants_plane) finder.fail("the options give both lon or lat and x or y; a position is one or the other");
  const bool can_guess_plane = finder.can_guess(kX) || finder.can_guess(kY);
  layout.on_plane = wants_plane || (!wants_degrees && can_guess_plane && !finder.can_guess(kLon) && !finder.can_guess(kLat));
  layout.column.fill(kNoColumn);
  layout.column[static_cast<std::size_t>(CsvRole::lon)] = finder.find(layout.on_plane ? kX : kLon);
  layout.column[static_cast<std::size_t>(CsvRole::lat)] = finder.find(layout.on_plane ? kY : kLat);
  if (finder.is_date(wanted.time)) set_named_dates(finder, wanted.time, layout);
  if (wanted.time.empty()) guess_dates(finder, layout);
  std::size_t& time = layout.column[static_cast<std::size_t>(CsvRole::time)];
  time = layout.date_columns.empty() ? finder.find(kTime) : layout.date_columns.front();
}

void assign_filter(const std::string& file, const RowFilter& filter, CsvLayout& layout) {
  layout.filter = filter;
  const Roles none;
  const RoleFinder finder(file, none, layout);
  for (const Condition& condition : filter.where) layout.where_column.push_back(finder.named("where", condition.name));
}

std::string unit_in_name(std::string_view name) {
  const std::size_t open = name.find_first_of("([");
  if (open == std::string_view::npos) return {};
  const std::size_t close = name.find_first_of(")]", open);
  return std::string(stripped(name.substr(open + 1, close == std::string_view::npos ? close : close - open - 1)));
}

Roles columns_in_use(const CsvLayout& layout) {
  const auto name = [&](CsvRole role) { return layout.has(role) ? layout.name_of(role) : std::string(); };
  Roles columns;
  (layout.on_plane ? columns.x : columns.lon) = name(CsvRole::lon);
  (layout.on_plane ? columns.y : columns.lat) = name(CsvRole::lat);
  columns.time = name(CsvRole::time);
  for (std::size_t i = 1; i < layout.date_columns.size(); ++i) columns.time += "," + layout.names[layout.date_columns[i]];
  columns.value = name(CsvRole::value);
  columns.sigma = name(CsvRole::sigma);
  columns.track = name(CsvRole::track);
  columns.platform = name(CsvRole::platform);
  return columns;
}

ColumnRoles roles_of_columns(const std::string& table, const std::vector<std::string>& columns, const Roles& given,
                             const std::vector<std::string>& first_row) {
  CsvLayout layout;
  layout.names = columns;
  layout.first_row = first_row;
  assign_roles(table, given, layout);
  const Roles found = columns_in_use(layout);
  if (layout.date_columns.empty()) return {found, layout.warnings};
  throw UsageError(fmt::format(
      "{}: its times are in several columns, {}; make one column of them, as pandas.to_datetime does, and name it as the time",
      table, found.time));
}

}  // namespace drift
