#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "drift/export.h"
#include "drift/grid.h"

namespace DRIFT_PUBLIC drift {

// The grid of a NetCDF file whose gridded variables share one, on evenly spaced longitudes and latitudes or x and y: the same
// points, in ascending order whatever the file's. Throws Error when the file cannot be read, UsageError when it has no such grid.
Grid grid_from_file(const std::filesystem::path& path);

// A grid from a text as parse_grid takes it, with or without positions to cover, or from a file: "file:PATH", or a path that ends
// in .nc.
Grid read_grid(const std::string& text, std::span<const double> lon_deg = {}, std::span<const double> lat_deg = {});

}  // namespace drift
