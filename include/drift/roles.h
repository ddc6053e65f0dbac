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

// The roles of a table's columns, those not given by the usual names, as read_observations finds them in a CSV header: x and y
// are empty unless the table is of a plane. `table` is for messages. Throws UsageError.
Roles roles_of_columns(const std::string& table, const std::vector<std::string>& columns, const Roles& given = {});

}  // namespace drift
