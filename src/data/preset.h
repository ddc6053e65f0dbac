#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "netcdf/netcdf_reader.h"

namespace drift {

// What is known of a product's files. Of the names of variables, the first that is there and lies along the value's dimensions is
// taken; those that are not in the file are no fault.
struct PresetRow {
  using Names = std::vector<std::string_view>;

  std::string_view name;
  std::string_view what;
  // A file is of this product where one of these variables is in it and, unless there are none, one of the attributes
  // mission_name, mission and platform contains one of these words.
  Names variables;
  Names missions;
  Names values;  // the first is the default
  Names lon, lat, time;
  Names track;                           // variables
  std::string_view pass_attribute = {};  // of the file, where it is one pass; with cycle_number
  bool tai = false;                      // times are TAI unless the variable says UTC
};

const std::vector<PresetRow>& preset_table();

// By name, or recognised where the name is empty; null for "none" and for files of no known product. Throws UsageError.
const PresetRow* find_preset(const std::string& name, const NcReader& file);

}  // namespace drift
