#pragma once

#include <cstddef>

#include "data/file_part.h"
#include "data/row_filter.h"
#include "drift/read_csv.h"

namespace drift {

// How the text passes through memory. The result does not depend on it.
struct CsvSizes {
  std::size_t window = std::size_t{32} << 20;  // bytes in memory at a time; no row may be longer
  std::size_t chunk = std::size_t{1} << 20;    // bytes that one thread takes at a time
};

CsvReading read_csv(const std::filesystem::path& path, const CsvOptions& options, const CsvSizes& sizes);

// The same for one file of several, and only for the rows that are wanted.
struct CsvPart {
  FilePart part;
  CsvReport report;
};
CsvPart read_csv_part(const std::filesystem::path& path, const CsvOptions& options, const RowFilter& filter,
                      const Control& control = {}, const CsvSizes& sizes = {});

}  // namespace drift
