#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "drift/read_csv.h"

namespace drift {

// In the order in which a row's fields are looked at. On a plane x and y take the places of lon and lat.
enum class CsvRole { lon, lat, time, value, sigma, track, platform };
inline constexpr std::size_t kCsvRoles = 7;
inline constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

// What the header says about the rows below it.
struct CsvLayout {
  char separator = ',';
  std::vector<std::string> names;             // of all columns
  std::array<std::size_t, kCsvRoles> column;  // of each role, or kNoColumn
  bool on_plane = false;

  std::size_t column_of(CsvRole role) const { return column[static_cast<std::size_t>(role)]; }
  bool has(CsvRole role) const { return column_of(role) != kNoColumn; }
  const std::string& name_of(CsvRole role) const { return names[column_of(role)]; }
};

// The commonest of comma, semicolon and tab outside quotes, or ' ' where there is none of them.
char detect_separator(std::string_view header);

// Finds the roles among the columns; `file` is for messages. Throws UsageError.
void assign_roles(const std::string& file, const CsvColumns& wanted, CsvLayout& layout);

// The names of the columns in use.
CsvColumns columns_in_use(const CsvLayout& layout);

}  // namespace drift
