#pragma once

#include <cstddef>
#include <vector>

#include "drift/field_file.h"
#include "netcdf/netcdf_writer.h"

namespace drift {

// Surface on which a grid lies.
enum class GridKind {
  geographic,  // longitudes and latitudes
  projected,   // a projected CRS
  plain,       // x and y of no CRS
};
GridKind kind_of(const Grid& grid);

// The only time of a projected map is a coordinate without a dimension, which leaves its fields two-dimensional: GMT shows the
// first two-dimensional variable of a file, which would else be the cells' longitudes.
bool has_scalar_time(const FieldHeader& options);

// Chunks of a map, [rows, columns]: about half a megabyte, and few enough rows that a row of chunks of every layer and member
// fits into a bounded amount of memory while a file is written from the first row to the last.
struct FieldChunks {
  std::size_t rows;
  std::size_t columns;
};
FieldChunks choose_chunks(const Grid& grid, std::size_t slots);  // slots: layers, each member counted

// Ids in the file; -1 where there is none.
struct FieldCoordinates {
  int time_dimension = -1, member_dimension = -1, y_dimension = -1, x_dimension = -1;  // time's: also if it is a scalar
  int time = -1, member = -1, y = -1, x = -1;
  int longitude = -1, latitude = -1;  // [y, x], of a projected grid
};

// Variables in the order of definition: time, members and axes; the layers; then the grid mapping and a projected grid's
// longitudes and latitudes. GMT, ncview and others that are given no name show the first variable that can be a map. There are no
// bounds of cells: the values belong to the cells' centres, and GMT prefers any two-dimensional variable to a field with a time.
struct FieldVariables {
  FieldCoordinates coordinates = {};
  std::vector<int> layers = {};
};
FieldVariables define_variables(NcTarget& writer, const FieldHeader& options, const FieldChunks& chunks);

FieldCoordinates define_axes(NcTarget& writer, const FieldHeader& options);
void define_places(NcTarget& writer, const Grid& grid, const FieldChunks& chunks, FieldCoordinates& ids);

// Throws UsageError unless the header can be a file's: names, axes and times.
void check_header(const FieldHeader& options);
std::size_t slots_of(const FieldHeader& options);  // layers, each member counted

// Extent of a map, degrees. west > east: over the date line.
struct Extent {
  double west, south, east, north;
};

// Writes all coordinates. The extent means something on the Earth only.
Extent write_coordinates(NcTarget& writer, const FieldHeader& options, const FieldChunks& chunks, const FieldCoordinates& ids);

// The attributes of the file: those of the options, and those that follow from the rest where the options do not give them.
void write_file_attributes(NcTarget& writer, const FieldHeader& options, const Extent& extent);

}  // namespace drift
