#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "drift/export.h"
#include "drift/observations.h"
#include "drift/roles.h"

namespace DRIFT_PUBLIC drift {

// Roles that are not given are guessed from the usual names, upper and lower case alike, with or without a unit in brackets:
//   lon longitude (degrees east, -180 to 360), lat latitude; where neither is there, x easting, y northing on a plane;
//   time date datetime t (ISO 8601 or numbers; may be absent); value, or the only column that is called like no role;
//   sigma sd error uncertainty, track pass cycle_pass, platform satellite mission (may be absent).

struct CsvOptions {
  Roles columns = {};
  char separator = '\0';  // between fields; ' ' stands for any run of blanks and tabs, '\0' for what the header shows
  int threads = 0;        // 0: one for each core this process may use
};

struct CsvRejected {
  std::string reason;
  std::size_t rows = 0;
};

struct CsvReport {
  std::size_t rows = 0;               // below the header, blank lines aside
  std::size_t kept = 0;               // rows that became observations
  std::vector<CsvRejected> rejected;  // the others, by the first column that has nothing in it; reasons that occur only
  Roles columns;                      // as read, empty where there is none
  bool on_plane = false;              // positions are x and y
  bool iso_times = false;             // times are days since 1950-01-01 UTC, not numbers of the file's own
};

struct CsvReading {
  // In the file's order. Longitudes are in [-180, 180). Where report.on_plane, lon_deg and lat_deg hold x and y as given. Columns
  // that the file does not have stay empty. Tracks are numbered from 0 as they first appear; one label on two platforms is two
  // tracks.
  Observations observations;
  CsvReport report;
};

// Reads a table of text with one header line: separated by commas, semicolons, tabs or blanks, plain or gzip, with fields quoted
// as in RFC 4180 or not. Lines that begin with # before the header are passed over. A row in which a column in use is empty, NA,
// N/A, NaN or null is left out and counted; anything else that is not what the column should hold is an Error that gives file and
// line. Columns that cannot be told from their names are a UsageError that lists them. Same file, same result, whatever the
// threads.
CsvReading read_csv(const std::filesystem::path& path, const CsvOptions& options = {});

}  // namespace drift
