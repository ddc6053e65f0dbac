#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "netcdf/nc_source.h"

namespace drift {

enum class NcGridKind {
  geographic,   // one-dimensional longitudes and latitudes
  projected,    // x and y on the plane of a CRS
  plane,        // x and y of no CRS
  curvilinear,  // two-dimensional longitudes and latitudes
};

struct NcAxis {
  const NcVariable* variable = nullptr;  // null: a dimension without coordinates, on curvilinear grids only
  std::size_t dimension = 0;             // which of the gridded variable's
  std::vector<double> at = {};           // ascending: degrees (unwrapped), metres, or the unit of a plane
  bool reversed = false;                 // descending in the file
};

// Which axes a variable lies along. Observations of any layout are read by NcLayout (nc_layout.h); this is for maps.
struct NcGrid {
  const NcVariable* variable = nullptr;
  NcGridKind kind = NcGridKind::geographic;
  NcAxis x = {}, y = {};
  const NcVariable *lon2 = nullptr, *lat2 = nullptr;  // positions of the cells, curvilinear
  std::vector<double> lon = {}, lat = {};             // the same: [y, x], NaN where missing
  std::string crs = {};                               // projected
  const NcVariable* time = nullptr;                   // null: none
  int time_dimension = -1;                            // -1: none, or a single time without a dimension

  std::size_t rows() const { return variable->dimensions[y.dimension].length; }
  std::size_t columns() const { return variable->dimensions[x.dimension].length; }
  // All but x, y and time that are longer than 1: members, depths.
  std::vector<NcDimension> other_dimensions() const;
};

// All variables of numbers that lie on a grid and are neither positions, times nor bounds.
std::vector<const NcVariable*> variables_on_grids(const NcSource& file);

// Without the axes' numbers. Throws UsageError if the variable does not lie on a grid, Error if its grid mapping is not
// understood and cells have no positions of their own.
NcGrid grid_of(const NcSource& file, const NcVariable& variable);

// Fills x.at and y.at, or lon and lat. Throws Error for axes that neither ascend nor descend throughout.
void read_positions(const NcSource& file, NcGrid& grid);

// One slice, as stored and in the file's order of its two dimensions: entry (row, column) of the grid with ascending axes.
struct NcSlice {
  std::vector<double> stored;
  std::size_t row_step = 0, column_step = 0;
  std::size_t rows = 0, columns = 0;
  bool y_reversed = false, x_reversed = false;

  double at(std::size_t row, std::size_t column) const {
    return stored[(y_reversed ? rows - 1 - row : row) * row_step + (x_reversed ? columns - 1 - column : column) * column_step];
  }
};
// At one time (0 if the grid has none), the first entry of any other dimension.
NcSlice read_slice(const NcSource& file, const NcGrid& grid, std::size_t time);

}  // namespace drift
