#pragma once

#include <string>

#include "data/csv_header.h"
#include "data/csv_source.h"

namespace drift {

// Passes over a byte-order mark, blank lines and comments, reads the header and consumes it: then the window begins with the
// first row. Throws Error on what is no table, UsageError where the roles cannot be told; `file` is for messages.
CsvLayout read_layout(CsvSource& source, const std::string& file, const CsvOptions& options, const RowFilter& filter);

// The same for a table of places: only positions and time are sought.
CsvLayout read_points_layout(CsvSource& source, const std::string& file, const Roles& roles);

// The columns' names alone; no roles are sought. separator '\0': what the header shows.
CsvLayout read_names(CsvSource& source, char separator = '\0');

// Throws Error: a row does not fit into the window.
[[noreturn]] void fail_too_long(const CsvSource& source);

}  // namespace drift
