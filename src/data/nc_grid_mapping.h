#pragma once

#include <string>

#include "netcdf/nc_source.h"

namespace drift {

// The CRS on whose plane the x and y of a variable lie, for projection_of: from the variable that its grid_mapping names, by
// crs_wkt, spatial_ref, epsg_code or CF's parameters. Empty where there is none, or it is latitude_longitude. Throws Error for a
// grid mapping that cannot be used.
std::string crs_of(const NcSource& file, const NcVariable& variable);

// Metres of the unit of an axis on that plane; the CRS's own unit where the axis has none. Throws Error, naming file and axis,
// for a unit that is no known length.
double metres_of_axis(const NcSource& file, const NcVariable& axis, const std::string& crs);

}  // namespace drift
