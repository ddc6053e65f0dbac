#include "data/nc_grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "netcdf/netcdf_reader.h"
#include "netcdf/netcdf_testing.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<double> counted(std::size_t count) {
  std::vector<double> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<double>(i);
  return numbers;
}

std::string refusal(const NcReader& file, const std::string& name) {
  try {
    NcGrid grid = grid_of(file, *file.find(name));
    read_positions(file, grid);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(NcGrid, HasAscendingAxesAndSlicesAlongThemHoweverTheFileTurnsThem) {
  const ScratchFolder folder;
  {
    NcTestFile file(folder / "a.nc");
    const int time = file.dimension("time", 2), lon = file.dimension("lon", 3), lat = file.dimension("lat", 2);
    file.variable("time", NC_DOUBLE, {time}, {0, 1}, "days since 2000-01-01");
    file.variable("lon", NC_FLOAT, {lon}, {179, 180, -179}, "degrees_east");
    file.variable("lat", NC_FLOAT, {lat}, {10, 5}, "degrees_north");
    file.variable("t", NC_DOUBLE, {lon, time, lat}, counted(12));  // not a time, in spite of its name
  }
  const NcReader file(folder / "a.nc");
  ASSERT_EQ(variables_on_grids(file), std::vector{file.find("t")});
  NcGrid grid = grid_of(file, *file.find("t"));
  read_positions(file, grid);
  EXPECT_EQ(grid.kind, NcGridKind::geographic);
  EXPECT_THAT(grid.x.at, ElementsAre(179.0, 180.0, 181.0));
  EXPECT_THAT(grid.y.at, ElementsAre(5.0, 10.0));
  EXPECT_FALSE(grid.x.reversed);
  EXPECT_TRUE(grid.y.reversed);
  EXPECT_EQ(grid.time, file.find("time"));
  EXPECT_EQ(grid.time_dimension, 1);
  const NcSlice slice = read_slice(file, grid, 1);
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      EXPECT_EQ(slice.at(row, column), static_cast<double>(4 * column + 2 + (1 - row)));  // [lon, time, lat]
    }
  }
}

TEST(NcGrid, KnowsATimeWithoutADimension) {
  const ScratchFolder folder;
  {
    NcTestFile file(folder / "a.nc");
    const int lon = file.dimension("lon", 3), lat = file.dimension("lat", 2);
    file.variable("time", NC_DOUBLE, {}, {7.5}, "days since 2000-01-01");
    file.variable("lon", NC_FLOAT, {lon}, {179, 180, -179}, "degrees_east");
    file.variable("lat", NC_FLOAT, {lat}, {10, 5}, "degrees_north");
    file.variable("ice", NC_DOUBLE, {lat, lon}, counted(6));
  }
  const NcReader file(folder / "a.nc");
  const NcGrid grid = grid_of(file, *file.find("ice"));
  EXPECT_EQ(grid.time, file.find("time"));
  EXPECT_EQ(grid.time_dimension, -1);
  EXPECT_EQ(read_slice(file, grid, 0).stored.size(), 6u);
}

// x and y with two-dimensional longitudes and latitudes beside them.
void write_projected(const std::filesystem::path& path, const char* mapping, bool positions) {
  NcTestFile file(path);
  const int y = file.dimension("y", 2), x = file.dimension("x", 3), member = file.dimension("member", 4);
  file.variable("x", NC_DOUBLE, {x}, {0, 1, 2}, "km", "projection_x_coordinate");
  file.variable("y", NC_DOUBLE, {y}, {5, 6}, "km", "projection_y_coordinate");
  if (positions) file.variable("lon", NC_DOUBLE, {y, x}, counted(6), "degrees_east");
  if (positions) file.variable("lat", NC_DOUBLE, {y, x}, counted(6), "degrees_north");
  const int value = file.variable("ice", NC_DOUBLE, {member, y, x}, counted(24));
  if (*mapping == '\0') return;
  const int crs = file.variable("crs", NC_INT, {}, {0});
  file.attribute(value, "grid_mapping", "crs");
  file.attribute(crs, "grid_mapping_name", mapping);
  file.attribute(crs, "straight_vertical_longitude_from_pole", NC_DOUBLE, {-45.0});
  file.attribute(crs, "latitude_of_projection_origin", NC_DOUBLE, {90.0});
  file.attribute(crs, "standard_parallel", NC_DOUBLE, {70.0});
}

