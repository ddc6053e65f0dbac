#pragma once

#include <string>
#include <vector>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// As a role's name: read the files as if they had no such variable.
inline constexpr const char* kNoRole = "-";

// Names of the variables (NetCDF) or columns (CSV) that play each role. Empty: guessed.
struct Roles {
  std::string lon = {};
  std::string lat = {};
  std::string x = {};  // in place of lon and lat, on a plane, in the data's own unit
  std::string y = {};
  std::string time = {};
  std::string value = {};
  std::string sigma = {};
  std::string track = {};
  std::string platform = {};

  bool operator==(const Roles&) const = default;
};

// Roles, and whole sentences on columns that may play one and do not.
struct ColumnRoles {
  Roles roles = {};
  std::vector<std::string> warnings = {};
};

// The roles of a table's columns, those not given by the usual names, as read_observations finds them in a CSV header: x and y
// are empty unless the table is of a plane. `table` is for messages; `first_row`, if known, is what the columns hold first, as
// text, by which dates are known whatever their column is called. Throws UsageError.
ColumnRoles roles_of_columns(const std::string& table, const std::vector<std::string>& columns, const Roles& given = {},
                             const std::vector<std::string>& first_row = {});

}  // namespace drift
