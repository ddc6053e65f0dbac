#pragma once

#include <span>
#include <vector>

#include "drift/control.h"
#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

struct OceanMaskOptions {
  bool lakes_are_land = true;  // inland waters: the Caspian, the Great Lakes; the Black Sea is ocean
};

// 1 where a position is ocean, 0 where it is not: land, the ice of Greenland and Antarctica with its ice shelves, (lakes,) and
// positions that are not numbers. By GMT and its GSHHG coastlines in the finest resolution installed; gmt-gshhg-low is good to a
// kilometre or so. Longitudes of any turn; latitudes beyond 90 degrees are not ocean. Takes any number of positions, a million at
// a time. Throws Error if GMT is not installed, UsageError unless the spans are equally long.
std::vector<char> is_ocean(std::span<const double> lon_deg, std::span<const double> lat_deg, const OceanMaskOptions& options = {},
                           const Control& control = {});

}  // namespace drift
