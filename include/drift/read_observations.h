#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "drift/observations.h"
#include "drift/roles.h"
#include "drift/variable_info.h"

namespace drift {

// Numbers from low to high, both included.
struct Range {
  double low;
  double high;
};

struct ReadOptions {
  Roles roles = {};
  std::string preset = {};  // of presets(); empty: recognised from the file; "none": by CF metadata alone
  // Conditions on any variable or column, all of which must hold: "flag in 64,256", "flag not in 1", "surface == ocean", "swh <
  // 3" (and <=, >, >=, !=), "flags has 3" (these bits). They never hold where the variable is missing.
  std::vector<std::string> where = {};
  std::vector<std::string> without = {};          // conditions none of which may hold: they do not where the variable is missing
  std::optional<Range> valid = {};                // of values, in their unit
  std::optional<std::array<double, 4>> box = {};  // lon0, lat0, lon1, lat1 in degrees (x, y on a plane); lon0 > lon1: over 180
  std::optional<Range> time = {};                 // days since 1950-01-01; numbers of the file's own where its times are such
  double track_gap_s = 60.0;  // > 0; a new track begins after so long without observations, where no role tells
  bool any_order = false;     // accept an along-track file whose times run backwards
  int threads = 0;            // 0: one for each core this process may use
};

struct Rejected {
  std::string reason;  // "value missing", "latitude beyond 90 degrees", "not flag in 64,256", "outside the time span"
  std::size_t count = 0;
};

// How the observations lie.
enum class DataLayout {
  points,       // here and there, or in no order that is known
  along_track,  // one after the other along tracks
  swath,        // in lines across a track, with one time each
  grid,         // along axes, or on two-dimensional positions that stay the same
};

struct ReadReport {
  std::vector<std::filesystem::path> files;  // in the order of reading
  std::string format;                        // "NetCDF" or "CSV"
  std::string preset;                        // in use; empty: none
  Roles roles;                               // as read, empty where there is none
  VariableInfo value;                        // of the values
  std::size_t rows = 0;                      // read
  std::vector<Rejected> rejected;            // those left out, by the first reason; reasons that occur only
  DataLayout layout = DataLayout::points;    // of all files
  bool on_plane = false;                     // positions are plain x and y
  std::string plane_unit;                    // of x and y where the file tells
  bool calendar_time = false;                // times are days since 1950-01-01 UTC, not numbers of the file's own
  std::string tracks_from;                   // "variable 'pass'", "gaps of 60 s and turns"; empty: no tracks
  std::size_t tracks = 0;
  std::vector<std::string> warnings;  // whole sentences
};

struct Reading {
  Observations observations;
  std::vector<std::size_t> test = {};  // rows that judge and are never trained on, ascending; none: what to hold out is chosen
  ReadReport report;
};

// Reads observations from files of one kind, NetCDF or CSV (plain or gzip, see read_csv.h). Patterns are paths or globs (*, ?,
// [...]). Files are read in the order of their names, each once, and the result depends on that order alone, not on the threads.
//
// NetCDF: roles that are not given are those of the preset, else told by standard_name, units, axis, the value's coordinates
// attribute and usual names. A variable may lie along some of the value's dimensions and then holds for all indices of the
// others: files along tracks, of 20 values a second, of grids. x and y with a grid mapping become longitude and latitude. The
// standard deviation is read where ancillary_variables names it beyond doubt. Packed numbers, fill values and valid ranges are
// those of CF. Longitudes are brought to [-180, 180), TAI to UTC.
//
// Exact duplicates (position, time, platform, value) are left out. Tracks come from a variable, else from gaps in time and the
// turns of latitude, platform by platform, across the files' bounds; those of swaths from the same of their lines. Data that are
// neither have none.
//
// Throws Error for files that cannot be read and data that cannot be right (more than half of the latitudes beyond the pole, or
// of the observations twice; nothing left; units that differ; times of a trajectory that run backwards), UsageError for options
// that do not fit the files. A message gives file and variable or line.
Reading read_observations(const std::vector<std::string>& patterns, const ReadOptions& options = {});

// Both together, with the rows of `test` as the test set: platforms of one name are one, tracks are numbered on. Throws Error where
// they do not go together: other units, or a column that one of them lacks.
Reading with_test(Reading training, const Reading& test);

// The rows whose platform is among these become the test set. Throws UsageError, naming the platforms there are, where none or all are.
Reading with_test_platforms(Reading reading, const std::vector<std::string>& platforms, bool all_but_these = false);

// Product presets, and one line on each.
struct Preset {
  std::string name;
  std::string what;
};
std::vector<Preset> presets();

}  // namespace drift
