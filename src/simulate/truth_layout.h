#pragma once

#include <string>
#include <vector>

#include "data/nc_grid.h"
#include "drift/variable_info.h"

namespace drift {

// A variable on a grid, with its positions. Other dimensions than x, y and time have length 1.
struct GriddedVariable : NcGrid {
  std::vector<double> time_days = {};  // ascending; empty: none, or one only
  VariableInfo info = {};
};

// By name, or the only one. Throws UsageError if there is no such variable or it is not on a grid, Error if its axes are wrong.
GriddedVariable find_gridded(const NcSource& file, const std::string& name);

// All that may be meant: numbers on a grid, flags and ancillary variables aside.
std::vector<const NcVariable*> gridded_candidates(const NcSource& file);

}  // namespace drift
