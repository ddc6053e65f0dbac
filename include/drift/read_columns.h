#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Columns of numbers from a table of text (CSV, plain or gzip), by name.
struct Columns {
  std::vector<std::vector<double>> values;  // [names, rows]
  std::size_t missing = 0;                  // rows left out because one of the columns has nothing in it
};

// Throws UsageError, with the nearest name, for a column that is not there; Error with file and line for what is not a number.
Columns read_columns(const std::filesystem::path& path, const std::vector<std::string>& names);

}  // namespace drift
