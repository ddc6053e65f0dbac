#pragma once

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "data/nc_grid.h"
#include "drift/plot.h"
#include "drift/variable_info.h"
#include "netcdf/netcdf_reader.h"

namespace drift {

using PlotSpace = NcGridKind;

// One time of a map as it stands in the file. Axes ascend.
struct PlotSource {
  PlotSpace space = PlotSpace::plane;
  std::string crs;               // projected
  std::vector<double> x, y;      // cell centres; on curvilinear grids 0, 1, 2, ...
  std::string x_label, y_label;  // plane: "Distance east [km]"
  std::vector<double> lon, lat;  // curvilinear: [y, x]
  std::vector<float> mean, sd;   // [y, x]; NaN: no value; empty: not asked for, or there is none
  VariableInfo info, sd_info;
  std::string title;        // of a difference; empty: the variable's name
  std::string time;         // empty: the map has no times
  double time_days = NAN;   // of the calendar, since 1950-01-01; NaN: no such time
  std::vector<float> u, v;  // of a current, eastward and northward (plane: along x and y); empty: not asked for
  std::string current_unit;
};

// Throws Error naming the file where it is no map, UsageError for options that do not fit it. One time: `options.time` is an
// index, a time of the calendar or empty.
PlotSource read_plot_source(const std::filesystem::path& map, const PlotOptions& options);

// The times that `options.time` asks for, as read_plot_source takes them one by one: a list with commas, or "all"; {""} where the
// map has none.
std::vector<std::string> times_asked_for(const std::filesystem::path& map, const PlotOptions& options);

// `a` less `b`, named so. Throws Error where grids or units differ; the message has both files' names.
PlotSource difference_of(PlotSource a, const PlotSource& b, const std::filesystem::path& file_a,
                         const std::filesystem::path& file_b);
// The same time of another map; its only one where it has no other.
PlotSource read_other_source(const std::filesystem::path& other, const PlotSource& source, const PlotOptions& options);

// Throws Error naming both files unless cells are the same.
void check_same_grid(const PlotSource& a, const PlotSource& b, const std::filesystem::path& file_a,
                     const std::filesystem::path& file_b);

}  // namespace drift
