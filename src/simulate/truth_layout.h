#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "drift/variable_info.h"
#include "netcdf/netcdf_reader.h"

namespace drift {

enum class GriddedKind {
  geographic,   // one-dimensional longitudes and latitudes
  projected,    // x and y on the plane of a CRS
  plain,        // x and y of no CRS
  curvilinear,  // two-dimensional longitudes and latitudes
};

// An axis in ascending order.
struct GriddedAxis {
  std::size_t dimension = 0;  // which of the variable's
  std::vector<double> at;     // degrees (unwrapped), metres, or the unit of a plain plane
  bool reversed = false;      // the file has it in descending order
  bool in_float = false;      // the file has it in single precision
};

// A variable on a grid. Other dimensions than x, y and time have length 1.
struct GriddedVariable {
  const NcVariable* variable = nullptr;
  GriddedKind kind = GriddedKind::geographic;
  GriddedAxis x, y;               // curvilinear: without numbers
  std::vector<double> lon, lat;   // curvilinear: [y, x], NaN where missing
  std::string crs;                // projected
  std::string plane_unit;         // plain
  int time_dimension = -1;        // -1: none
  std::vector<double> time_days;  // of that dimension, growing; empty: none, or one only
  VariableInfo info;

  std::size_t rows() const { return variable->dimensions[y.dimension].length; }
  std::size_t columns() const { return variable->dimensions[x.dimension].length; }
};

// By name, or the only one. Throws UsageError where there is no such variable or it is not on a grid, Error where its axes are
// wrong.
GriddedVariable find_gridded(const NcReader& file, const std::string& name);

// All that may be meant: numbers on a grid, flags and ancillary variables aside.
std::vector<const NcVariable*> gridded_candidates(const NcReader& file);

}  // namespace drift
