#pragma once

#include <string>

#include "netcdf/netcdf_reader.h"

namespace drift {

// The projected CRS of a variable's grid mapping, in words that PROJ reads; empty where it has none or one of longitudes and
// latitudes. Throws Error with the file where the mapping says nothing that is understood.
std::string crs_of(const NcReader& file, const NcVariable& variable);

}  // namespace drift
