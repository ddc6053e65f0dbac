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
  std::string preset = {};              // of preset_names(); empty: recognised from the file; "none": by CF metadata alone
  std::vector<std::string> where = {};  // conditions on any variable or column, all of which must hold: "flag in 64,256"
  std::optional<Range> valid = {};      // of values, in their unit
  std::optional<std::array<double, 4>> box = {};  // lon0, lat0, lon1, lat1 in degrees (x, y on a plane); lon0 > lon1: over 180
  std::optional<Range> time = {};       // days since 1950-01-01; numbers of the file's own where its times are such
  double track_gap_s = 60.0;            // > 0; a new track begins after so long without observations, where no role tells
  bool any_order = false;               // accept an along-track file whose times run backwards
  int threads = 0;                      // 0: one for each core this process may use
};

struct Rejected {
  std::string reason;  // "value missing", "latitude beyond 90 degrees", "not flag in 64,256", "outside the time span"
  std::size_t count = 0;
};

struct ReadReport {
  std::vector<std::filesystem::path> files;  // in the order of reading
  std::string format;                        // "NetCDF" or "CSV"
  std::string preset;                        // in use; empty: none
  Roles roles;                               // as read, empty where there is none
  VariableInfo value;                        // of the values
  std::size_t rows = 0;                      // read
  std::vector<Rejected> rejected;            // those left out, by the first reason; reasons that occur only
  bool on_plane = false;                     // positions are plain x and y
  std::string plane_unit;                    // of x and y where the file tells
  bool calendar_time = false;                // times are days since 1950-01-01 UTC, not numbers of the file's own
  std::string tracks_from;                   // "variable 'pass'", "gaps of 60 s and turns"; empty: no tracks
  std::size_t tracks = 0;
  std::vector<std::string> warnings;  // whole sentences
};

struct Reading {
  Observations observations;
  ReadReport report;
};

// Reads observations from files of one kind, NetCDF or CSV. Patterns are paths or globs (*, ?, [...]). Files are read in the order of their names,
// each once, and the result depends on that order alone. Throws Error for files that cannot be read and data that cannot be
// right, UsageError for options that do not fit the files; a message gives file and variable or line.
Reading read_observations(const std::vector<std::string>& patterns, const ReadOptions& options = {});

// Product presets, and one line on each.
struct Preset {
  std::string name;
  std::string what;
};
std::vector<Preset> presets();

}  // namespace drift
