#pragma once

#include <netcdf.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "netcdf/netcdf_writer.h"

namespace drift {

// A gridded file as a test wants it. Values are value(y, x, time) of the axes' numbers.
struct GridFile {
  std::vector<double> x, y;
  std::vector<double> time = {};  // empty: no such dimension
  std::function<double(double y, double x, double time)> value;
  std::string x_name = "longitude", y_name = "latitude";
  std::string x_unit = "degrees_east", y_unit = "degrees_north";
  std::string time_unit = "days since 1950-01-01";
  std::map<std::string, std::string> attributes = {};  // of the variable
  std::map<std::string, std::string> mapping = {};     // attributes of a variable "crs"
  std::map<std::string, double> mapping_numbers = {};
  std::string name = "height";
  int type = NC_DOUBLE, axis_type = NC_DOUBLE;
  double scale = 1.0;  // packing
  std::optional<double> fill = {};
  bool x_first = false;  // [x, y] instead of [y, x]
};

inline void write_axis(NcWriter& writer, int id, const std::vector<double>& numbers) {
  writer.write(id, {0}, {numbers.size()}, std::span<const double>(numbers));
}

inline void write_grid_file(const std::filesystem::path& path, const GridFile& file) {
  NcWriter writer(path);
  const bool has_time = !file.time.empty();
  const int time = has_time ? writer.dimension("time", file.time.size()) : -1;
  const int y = writer.dimension(file.y_name, file.y.size()), x = writer.dimension(file.x_name, file.x.size());
  const int x_id = writer.variable(file.x_name, file.axis_type, {x}), y_id = writer.variable(file.y_name, file.axis_type, {y});
  writer.attribute(x_id, "units", file.x_unit);
  writer.attribute(y_id, "units", file.y_unit);
  const int time_id = has_time ? writer.variable("time", NC_DOUBLE, {time}) : -1;
  if (has_time) writer.attribute(time_id, "units", file.time_unit);
  std::vector<int> dimensions = {y, x};
  if (file.x_first) dimensions = {x, y};
  if (has_time) dimensions.insert(dimensions.begin(), time);
  const int id = writer.variable(file.name, file.type, dimensions);
  if (file.fill) writer.fill(id, *file.fill);
  if (file.scale != 1.0) writer.attribute(id, "scale_factor", NC_DOUBLE, std::span(&file.scale, 1));
  for (const auto& [name, text] : file.attributes) writer.attribute(id, name, text);
  if (!file.mapping.empty()) {
    const int crs = writer.variable("crs", NC_INT, {});
    writer.attribute(id, "grid_mapping", std::string("crs"));
    for (const auto& [name, text] : file.mapping) writer.attribute(crs, name, text);
    for (const auto& [name, number] : file.mapping_numbers) writer.attribute(crs, name, NC_DOUBLE, std::span(&number, 1));
  }
  write_axis(writer, x_id, file.x);
  write_axis(writer, y_id, file.y);
  if (has_time) write_axis(writer, time_id, file.time);
  for (std::size_t t = 0; t < (has_time ? file.time.size() : 1); ++t) {
    std::vector<double> values;
    const std::size_t rows = file.x_first ? file.x.size() : file.y.size(), columns = file.x_first ? file.y.size() : file.x.size();
    for (std::size_t i = 0; i < rows * columns; ++i) {
      const double at_y = file.y[file.x_first ? i % columns : i / columns],
                   at_x = file.x[file.x_first ? i / columns : i % columns];
      values.push_back(file.value(at_y, at_x, has_time ? file.time[t] : 0.0) / file.scale);
    }
    NcWriter::Indices start = {0, 0}, count = {rows, columns};
    if (has_time) start.insert(start.begin(), t), count.insert(count.begin(), 1);
    writer.write(id, start, count, std::span<const double>(values));
  }
  writer.finish();
}

inline std::vector<double> steps(double first, double step, std::size_t count) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(first + step * static_cast<double>(i));
  return numbers;
}

}  // namespace drift
