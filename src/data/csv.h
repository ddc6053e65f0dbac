#pragma once

#include <cstddef>
#include <filesystem>

#include "data/file_part.h"
#include "data/row_filter.h"
#include "drift/control.h"
#include "drift/roles.h"

namespace drift {

struct CsvOptions {
  Roles columns = {};
  int threads = 0;              // 0: one per core this process may use
  std::string time_units = {};  // of times that are numbers; empty: they are taken as they are
};

// Of the rows, at most this share may be bad: a row here and there is left out, a table of them is no such table.
inline constexpr double kMostBad = 0.1;

// How the text passes through memory. The result does not depend on it.
struct CsvSizes {
  std::size_t window = std::size_t{32} << 20;  // bytes in memory at a time; no row may be longer
  std::size_t chunk = std::size_t{1} << 20;    // bytes that one thread takes at a time
};

struct CsvReading {
  FilePart part;                      // in the file's order; on a plane lon_deg and lat_deg hold x and y as given
  Roles columns;                      // as read, empty where there is none
  bool on_plane = false;              // positions are x and y
  bool iso_times = false;             // times are days since 1950-01-01 UTC, not numbers of the file's own
  std::vector<std::string> warnings;  // whole sentences
};

// One file of those that read_observations() reads (drift/read_observations.h says what it may hold), and only the rows that are
// wanted. Same file, same result, whatever the threads.
CsvReading read_csv(const std::filesystem::path& path, const CsvOptions& options, const RowFilter& filter = {},
                    const Control& control = {}, const CsvSizes& sizes = {});

}  // namespace drift
