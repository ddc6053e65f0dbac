#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Evenly spaced cell centres, ascending.
struct GridAxis {
  std::string name;    // "longitude", "latitude", "x", "y"
  std::string unit;    // "degrees_east", "degrees_north", "m", as CF has them; empty: unknown
  double first = 0.0;  // the first cell's centre
  double step = 0.0;   // > 0
  std::size_t count = 0;

  double at(std::size_t index) const { return first + step * static_cast<double>(index); }
  bool operator==(const GridAxis&) const = default;
};

// Points in rows (y, from south to north) and columns (x). Point i lies in row i / x.count and column i % x.count.
struct Grid {
  std::string name;  // as it was asked for
  std::string crs;   // of a projected grid; empty: longitudes and latitudes, or a plane of no CRS
  GridAxis x;
  GridAxis y;

  std::size_t size() const { return x.count * y.count; }
  bool operator==(const Grid&) const = default;
};

// Reads
//   global:0.25                          cells of 0.25 degrees, from 180 W and 90 S
//   bbox:lon0,lat0,lon1,lat1:0.1         a box; lon0 > lon1 crosses the date line, and the axis then runs on past 180
//   CRS:25km                             cells of a projected CRS ("EPSG:6931", a PROJ string) over its area of use, edges at the
//                                        nearest multiple of the step (EPSG:6931:25km is NSIDC's EASE2_N25km, 720 by 720)
//   CRS:25km:xmin,ymin,xmax,ymax         the same over an extent, in the step's unit (km or m)
//   xy:x0,y0,x1,y1:0.5                   a plane of no CRS, in a unit of its own
// Throws UsageError for any other text, and if an extent is not a whole number of steps.
Grid parse_grid(const std::string& text);

// The same, but CRS:25km covers these positions, as far as they lie within the CRS's area of use: whole cells, edges at multiples
// of the step, so that the cells are those of the grid over the area of use. Throws UsageError if none lies within it. Without
// positions: as above.
Grid parse_grid(const std::string& text, std::span<const double> lon_deg, std::span<const double> lat_deg);

// Longitudes and latitudes of the points first, first + 1, ... as many as the spans hold: any block by itself, from any thread.
// Longitudes are the axis's own on a longitude-latitude grid (so are x and y on a plane of no CRS), else in [-180, 180]; both NaN
// where the plane has no position (the corners of a polar map).
void grid_positions(const Grid& grid, std::size_t first, std::span<double> lon_deg, std::span<double> lat_deg);

}  // namespace drift