TEST(NcGrid, TakesAGridMappingThenPositionsOfCellsThenThePlane) {
  const ScratchFolder folder;
  const auto kind_of = [&](const char* mapping, bool positions) {
    write_projected(folder / "a.nc", mapping, positions);
    const NcReader file(folder / "a.nc");
    EXPECT_EQ(variables_on_grids(file), std::vector{file.find("ice")});  // not the longitudes, which lie along x and y too
    NcGrid grid = grid_of(file, *file.find("ice"));
    read_positions(file, grid);
    EXPECT_EQ(grid.other_dimensions().size(), 1U);
    if (grid.kind == NcGridKind::projected) {
      EXPECT_THAT(grid.y.at, ElementsAre(5000.0, 6000.0));
    }
    if (grid.kind == NcGridKind::plane) {
      EXPECT_THAT(grid.y.at, ElementsAre(5.0, 6.0));
    }
    if (grid.kind == NcGridKind::curvilinear) {
      EXPECT_EQ(grid.lon, counted(6));
    }
    EXPECT_EQ(grid.rows(), 2U);
    EXPECT_EQ(grid.columns(), 3U);
    return grid.kind;
  };
  EXPECT_EQ(kind_of("polar_stereographic", true), NcGridKind::projected);
  EXPECT_EQ(kind_of("polar_stereographic", false), NcGridKind::projected);
  EXPECT_EQ(kind_of("unheard_of", true), NcGridKind::curvilinear);
  EXPECT_EQ(kind_of("", true), NcGridKind::curvilinear);
  EXPECT_EQ(kind_of("", false), NcGridKind::plane);
  write_projected(folder / "b.nc", "unheard_of", false);
  EXPECT_THAT(refusal(NcReader(folder / "b.nc"), "ice"), HasSubstr("grid mapping 'crs'"));
}

TEST(NcGrid, ADimensionsOwnAxisComesBeforeTwoDimensionalPositions) {
  const ScratchFolder folder;
  {
    NcTestFile file(folder / "a.nc");
    const int lat = file.dimension("lat", 2), lon = file.dimension("lon", 2);
    file.variable("lat", NC_DOUBLE, {lat}, {1, 2}, "degrees_north");
    file.variable("lon", NC_DOUBLE, {lon}, {1, 2}, "degrees_east");
    file.variable("cell_lat", NC_DOUBLE, {lat, lon}, counted(4), "degrees_north");
    file.variable("cell_lon", NC_DOUBLE, {lat, lon}, counted(4), "degrees_east");
    file.variable("ssh", NC_DOUBLE, {lat, lon}, counted(4), "m");
  }
  const NcReader file(folder / "a.nc");
  EXPECT_EQ(grid_of(file, *file.find("ssh")).kind, NcGridKind::geographic);
}

TEST(NcGrid, RefusesWhatLiesOnNoGridAndAxesThatGoToAndFro) {
  const ScratchFolder folder;
  {
    NcTestFile file(folder / "a.nc");
    const int n = file.dimension("n", 3), lat = file.dimension("lat", 3), lon = file.dimension("lon", 3);
    file.variable("track_lon", NC_DOUBLE, {n}, counted(3), "degrees_east");
    file.variable("track_lat", NC_DOUBLE, {n}, counted(3), "degrees_north");
    file.variable("along", NC_DOUBLE, {n}, counted(3), "m");
    file.variable("lat", NC_DOUBLE, {lat}, {1, 3, 2}, "degrees_north");
    file.variable("lon", NC_DOUBLE, {lon}, {1, 2, 3}, "degrees_east");
    file.variable("ssh", NC_DOUBLE, {lat, lon}, counted(9), "m");
  }
  const NcReader file(folder / "a.nc");
  EXPECT_THAT(refusal(file, "along"), HasSubstr("'along' is not on a grid"));
  EXPECT_THAT(refusal(file, "ssh"), HasSubstr("the axis 'lat' runs neither up nor down throughout"));
}

}  // namespace
}  // namespace drift
