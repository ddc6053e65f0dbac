#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "drift/control.h"
#include "drift/export.h"
#include "drift/read_observations.h"
#include "drift/simulate.h"
#include "drift/synthetic_field.h"
#include "drift/variable_info.h"

namespace DRIFT_PUBLIC drift {

// A truth, and what is known about it.
struct NamedTruth {
  Truth truth;
  VariableInfo info;
  std::optional<Range> time_days = {};  // it changes with time, and is known between these (or infinity); none: it stands still
};

// A variable of a CF NetCDF file on longitudes and latitudes (axes in any order, even or not, over the date line, to the poles),
// on the x and y of a grid mapping, or on two-dimensional longitudes and latitudes. Bilinear between grid points, by inverse
// distance among the nearest four of a two-dimensional grid, linear between times; half a time step beyond the first and last
// time these still hold. NaN where a grid point that counts is missing, and outside. An empty name: the file's only gridded
// variable, those aside that others name as ancillary. Slices are read when they are needed. Throws Error or UsageError.
NamedTruth truth_from_file(const std::filesystem::path& path, const std::string& variable = {}, const Control& control = {});

// Height of the geoid EGM96 above WGS 84 in metres, from PROJ's grid of 15 minutes. Throws Error when PROJ has not that grid.
NamedTruth geoid_truth();

// SyntheticField.
NamedTruth synthetic_truth(const SyntheticFieldOptions& options = {});

// A synthetic field as text: synthetic[:SEED][,evolution=DAYS][,velocity=EAST:NORTH[:LON:LAT]], in which the first comma is a
// colon where the seed is left out: "synthetic", "synthetic:7", "synthetic:evolution=5", "synthetic:7,velocity=20:-10:-30:40".
// Velocities are km per day, at 0 E 0 N unless a place is given. to_text gives the shortest text with the seed that parses to the
// same numbers. Throws UsageError.
bool names_synthetic(const std::string& text);  // it means such a field, well written or not
SyntheticFieldOptions parse_synthetic(const std::string& text, std::uint64_t default_seed = 1);
std::string to_text(const SyntheticFieldOptions& options);
bool names_truth_file(const std::string& text);         // it has the form of a path
FieldVelocity parse_velocity(const std::string& text);  // EAST:NORTH[:LON:LAT], or with commas

// A truth by its text: geoid, a synthetic field as above, or a gridded file, FILE.nc[:VARIABLE]; "FILE.nc[:VARIABLE] - geoid" is
// a file's heights (m, above WGS 84) above the geoid. Throws Error or UsageError.
NamedTruth open_truth(const std::string& text, std::uint64_t default_seed = 1, const Control& control = {});

}  // namespace drift
