#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "drift/control.h"
#include "drift/export.h"
#include "drift/grid.h"
#include "drift/variable_info.h"

namespace DRIFT_PUBLIC drift {

// One variable of a field.
struct FieldLayer {
  VariableInfo info;
  std::vector<std::string> ancillary = {};  // names of layers that qualify this one (CF's ancillary_variables)
  std::string cell_methods = {};            // of CF; empty: values at the cells' centres and at the times ("... point")
  std::size_t members = 0;                  // > 0: a variable [time, member, y, x]
  std::string comment = {};
  // Significant digits worth keeping: tables write so many; up to 7 are stored as float32, more as double.
  int digits = 7;

  bool needs_double() const { return digits > 7; }
};

// A field on a grid at given times, before its numbers.
struct FieldHeader {
  Grid grid;
  std::vector<double> time_days = {};  // days since 1950-01-01 where calendar_time, else plain numbers; empty: no time axis
  bool calendar_time = true;
  std::vector<FieldLayer> layers = {};
  std::map<std::string, std::string> attributes = {};  // of the whole: title, summary, source, history, ... (ACDD)

  std::size_t times() const { return time_days.empty() ? 1 : time_days.size(); }
};

// Receives a field block by block, so that fields of any size need little memory. Blocks come by rows of the grid; for each
// block of rows all times, and for each time all layers in their order, a layer's members one after the other.
class FieldSink {
 public:
  virtual ~FieldSink() = default;

  // values [rows, grid.x.count] from row `first_row` on; NaN where the field has no value.
  virtual void write(std::size_t layer, std::size_t time, std::size_t first_row, std::span<const double> values,
                     std::size_t member = 0) = 0;
  // A sink that is destroyed without it leaves nothing behind.
  virtual void finish(const Control& control = {}) = 0;
};
using SinkMaker = std::function<std::unique_ptr<FieldSink>(const FieldHeader& header)>;

// CF-1.8 / ACDD-1.3 NetCDF-4 (drift/field_file.h).
SinkMaker netcdf_sink(const std::filesystem::path& path);

// A table (CSV), a row for each point that has a value: lon, lat (x, y on a plane), time, then a column per layer and member.
SinkMaker table_sink(const std::filesystem::path& path);

// Cloud-optimised GeoTIFF through GDAL's gdal_translate: a band for each layer and member at each time, named "X TIME". Making
// the sink throws Error where gdal_translate is not installed.
SinkMaker geotiff_sink(const std::filesystem::path& path);

// A field in memory.
struct Field {
  FieldHeader header;
  std::vector<std::vector<double>> values;  // by layer: [times, members or 1, rows, columns]

  // The values of a layer by name. Throws UsageError naming the layers there are.
  const std::vector<double>& layer(const std::string& name) const;
};
SinkMaker memory_sink(Field& field);  // `field` must outlive the sink

// The format that goes with a file's extension. A new one is a row in src/output/field_formats.cpp and a file with its sink.
struct FieldFormat {
  std::string extension;  // ".nc"
  std::string name;       // "NetCDF"
  SinkMaker (*sink)(const std::filesystem::path& path);
};
const std::vector<FieldFormat>& field_formats();
SinkMaker sink_for(const std::filesystem::path& path);  // throws UsageError naming the extensions

}  // namespace drift
