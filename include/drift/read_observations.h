#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "drift/control.h"
#include "drift/dataset.h"
#include "drift/enum_words.h"
#include "drift/export.h"
#include "drift/roles.h"

namespace DRIFT_PUBLIC drift {

// Numbers from low to high, both included.
struct Range {
  double low;
  double high;
};

// Response to a file of several that cannot be opened.
enum class BadFiles { stop, skip };
constexpr auto enum_words(BadFiles) {
  return std::to_array<EnumWord<BadFiles>>({{"stop", BadFiles::stop}, {"skip", BadFiles::skip}});
}

struct ReadOptions {
  Roles roles = {};
  std::string preset = {};  // of presets(); empty: recognised from the file; "none": by CF metadata alone
  // Conditions on any variable or column, all of which must hold: "flag in 64,256", "flag not in 1", "surface == ocean", "swh <
  // 3" (and <=, >, >=, !=), "flags has 3" (these bits). They never hold where the variable is missing.
  std::vector<std::string> where = {};
  std::vector<std::string> without = {};          // conditions none of which may hold: they do not where the variable is missing
  std::optional<Range> valid = {};                // of values, in their unit
  std::optional<std::array<double, 4>> box = {};  // lon0, lat0, lon1, lat1 in degrees (x, y on a plane); lon0 > lon1: over 180
  std::optional<Range> time = {};                 // days since 1950-01-01; or the file's own numbers if its times are not dates
  double track_gap_s = 60.0;            // > 0; a new track begins after so long without observations, unless a role names tracks
  bool any_order = false;               // accept an along-track file whose times run backwards
  BadFiles bad_files = BadFiles::stop;  // skip: a NetCDF file that cannot be opened or read is left out, with a warning
  // Seconds that a file based on HDF5 has to open in a child process, which a damaged one may crash or hang; 0: no child.
  double open_limit_s = 30.0;
  int threads = 0;              // 0: one for each core this process may use
  bool quality_control = true;  // the preset's conditions on flags and values, besides `where`
  std::string time_units = {};  // of numeric times: "seconds since 2000-01-01", "datenum", "yyyymmdd"; prevails over the file's
  std::string units = {};       // of the values; these three prevail over the file's, "" leaves them
  std::string standard_name = {};  // of CF
  std::string long_name = {};
};

struct Rejected {
  std::string reason;  // "value missing", "latitude beyond 90 degrees", "not flag in 64,256", "outside the time span"
  std::size_t count = 0;
};

// Interpretation of the files.
struct ReadReport {
  std::vector<std::filesystem::path> files;  // in the order of reading
  std::string format;                        // "NetCDF" or "CSV"
  std::string preset;                        // in use; empty: none
  Roles roles;                               // as read; empty: there is none
  std::size_t rows = 0;                      // read
  std::vector<Rejected> rejected;            // left out, by the first reason that applies
  std::vector<std::string> quality;          // conditions that quality control asked for, as "range_ocean_qual == 0"
  std::size_t quality_left_out = 0;          // rows left out by them, which are among `rejected` too
  std::vector<std::string> warnings;         // whole sentences
};

struct Reading : Dataset {
  ReadReport report = {};
};

// Reads observations from files of one kind, NetCDF or CSV (plain or gzip). Patterns are paths or globs (*, ?,
// [...]), addresses of OPeNDAP, or folders that are Zarr stores, which are read as NetCDF. Files are read in the order of their
// names, each once, and the result depends on that order alone, not on the threads.
//
// NetCDF: roles that are not given are those of the preset, or are recognised by standard_name, units, axis, the value's
// coordinates attribute and usual names. A variable may lie along some of the value's dimensions and then holds for all indices
// of the others: files along tracks, with 20 values per second, on grids. x and y with a grid mapping become longitude and
// latitude. The standard deviation is read where ancillary_variables names it beyond doubt; another variable that may hold it
// gets a warning. Packed numbers, fill values and valid ranges are those of CF. Longitudes are brought to [-180, 180), TAI to
// UTC.
//
// CSV: a table of text with one header line, separated by commas, semicolons, tabs or blanks, fields quoted as in RFC 4180 or
// not. Lines that begin with # before the header are passed over. Roles that are not given are guessed from the usual names,
// upper and lower case alike, with or without a unit in brackets: lon longitude (degrees east, -540 to 540), lat latitude; if
// neither is there, x easting, y northing on a plane; time date datetime date/time timestamp t (ISO 8601, dates as 20200131, or
// numbers; may be absent); value, or the only column that is called like no role; sigma sd error uncertainty, track pass
// cycle_pass, platform satellite mission (may be absent); for the time also date and time (of day), or year, month, day or year,
// doy, with hour, minute, second if they are there. A row in which a column in use is empty, NA, N/A, NaN or null is left out and
// counted, and so is a row that holds anything else than it should, with a warning for each kind that gives the first lines; more
// than a tenth of such rows are an Error.
//
// Exact duplicates (position, time, platform, value) are left out. Tracks come from a variable, else from gaps in time and the
// turns of latitude, platform by platform, across the files' bounds; those of swaths from the same of their lines. Data that are
// neither have none.
//
// Throws Error for files that cannot be read and data that cannot be right (more than half of the latitudes beyond the pole, or
// of the observations twice; nothing left; units that differ; times of a trajectory that run backwards), UsageError for options
// that do not fit the files. A message gives file and variable or line.
Reading read_observations(const std::vector<std::string>& patterns, const ReadOptions& options = {}, const Control& control = {});

// Product presets, and one line on each.
struct Preset {
  std::string name;
  std::string what;
};
std::vector<Preset> presets();

}  // namespace drift
