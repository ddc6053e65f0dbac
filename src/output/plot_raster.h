#pragma once

#include <string>
#include <vector>

#include "output/plot_source.h"

namespace drift {

// A rectangle of longitudes and latitudes in degrees, or of x and y. Longitudes may run on past 180.
struct PlotRegion {
  double west = 0.0, east = 0.0, south = 0.0, north = 0.0;

  double width() const { return east - west; }
  double height() const { return north - south; }
};

// Extent of the source's cells with a value, mean or sd. Throws Error with `path` if none has one.
PlotRegion region_with_values(const PlotSource& source, const std::string& path);

// Degrees of latitude (or units of y) that a cell of the source is high.
double cell_height(const PlotSource& source);

// Even cells over a region, as GMT takes them.
struct PlotRaster {
  PlotRegion region;
  std::size_t columns = 0, rows = 0;
  std::vector<float> mean, sd;  // [rows, columns], row 0 in the south; empty as in the source
};

// Every cell of the raster takes the value of the source's cell that its centre lies in, NaN where it lies in none: nothing is
// smoothed. Of evenly spaced longitudes and latitudes the cells are taken as they are; others are shown by cells half their size.
PlotRaster make_raster(const PlotSource& source, const PlotRegion& region);

}  // namespace drift
