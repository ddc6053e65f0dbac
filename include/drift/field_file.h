#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "drift/export.h"
#include "drift/grid.h"
#include "drift/variable_info.h"

namespace DRIFT_PUBLIC drift {

// One variable of a map.
struct FieldLayer {
  VariableInfo info;
  std::vector<std::string> ancillary = {};  // names of layers that qualify this one (CF's ancillary_variables)
  std::string cell_methods = {};            // "", "member: standard_deviation", ...
  std::size_t members = 0;                  // > 0: a variable [time, member, y, x]
  std::string comment = {};
};

struct FieldFileOptions {
  Grid grid;
  std::vector<double> time_days = {};  // days since 1950-01-01 where calendar_time, else plain numbers; empty: no time axis
  bool calendar_time = true;
  std::vector<FieldLayer> layers = {};
  std::map<std::string, std::string> attributes = {};  // of the file: title, summary, source, history, ... (ACDD)
};

// Writes a CF-1.8 / ACDD-1.3 NetCDF-4 file, compressed and chunked, block by block, so that a map of any size takes little
// memory. The file appears under its name when finish() succeeds, not before; without it nothing is left. Throws Error with the
// path.
class FieldFileWriter {
 public:
  FieldFileWriter(const std::filesystem::path& path, const FieldFileOptions& options);
  ~FieldFileWriter();
  FieldFileWriter(const FieldFileWriter&) = delete;
  FieldFileWriter& operator=(const FieldFileWriter&) = delete;

  // values [rows, grid.x.count] from row `first_row` on; NaN is written as missing.
  void write(std::size_t layer, std::size_t time, std::size_t first_row, std::span<const float> values, std::size_t member = 0);
  void finish();

 private:
  struct File;
  std::unique_ptr<File> file_;
};

}  // namespace drift
