#pragma once

#include <string>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// As the name in a role: read the files as if they had no such variable.
inline constexpr const char* kNoRole = "-";

// Which variable (NetCDF) or column (CSV) plays which role, by name. Empty: guessed.
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

}  // namespace drift
