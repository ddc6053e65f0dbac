#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/preset.h"
#include "netcdf/nc_source.h"

namespace drift {

// How a role is told from CF's attributes and from usual names.
struct NcRole {
  std::string_view option;  // in Roles
  std::string_view standard_name;
  std::vector<std::string_view> units;  // in lower case
  std::string_view axis;
  std::vector<std::string_view> names;  // in lower case
};

extern const NcRole kNcLon, kNcLat, kNcX, kNcY, kNcTime;

// How much speaks for it: 0 nothing, the more the surer.
int evidence(const NcSource& file, const NcVariable& variable, const NcRole& role);

// Finds variables of a file, for the value that they belong to. Messages name the option.
class NcRoleFinder {
 public:
  NcRoleFinder(const NcSource& file, const NcVariable& value);

  // By path, or its end, among those that lie along the value's dimensions; of several the one that shares most of the value's
  // groups. Null where none is.
  const NcVariable* closest(std::string_view name) const;
  // The same. Throws UsageError where there is none.
  const NcVariable* named(const std::string& name, std::string_view option) const;
  // Numbers of the first of the names that is there; null where none is.
  const NcVariable* first_of(const std::vector<std::string_view>& names) const;
  // By CF. Null where nothing speaks for any; throws UsageError where two are equally likely.
  const NcVariable* guessed(const NcRole& role) const;
  // An option's name if there is one (null for kNoRole), else the preset's, else by CF.
  const NcVariable* find(const NcRole& role, const std::string& option, const std::vector<std::string_view>& preset) const;

 private:
  bool is_coordinate(const NcVariable& variable) const;

  const NcSource& file_;
  const NcVariable& value_;
  std::vector<std::string> coordinates_;  // names in the value's attribute
};

// The variable that holds the values: by name, path or standard_name; by preset; or the only one that can be. Several of one name
// where the preset reads every group. Throws UsageError.
std::vector<const NcVariable*> find_values(const NcSource& file, const std::string& wanted, const PresetRow* preset);

// The variable that may hold the standard errors of `value`, by its name or, where it is the only one, its description; of its
// unit and dimensions. Null where there is none.
const NcVariable* find_error_of(const NcSource& file, const NcVariable& value);

// Whether the units are those of a span of time, as "s" or "days", or of a date.
bool is_time_unit(const std::string& units);

// Throws UsageError: no such variable, and what may be meant.
[[noreturn]] void fail_unknown(const NcSource& file, const std::string& name, const std::string& what);

}  // namespace drift
