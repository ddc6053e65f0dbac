#include "output/field_file_coordinates.h"

#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "geo/grid_mapping.h"
#include "geo/longitude_extent.h"
#include "geo/projection.h"

namespace drift {
namespace {

constexpr std::size_t kChunkNumbers = 131072;    // half a megabyte of float32
constexpr std::size_t kChunkSide = 362;          // a square of as many
constexpr std::size_t kCacheNumbers = 1u << 24;  // 64 MiB of float32 for all layers together

// The size of the fewest equal parts of at most `most`.
std::size_t even_part(std::size_t count, std::size_t most) {
  const std::size_t parts = (count + most - 1) / most;
  return (count + parts - 1) / parts;
}

struct AxisWords {
  const char* standard_name;
  const char* long_name;
};

AxisWords words_of(const GridAxis& axis, GridKind kind, bool is_x) {
  if (kind == GridKind::geographic) return {is_x ? "longitude" : "latitude", is_x ? "longitude" : "latitude"};
  if (kind == GridKind::plain) return {"", axis.name.c_str()};
  return {is_x ? "projection_x_coordinate" : "projection_y_coordinate",
          is_x ? "x on the projection's plane" : "y on the projection's plane"};
}

void describe(NcTarget& writer, int id, const char* standard_name, const std::string& long_name, const std::string& unit) {
  writer.attribute(id, "standard_name", std::string(standard_name));
  writer.attribute(id, "long_name", long_name);
  writer.attribute(id, "units", unit);
  writer.attribute(id, "coverage_content_type", std::string("coordinate"));
}

void define_time(NcTarget& writer, const FieldHeader& options, FieldCoordinates& ids) {
  if (options.time_days.empty()) return;
  if (!has_scalar_time(options)) ids.time_dimension = writer.dimension("time", options.time_days.size());
  ids.time = writer.variable("time", NC_DOUBLE, has_scalar_time(options) ? std::vector<int>() : std::vector{ids.time_dimension});
  if (!options.calendar_time) {
    // A bare unit of time would be read as a length of time.
    describe(writer, ids.time, "", "time, counted as the observations count it", "1");
    return;
  }
  describe(writer, ids.time, "time", "time", "days since 1950-01-01 00:00:00");
  writer.attribute(ids.time, "calendar", std::string("standard"));
  writer.attribute(ids.time, "axis", std::string("T"));
}

void define_members(NcTarget& writer, const FieldHeader& options, FieldCoordinates& ids) {
  std::size_t members = 0;
  for (const FieldLayer& layer : options.layers) members = std::max(members, layer.members);
  if (members == 0) return;
  ids.member_dimension = writer.dimension("member", members);
  ids.member = writer.variable("member", NC_INT, {ids.member_dimension});
  describe(writer, ids.member, "realization", "member of the ensemble", "1");
}

void define_grid_mapping(NcTarget& writer, const Grid& grid) {
  const int id = writer.variable("crs", NC_INT, {});
  writer.attribute(id, "long_name", std::string("coordinate reference system"));
  for (const auto& [name, attribute] : grid.crs.empty() ? geographic_grid_mapping() : grid_mapping_of(grid.crs)) {
    writer.attribute(id, name, attribute.text);
    writer.attribute(id, name, NC_DOUBLE, attribute.numbers);
  }
}

void define_positions(NcTarget& writer, const FieldChunks& chunks, FieldCoordinates& ids) {
  const NcStorage storage = {.chunks = {chunks.rows, chunks.columns}};
  ids.longitude = writer.variable("longitude", NC_DOUBLE, {ids.y_dimension, ids.x_dimension}, storage);
  ids.latitude = writer.variable("latitude", NC_DOUBLE, {ids.y_dimension, ids.x_dimension}, storage);
  for (const int id : {ids.longitude, ids.latitude}) {
    const bool lon = id == ids.longitude;
    writer.fill(id, NC_FILL_DOUBLE);
    describe(writer, id, lon ? "longitude" : "latitude", lon ? "longitude" : "latitude", lon ? "degrees_east" : "degrees_north");
  }
}

void write_axis(NcTarget& writer, int id, const GridAxis& axis) {
  std::vector<double> centres(axis.count);
  for (std::size_t i = 0; i < axis.count; ++i) centres[i] = axis.at(i);
  writer.write(id, {0}, {axis.count}, std::span<const double>(centres));
}

Extent extent_of_box(const Grid& grid) {
  const double west = grid.x.at(0) - 0.5 * grid.x.step, east = grid.x.at(grid.x.count - 1) + 0.5 * grid.x.step;
  const double south = std::max(-90.0, grid.y.at(0) - 0.5 * grid.y.step);
  const double north = std::min(90.0, grid.y.at(grid.y.count - 1) + 0.5 * grid.y.step);
  if (east - west > 360.0 - 1e-9) return {-180.0, south, 180.0, north};
  const Arc arc = {west, east - west};
  return {arc.west(), south, arc.east(), north};
}

// Grows with positions that come one by one.
class GrowingExtent {
 public:
  void add(double lon_deg, double lat_deg) {
    if (std::isnan(lon_deg) || std::isnan(lat_deg)) return;
    south_ = std::min(south_, lat_deg), north_ = std::max(north_, lat_deg);
    longitudes_.add(lon_deg);
    any_ = true;
  }
  void add_pole(double lat_deg) {
    south_ = std::min(south_, lat_deg), north_ = std::max(north_, lat_deg);
    around_ = true;
  }
  Extent extent() const {
    if (around_ || !any_) return {-180.0, south_, 180.0, north_};
    const Arc arc = longitudes_.arc();
    return {arc.west(), south_, arc.east(), north_};
  }

