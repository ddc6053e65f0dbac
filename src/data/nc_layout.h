#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/preset.h"
#include "data/row_filter.h"
#include "drift/read_observations.h"
#include "netcdf/cf_time.h"
#include "netcdf/nc_source.h"

namespace drift {

// Which variables of a NetCDF file play which roles. Each lies along some of the value's dimensions, in any order, and holds for
// all indices of the others.
struct NcLayout {
  const NcVariable* value = nullptr;
  const NcVariable* x = nullptr;  // longitude, or x of the plane or of the projection
  const NcVariable* y = nullptr;
  const NcVariable* time = nullptr;         // null, as below: none
  const NcVariable* time_offset = nullptr;  // to be added to it
  double seconds_per_offset = 1.0;          // its unit
  const NcVariable* sigma = nullptr;
  const NcVariable* track = nullptr;
  const NcVariable* cycle = nullptr;     // null where there is no track
  const NcVariable* platform = nullptr;  // numbers or text
  std::vector<const NcVariable*> where;  // of each condition

  bool on_plane = false;
  std::string plane_unit;
  std::string crs;               // not empty: x and y become longitude and latitude
  double metres_per_unit = 1.0;  // of x and y, where there is a crs

  std::optional<CfTime> calendar;  // none: times are numbers of the file's own
  bool tai = false;

  std::string platform_name;               // of the whole file, where there is no variable; empty: none
  std::string pass_label;                  // of the whole file, where it is one pass; empty: it is not
  DataLayout layout = DataLayout::points;  // along_track: positions change with time
  bool in_order = false;                   // times must not run backwards

  const PresetRow* preset = nullptr;
  std::vector<Condition> conditions;   // the user's and those of quality control, with numbers in place of a flag's words
  std::optional<Range> quality_valid;  // of the value, by quality control
  std::vector<std::string> warnings;   // whole sentences
  VariableInfo info;
  Roles roles;
};

// Of each variable that holds values: one, but for presets that read every group. Throws UsageError where roles cannot be told or
// options do not fit the file, Error where the file is wrong. The pointers are those of file.variables().
std::vector<NcLayout> find_layouts(const NcSource& file, const ReadOptions& options, const RowFilter& filter);

// What quality control asks for, in words: "range_ocean_qual == 0", "ssha from -2 to 2".
std::vector<std::string> quality_words(const NcLayout& layout);
std::string quality_words(const NcLayout& layout, const Range& valid);

// Whether all of the variable's dimensions are among those of `other`.
bool lies_along(const NcVariable& variable, const NcVariable& other);

}  // namespace drift
