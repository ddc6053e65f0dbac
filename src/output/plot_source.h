#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/nc_grid.h"
#include "drift/plot.h"
#include "drift/variable_info.h"

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
  std::string time;  // empty: the map has no times
};

// Throws Error naming the file where it is no map, UsageError for options that do not fit it.
PlotSource read_plot_source(const std::filesystem::path& map, const PlotOptions& options);

}  // namespace drift
