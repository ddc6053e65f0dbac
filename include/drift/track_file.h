#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "drift/export.h"
#include "drift/observations.h"
#include "drift/variable_info.h"

namespace DRIFT_PUBLIC drift {

struct TrackFileOptions {
  bool calendar_time = true;                           // times are days since 1950-01-01, not plain numbers
  bool on_plane = false;                               // positions are x and y
  std::string plane_unit = {};                         // of x and y
  std::map<std::string, std::string> attributes = {};  // of the file: title, summary, history, ... (ACDD)
};

// Writes observations as a CF-1.8 / ACDD-1.3 NetCDF-4 file of points along the dimension obs, in their own order: longitude,
// latitude, time, the value under its name, <name>_uncertainty, track, and platform as a flag; columns that are empty are left
// out. Numbers keep every bit, and read_observations recognises every role. The file appears only when it is complete. Throws
// Error with the path, UsageError on columns that do not fit together.
void write_track_file(const std::filesystem::path& path, const Observations& observations, const VariableInfo& value,
                      const TrackFileOptions& options = {});

}  // namespace drift
