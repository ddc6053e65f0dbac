#include "drift/field_file.h"

#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "data/standard_names.h"
#include "drift/error.h"
#include "netcdf/acdd.h"
#include "netcdf/netcdf_writer.h"
#include "output/field_file_coordinates.h"

namespace drift {
namespace {

constexpr double kFill = NC_FILL_FLOAT;

[[noreturn]] void refuse(const std::string& why) { throw UsageError("field file: " + why); }

void check_layers(const FieldHeader& options) {
  if (options.layers.empty()) refuse("there is no layer to write");
  std::set<std::string> names = {"time", "member", "crs", "longitude", "latitude", options.grid.x.name, options.grid.y.name};
  std::size_t members = 0;
  for (const FieldLayer& layer : options.layers) {
    const std::string& name = layer.info.name;
    if (!is_cf_name(name))
      refuse(fmt::format("'{}' is not a valid name of a variable, which is letters, digits and _, a letter first", name));
    if (!names.insert(name).second) refuse(fmt::format("the name '{}' is used twice", name));
    if (layer.members > 0 && members > 0 && layer.members != members) {
      refuse(fmt::format("layer '{}' has {} members, another has {}", name, layer.members, members));
    }
    members = std::max(members, layer.members);
  }
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

int type_of(const FieldLayer& layer) { return layer.needs_double() ? NC_DOUBLE : NC_FLOAT; }
std::size_t bytes_of(const FieldLayer& layer) { return layer.needs_double() ? sizeof(double) : sizeof(float); }

// More than the file can come to: HDF5 keeps a chunk as it is where compressing it does not help.
std::size_t most_bytes(const FieldHeader& options, const FieldChunks& chunks) {
  const auto whole = [](std::size_t count, std::size_t part) { return (count + part - 1) / part * part; };
  const std::size_t cells = whole(options.grid.y.count, chunks.rows) * whole(options.grid.x.count, chunks.columns);
  std::size_t bytes_a_cell = 0;  // at one time
  for (const FieldLayer& layer : options.layers) bytes_a_cell += bytes_of(layer) * std::max<std::size_t>(1, layer.members);
  const std::size_t positions = options.grid.crs.empty() ? 0 : 2 * sizeof(double) * cells;
  const std::size_t axes = sizeof(double) * (options.grid.x.count + options.grid.y.count + options.time_days.size());
  const std::size_t numbers = bytes_a_cell * cells * options.times() + positions + axes;
  constexpr std::size_t kHeaders = 1u << 20;
  return numbers + numbers / 100 + kHeaders;
}

// What CF calls auxiliary: coordinates that are no dimension's own.
std::string coordinates_of(const FieldHeader& options) {
  if (kind_of(options.grid) != GridKind::projected) return "";
  return has_scalar_time(options) ? "time longitude latitude" : "longitude latitude";
}

// A map's values are those at the cells' centres, at its times: no means over cells or days.
std::string point_methods(const FieldHeader& options) {
  const std::string time = options.time_days.empty() ? "" : "time: point ";
  if (kind_of(options.grid) != GridKind::plain) return time + "area: point";
  return time + fmt::format("{}: {}: point", options.grid.y.name, options.grid.x.name);
}

// Models of earlier versions may have names that are none.
std::string valid_standard_name(const std::string& name) { return may_be_standard_name(name) ? name : std::string(); }

int define_layer(NcTarget& writer, const FieldHeader& options, const FieldLayer& layer, const FieldCoordinates& coordinates,
                 const FieldChunks& chunks) {
  std::vector<int> dimensions;
  NcStorage storage;
  const auto add = [&](int dimension, std::size_t chunk) {
    dimensions.push_back(dimension);
    storage.chunks.push_back(chunk);
  };
  if (coordinates.time_dimension >= 0) add(coordinates.time_dimension, 1);
  if (layer.members > 0) add(coordinates.member_dimension, 1);
  add(coordinates.y_dimension, chunks.rows);
  add(coordinates.x_dimension, chunks.columns);
  const std::size_t columns = (options.grid.x.count / chunks.columns + 1) * chunks.columns;
  storage.cache_bytes = bytes_of(layer) * columns * chunks.rows * std::max<std::size_t>(1, layer.members);
  const int id = writer.variable(layer.info.name, type_of(layer), dimensions, storage);
  writer.fill(id, kFill);
  const GridKind kind = kind_of(options.grid);
  const std::pair<const char*, std::string> attributes[] = {
      {"standard_name", valid_standard_name(layer.info.standard_name)},
      {"long_name", layer.info.long_name},
      {"units", layer.info.unit},
      {"cell_methods", layer.cell_methods.empty() ? point_methods(options) : layer.cell_methods},
      {"ancillary_variables", joined(layer.ancillary)},
      {"grid_mapping", kind == GridKind::plain ? "" : "crs"},
      {"coordinates", coordinates_of(options)},
      {"coverage_content_type", "modelResult"},
      {"comment", layer.comment}};
  for (const auto& [name, text] : attributes) writer.attribute(id, name, text);
  return id;
}

}  // namespace

std::size_t slots_of(const FieldHeader& options) {
  std::size_t slots = 0;
  for (const FieldLayer& layer : options.layers) slots += std::max<std::size_t>(1, layer.members);
  return slots;
}

void check_header(const FieldHeader& options) {
  for (const GridAxis* axis : {&options.grid.x, &options.grid.y}) {
    if (!is_cf_name(axis->name)) refuse(fmt::format("'{}' is not a valid name of an axis", axis->name));
    if (axis->count == 0 || !(axis->step > 0.0) || !std::isfinite(axis->first)) {
      refuse(fmt::format("axis '{}' has {} cells of {} from {}", axis->name, axis->count, axis->step, axis->first));
    }
  }
  if (options.grid.x.name == options.grid.y.name) refuse(fmt::format("both axes are called '{}'", options.grid.x.name));
  check_layers(options);
  const std::vector<double>& times = options.time_days;
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!std::isfinite(times[i])) refuse(fmt::format("time {} is {}", i, times[i]));
    if (i > 0 && !(times[i] > times[i - 1])) {
      refuse(fmt::format("times must ascend, but time {} is {} after {}", i, times[i], times[i - 1]));
    }
  }
}