 private:
  static constexpr double kFar = std::numeric_limits<double>::infinity();
  double south_ = kFar, north_ = -kFar;
  LongitudeExtent longitudes_;
  bool any_ = false, around_ = false;
};

// A pole inside the map is further than any of its cells' centres.
void add_poles(const Grid& grid, GrowingExtent& extent) {
  for (const double lat : {90.0, -90.0}) {
    double x = 0.0, y = lat;
    projection_of(grid.crs)->forward(std::span(&x, 1), std::span(&y, 1));
    const bool inside = std::abs(x - grid.x.at(0) - 0.5 * grid.x.step * static_cast<double>(grid.x.count - 1)) <=
                            0.5 * grid.x.step * static_cast<double>(grid.x.count) &&
                        std::abs(y - grid.y.at(0) - 0.5 * grid.y.step * static_cast<double>(grid.y.count - 1)) <=
                            0.5 * grid.y.step * static_cast<double>(grid.y.count);
    if (inside) extent.add_pole(lat);
  }
}

Extent write_positions(NcTarget& writer, const Grid& grid, const FieldChunks& chunks, const FieldCoordinates& ids) {
  GrowingExtent extent;
  std::vector<double> lon, lat;
  for (std::size_t row = 0; row < grid.y.count; row += chunks.rows) {
    const std::size_t rows = std::min(chunks.rows, grid.y.count - row);
    lon.resize(rows * grid.x.count);
    lat.resize(rows * grid.x.count);
    grid_positions(grid, row * grid.x.count, lon, lat);
    for (std::size_t i = 0; i < lon.size(); ++i) extent.add(lon[i], lat[i]);
    for (std::size_t i = 0; i < lon.size(); ++i) {
      if (std::isnan(lon[i]) || std::isnan(lat[i])) lon[i] = lat[i] = NC_FILL_DOUBLE;
    }
    writer.write(ids.longitude, {row, 0}, {rows, grid.x.count}, std::span<const double>(lon));
    writer.write(ids.latitude, {row, 0}, {rows, grid.x.count}, std::span<const double>(lat));
  }
  add_poles(grid, extent);
  return extent.extent();
}

}  // namespace

GridKind kind_of(const Grid& grid) {
  if (!grid.crs.empty()) return GridKind::projected;
  return grid.x.unit == "degrees_east" && grid.y.unit == "degrees_north" ? GridKind::geographic : GridKind::plain;
}

bool has_scalar_time(const FieldHeader& options) {
  return options.time_days.size() == 1 && kind_of(options.grid) == GridKind::projected;
}

FieldChunks choose_chunks(const Grid& grid, std::size_t slots) {
  const std::size_t rows_that_fit = std::max<std::size_t>(1, kCacheNumbers / (grid.x.count * std::max<std::size_t>(1, slots)));
  const std::size_t rows = even_part(grid.y.count, std::min(kChunkSide, rows_that_fit));
  return {rows, even_part(grid.x.count, std::max<std::size_t>(1, kChunkNumbers / rows))};
}

FieldCoordinates define_axes(NcTarget& writer, const FieldHeader& options) {
  const Grid& grid = options.grid;
  const GridKind kind = kind_of(grid);
  FieldCoordinates ids;
  define_time(writer, options, ids);
  define_members(writer, options, ids);
  ids.y_dimension = writer.dimension(grid.y.name, grid.y.count);
  ids.x_dimension = writer.dimension(grid.x.name, grid.x.count);
  const auto define_axis = [&](const GridAxis& axis, int dimension, bool is_x) {
    const int id = writer.variable(axis.name, NC_DOUBLE, {dimension});
    const AxisWords words = words_of(axis, kind, is_x);
    describe(writer, id, words.standard_name, words.long_name, axis.unit);
    writer.attribute(id, "axis", std::string(is_x ? "X" : "Y"));
    return id;
  };
  ids.y = define_axis(grid.y, ids.y_dimension, false);
  ids.x = define_axis(grid.x, ids.x_dimension, true);
  return ids;
}

void define_places(NcTarget& writer, const Grid& grid, const FieldChunks& chunks, FieldCoordinates& ids) {
  if (kind_of(grid) != GridKind::plain) define_grid_mapping(writer, grid);
  if (kind_of(grid) == GridKind::projected) define_positions(writer, chunks, ids);
}

Extent write_coordinates(NcTarget& writer, const FieldHeader& options, const FieldChunks& chunks, const FieldCoordinates& ids) {
  const Grid& grid = options.grid;
  const std::span<const double> times = options.time_days;
  if (ids.time_dimension >= 0)
    writer.write(ids.time, {0}, {times.size()}, times);
  else if (ids.time >= 0)
    writer.write(ids.time, {}, {}, times);
  if (ids.member >= 0) {
    std::size_t members = 0;
    for (const FieldLayer& layer : options.layers) members = std::max(members, layer.members);
    std::vector<std::int32_t> numbers(members);
    std::iota(numbers.begin(), numbers.end(), 0);
    writer.write(ids.member, {0}, {members}, std::span<const std::int32_t>(numbers));
  }
  write_axis(writer, ids.y, grid.y);
  write_axis(writer, ids.x, grid.x);
  return kind_of(grid) == GridKind::projected ? write_positions(writer, grid, chunks, ids) : extent_of_box(grid);
}

}  // namespace drift
