#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "drift/observations.h"

namespace drift {

// As the name of a column in CsvColumns: read the file as if it had no such column.
inline constexpr const char* kNoCsvColumn = "-";

// Which column plays which role, by its name in the header; upper and lower case are alike unless two columns differ in that
// alone. Empty: guessed from the usual names, with or without a unit in brackets behind them.
struct CsvColumns {
  std::string lon = {};   // lon, longitude: degrees east, -180 to 360
  std::string lat = {};   // lat, latitude: degrees north, -90 to 90
  std::string x = {};     // x, easting: in place of lon, on a plane, in the data's own unit; guessed where neither lon nor lat is
  std::string y = {};     // y, northing: in place of lat
  std::string time = {};  // time, date, datetime, t: ISO 8601 or numbers; may be absent
  std::string value = {};     // value
  std::string sigma = {};     // sigma, sd, error, uncertainty; may be absent
  std::string track = {};     // track, pass, cycle_pass: any text; may be absent
  std::string platform = {};  // platform, satellite, mission: any text; may be absent
};

struct CsvOptions {
  CsvColumns columns = {};
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
  CsvColumns columns;                 // as read, empty where there is none
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