FieldVariables define_variables(NcTarget& writer, const FieldHeader& options, const FieldChunks& chunks) {
  FieldVariables defined = {.coordinates = define_axes(writer, options)};
  for (const FieldLayer& layer : options.layers)
    defined.layers.push_back(define_layer(writer, options, layer, defined.coordinates, chunks));
  define_places(writer, options.grid, chunks, defined.coordinates);
  return defined;
}

struct FieldFileWriter::File {
  FieldHeader options;
  NcWriter writer;
  struct Layer {
    int variable;
    double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
  };
  std::vector<Layer> layers;
  std::vector<double> numbers;  // as they are written

  File(const std::filesystem::path& path, FieldHeader chosen) : options(std::move(chosen)), writer(path) {
    const FieldChunks chunks = choose_chunks(options.grid, slots_of(options));
    writer.reserve(most_bytes(options, chunks));
    const FieldVariables defined = define_variables(writer, options, chunks);
    for (const int variable : defined.layers) layers.push_back({.variable = variable});
    write_file_attributes(writer, options, write_coordinates(writer, options, chunks, defined.coordinates));
  }

  void check_block(std::size_t layer, std::size_t time, std::size_t first_row, std::size_t count, std::size_t member) const {
    const Grid& grid = options.grid;
    if (layer >= options.layers.size()) refuse(fmt::format("layer {} of {}", layer, options.layers.size()));
    const FieldLayer& here = options.layers[layer];
    const std::size_t times = std::max<std::size_t>(1, options.time_days.size());
    const std::size_t members = std::max<std::size_t>(1, here.members);
    if (time >= times) refuse(fmt::format("layer '{}': time {} of {}", here.info.name, time, times));
    if (member >= members) refuse(fmt::format("layer '{}': member {} of {}", here.info.name, member, members));
    const std::size_t rows = count / grid.x.count;
    if (count % grid.x.count != 0 || first_row > grid.y.count || rows > grid.y.count - first_row) {
      refuse(fmt::format("layer '{}': {} values from row {} on are not whole rows of {} within {}", here.info.name, count,
                         first_row, grid.x.count, grid.y.count));
    }
  }
};

FieldFileWriter::FieldFileWriter(const std::filesystem::path& path, const FieldHeader& header) {
  check_header(header);
  file_ = std::make_unique<File>(path, header);
}

FieldFileWriter::~FieldFileWriter() = default;

void FieldFileWriter::write(std::size_t layer, std::size_t time, std::size_t first_row, std::span<const double> values,
                            std::size_t member) {
  if (!file_) refuse("it is finished");
  file_->check_block(layer, time, first_row, values.size(), member);
  if (values.empty()) return;
  const Grid& grid = file_->options.grid;
  const FieldLayer& here = file_->options.layers[layer];
  File::Layer& written = file_->layers[layer];
  std::vector<double>& numbers = file_->numbers;
  numbers.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double stored = here.needs_double() ? values[i] : static_cast<double>(static_cast<float>(values[i]));
    if (std::isinf(stored)) {
      throw Error(fmt::format("layer '{}': the value in row {}, column {} is infinite", here.info.name,
                              first_row + i / grid.x.count, i % grid.x.count));
    }
    numbers[i] = std::isnan(stored) ? kFill : stored;
    if (std::isnan(stored)) continue;
    written.least = std::min(written.least, stored);
    written.most = std::max(written.most, stored);
  }
  NcWriter::Indices start, count;
  const auto add = [&](std::size_t at, std::size_t many) {
    start.push_back(at);
    count.push_back(many);
  };
  if (!file_->options.time_days.empty() && !has_scalar_time(file_->options)) add(time, 1);
  if (here.members > 0) add(member, 1);
  add(first_row, values.size() / grid.x.count);
  add(0, grid.x.count);
  file_->writer.write(file_->layers[layer].variable, start, count, std::span<const double>(numbers));
}

void FieldFileWriter::finish(const Control&) {
  if (!file_) refuse("it is finished");
  for (std::size_t i = 0; i < file_->layers.size(); ++i) {
    const File::Layer& layer = file_->layers[i];
    const std::array<double, 2> range = {layer.least, layer.most};
    const int type = type_of(file_->options.layers[i]);
    if (layer.least <= layer.most) file_->writer.attribute(layer.variable, "actual_range", type, range);
  }
  file_->writer.finish();
  file_.reset();
}

}  // namespace drift
