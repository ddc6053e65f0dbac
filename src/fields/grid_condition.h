#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/condition.h"
#include "data/nc_grid.h"
#include "geo/nearest_cell.h"
#include "netcdf/netcdf_reader.h"

namespace drift {

// Whether a mask's text, what follows a file's name, is a variable's name alone.
bool names_variable(const std::string& text);

// A condition on a gridded variable of a NetCDF file, asked at points: in the nearest cell, at the nearest time. A mask of a map.
class GridCondition {
 public:
  // condition: "conc > 0.15", or a variable's name alone: it has a value. Throws UsageError for a text that is no condition, a
  // variable that is not in the file, and dimensions of which no cell can be chosen.
  GridCondition(const std::filesystem::path& path, const std::string& condition);

  bool varies() const { return times_.size() > 1; }  // with time
  bool on_plane() const { return grid_.kind == NcGridKind::plane; }

  // 1 where it holds: not outside the grid, nor where the cell has no value. time: none if the points have none, which throws
  // UsageError if the file has several; so does a time farther beyond the file's than one of their steps.
  std::vector<char> operator()(std::span<const double> lon_deg, std::span<const double> lat_deg, std::optional<double> time);

 private:
  std::vector<std::size_t> cells_of(std::span<const double> lon_deg, std::span<const double> lat_deg) const;
  std::size_t index_of(std::optional<double> time) const;
  const std::vector<char>& cells_at(std::size_t time);  // [rows, columns]

  NcReader file_;
  std::optional<Condition> condition_;  // none: that there is a value
  NcGrid grid_;
  std::optional<NearestCell> nearest_;  // of two-dimensional longitudes and latitudes
  std::vector<double> times_ = {};
  std::map<std::size_t, std::vector<char>> kept_;  // of the times asked for last
};

}  // namespace drift
