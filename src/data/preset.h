#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drift/read_observations.h"
#include "netcdf/nc_source.h"

namespace drift {

// What a product's documentation, or common practice, asks of its values before they are used.
struct QualityRule {
  std::vector<std::string_view> values;           // base names of the values that it is for; empty: all
  std::vector<std::string_view> conditions = {};  // as in ReadOptions::where; one on a variable that a file lacks is passed over
  std::optional<Range> valid = {};                // of the value, in its unit
};

// What is known of a product's files. Of the names of variables, the first that is there and lies along the value's dimensions is
// taken; those that are not in the file are no fault. In files with groups a name may be the end of a path.
struct PresetRow {
  using Names = std::vector<std::string_view>;

  std::string_view name;
  std::string_view what;
  // A file is of this product where one of these variables is in it and, unless there are none, one of the attributes
  // mission_name, mission and platform contains one of these words.
  Names variables;
  Names missions = {};
  Names values;  // the first is the default
  Names lon, lat, time;
  Names track = {};                      // variables
  std::string_view pass_attribute = {};  // of the file, where it is one pass; with cycle_number
  bool tai = false;                      // times are TAI unless the variable says UTC
  bool every_group = false;              // the value is read from all groups that have it: the beams of a laser
  std::string_view level = {};           // variable by which one of several values of a profile is chosen
  std::vector<QualityRule> quality = {};
};

const std::vector<PresetRow>& preset_table();

// By name; null for "none". Throws UsageError.
const PresetRow* preset_named(const std::string& name);

// By name, or recognised where the name is empty; null for "none" and for files of no known product. Throws UsageError.
const PresetRow* find_preset(const std::string& name, const NcSource& file);

// Variables of this name, or whose path ends with it.
std::vector<const NcVariable*> ending_with(const NcSource& file, std::string_view name);

}  // namespace drift
