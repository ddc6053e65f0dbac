#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/row_filter.h"
#include "drift/roles.h"
#include "netcdf/cf_time.h"

namespace drift {

// In the order in which a row's fields are looked at. On a plane x and y take the places of lon and lat.
enum class CsvRole { lon, lat, time, value, sigma, track, platform };
inline constexpr std::size_t kCsvRoles = 7;
inline constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

// What the columns of a date hold.
enum class DateForm { calendar, day_of_year, day_and_clock };

// What the header says about the rows below it.
struct CsvLayout {
  char separator = ',';
  std::vector<std::string> names;             // of all columns
  std::vector<std::string> first_row = {};    // of each, what stands in it first; empty: not known
  std::array<std::size_t, kCsvRoles> column;  // of each role, or kNoColumn
  // Year, month and day, or year and day of the year, with hour, minute, second as far as they are; or day and time of day.
  // Empty: times are in one column or nowhere.
  std::vector<std::size_t> date_columns = {};
  DateForm date_form = DateForm::calendar;
  bool dates = false;                     // the times are dates; otherwise numbers
  std::optional<CfTime> time_units = {};  // of times that are numbers; none: they are taken as they are
  bool on_plane = false;
  std::vector<std::string> warnings = {};      // whole sentences
  RowFilter filter = {};                       // which rows are wanted
  std::vector<std::size_t> where_column = {};  // of each of its conditions

  std::size_t column_of(CsvRole role) const { return column[static_cast<std::size_t>(role)]; }
  bool has(CsvRole role) const { return column_of(role) != kNoColumn; }
  const std::string& name_of(CsvRole role) const { return names[column_of(role)]; }
};

// The commonest of comma, semicolon and tab outside quotes, or ' ' where there is none of them.
char detect_separator(std::string_view header);

// Finds the roles among the columns; `file` is for messages. Throws UsageError.
void assign_roles(const std::string& file, const Roles& wanted, CsvLayout& layout);

// The same for positions and time alone; the other roles get no column.
void assign_positions(const std::string& file, const Roles& wanted, CsvLayout& layout);

// Finds the columns of the filter's conditions. Throws UsageError.
void assign_filter(const std::string& file, const RowFilter& filter, CsvLayout& layout);

// The names of the columns in use.
Roles columns_in_use(const CsvLayout& layout);

// What stands in brackets behind a column's name: "m" in "SLA [m]". Empty: nothing.
std::string unit_in_name(std::string_view name);

}  // namespace drift
