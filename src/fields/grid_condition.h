#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/condition.h"
#include "data/nc_grid.h"
#include "netcdf/netcdf_reader.h"

namespace drift {

// A condition on a gridded variable of a NetCDF file, asked at points: in the nearest cell, at the nearest time. A mask of a map.
class GridCondition {
 public:
  // condition: "conc > 0.15". Throws UsageError for a text that is no condition, a variable that is not in the file, and grids
  // and dimensions of which no cell can be chosen.
  GridCondition(const std::filesystem::path& path, const std::string& condition);

  bool varies() const { return times_.size() > 1; }  // with time
  bool on_plane() const { return grid_.kind == NcGridKind::plane; }

  // 1 where it holds: not outside the grid, nor where the cell has no value. time: none if the points have none, which throws
  // UsageError if the file has several; so does a time farther beyond the file's than one of their steps.
  std::vector<char> operator()(std::span<const double> lon_deg, std::span<const double> lat_deg, std::optional<double> time);

 private:
  std::size_t index_of(std::optional<double> time) const;
  const std::vector<char>& cells_at(std::size_t time);  // [rows, columns]

  NcReader file_;
  Condition condition_;
  NcGrid grid_;
  std::vector<double> times_ = {};
  std::map<std::size_t, std::vector<char>> kept_;  // of the times asked for last
};

}  // namespace drift
