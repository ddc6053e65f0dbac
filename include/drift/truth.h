#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "drift/read_observations.h"
#include "drift/simulate.h"
#include "drift/synthetic_field.h"
#include "drift/variable_info.h"

namespace drift {

// A truth, and what is known about it.
struct NamedTruth {
  Truth truth;
  VariableInfo info;
  std::optional<Range> time_days = {};  // it changes with time, and is known between these; none: it stands still
};

// A variable of a CF NetCDF file on longitudes and latitudes (axes in any order, even or not, over the date line, to the poles),
// on the x and y of a grid mapping, or on two-dimensional longitudes and latitudes. Bilinear between grid points, by inverse
// distance among the nearest four of a two-dimensional grid, linear between times; half a time step beyond the first and last
// time these still hold. NaN where a grid point that counts is missing, and outside. An empty name: the file's only gridded
// variable, those aside that others name as ancillary. Slices are read when they are needed. Throws Error or UsageError.
NamedTruth truth_from_file(const std::filesystem::path& path, const std::string& variable = {});

// Height of the geoid EGM96 above WGS 84 in metres, from PROJ's grid of 15 minutes. Throws Error when PROJ has not that grid.
NamedTruth geoid_truth();

// SyntheticField.
NamedTruth synthetic_truth(const SyntheticFieldOptions& options = {});

}  // namespace drift
