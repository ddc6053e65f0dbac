#include <fmt/format.h>

#include <string>

#include "netcdf/acdd.h"
#include "output/field_file_coordinates.h"

namespace drift {
namespace {

void add_resolution(const Grid& grid, FileAttributes& own) {
  if (kind_of(grid) == GridKind::geographic) {
    own.texts["geospatial_lat_resolution"] = fmt::format("{} degrees", grid.y.step);
    own.texts["geospatial_lon_resolution"] = fmt::format("{} degrees", grid.x.step);
  } else {
    own.texts["spatial_resolution"] = fmt::format("{} km", 1e-3 * grid.x.step);
  }
}

void add_time(const std::vector<double>& time_days, FileAttributes& own) {
  const double first = time_days.front(), last = time_days.back();
  own.add_time_span(first, last);
  if (time_days.size() > 1) {
    own.texts["time_coverage_resolution"] = fmt::format("P{}D", (last - first) / static_cast<double>(time_days.size() - 1));
  }
}

}  // namespace

void write_file_attributes(NcTarget& writer, const FieldHeader& options, const Extent& extent) {
  const VariableInfo& info = options.layers.front().info;
  FileAttributes own;
  own.texts["title"] = "Map of " + (info.long_name.empty() ? info.name : info.long_name);
  own.texts["cdm_data_type"] = "Grid";
  own.numbers["node_offset"] = 1;  // GMT's word for cells, not nodes: it guesses otherwise, at times wrongly
  if (kind_of(options.grid) != GridKind::plain) {
    own.add_box(extent.west, extent.south, extent.east, extent.north);
    add_resolution(options.grid, own);
  }
  if (!options.time_days.empty() && options.calendar_time) add_time(options.time_days, own);
  write_attributes(writer, own, options.attributes);
}

}  // namespace drift
