#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/field.h"
#include "drift/read_arrays.h"
#include "geo/grid_mapping.h"
#include "simulate/truth_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

GridFile file_on(std::vector<double> x, std::vector<double> y) {
  return {.x = std::move(x), .y = std::move(y), .value = [](double lat, double lon, double) { return lat + lon; }};
}

std::string refusal(const GridFile& file) {
  const ScratchFolder folder;
  write_grid_file(folder / "t.nc", file);
  try {
    grid_from_file(folder / "t.nc");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(GridFromFile, IsTheGridThatTheFileWasWrittenOn) {
  const ScratchFolder folder;
  const Grid grid = parse_grid("bbox:-30,60,20,80:0.25");
  GridFile file = file_on(steps(grid.x.first, grid.x.step, grid.x.count), steps(grid.y.first, grid.y.step, grid.y.count));
  std::reverse(file.y.begin(), file.y.end());  // north to south
  write_grid_file(folder / "t.nc", file);
  Grid found = grid_from_file(folder / "t.nc");
  EXPECT_THAT(found.name, HasSubstr("t.nc"));
  found.name = grid.name;
  EXPECT_EQ(found, grid);
  EXPECT_EQ(read_grid((folder / "t.nc").string()).x, grid.x);
  EXPECT_EQ(read_grid("file:" + (folder / "t.nc").string()).y, grid.y);
  EXPECT_EQ(read_grid("global:1"), parse_grid("global:1"));
}

TEST(GridFromFile, SeesEvenStepsThroughSinglePrecision) {
  const ScratchFolder folder;
  GridFile file = file_on(steps(-179.95, 0.1, 3600), steps(60.05, 0.1, 10));
  file.axis_type = NC_FLOAT;
  write_grid_file(folder / "t.nc", file);
  const Grid grid = grid_from_file(folder / "t.nc");
  EXPECT_EQ(grid.x.step, 0.1);
  EXPECT_EQ(grid.x.first, -179.95);
  EXPECT_EQ(grid.y.step, 0.1);
}

TEST(GridFromFile, DoesNotRepeatTheFirstMeridian) {
  const ScratchFolder folder;
  write_grid_file(folder / "t.nc", file_on(steps(0.0, 1.0, 361), steps(-90.0, 1.0, 181)));
  const Grid grid = grid_from_file(folder / "t.nc");
  EXPECT_EQ(grid.x.count, 360u);
  EXPECT_EQ(grid.y.count, 181u);
}

TEST(GridFromFile, KeepsTheProjection) {
  const ScratchFolder folder;
  const Grid grid = parse_grid("EPSG:6931:100km:-2000,-1000,2000,1000");
  GridFile file = file_on(steps(grid.x.first, grid.x.step, grid.x.count), steps(grid.y.first, grid.y.step, grid.y.count));
  file.x_name = "x", file.y_name = "y", file.x_unit = file.y_unit = "m";
  file.mapping = {{"grid_mapping_name", "lambert_azimuthal_equal_area"},
                  {"crs_wkt", grid_mapping_of("EPSG:6931").at("crs_wkt").text}};
  write_grid_file(folder / "t.nc", file);
  Grid found = grid_from_file(folder / "t.nc");
  EXPECT_EQ(found.crs, "EPSG:6931");
  found.name = grid.name;
  EXPECT_EQ(found, grid);
}

TEST(GridFromArrays, IsTheGridOfTheirCoordinates) {
  const auto axis = [](const std::string& name, std::vector<double> at, const std::string& units) {
    return ArrayVariable{
        .name = name, .dimensions = {name}, .attributes = {{"units", {.text = units}}}, .numbers = [at = std::move(at)] {
          return at;
        }};
  };
  const Grid want = parse_grid("bbox:-30,60,-28,61:0.25");
  ArrayFile arrays = {.name = "the arrays", .lengths = {{"lat", 4}, {"lon", 8}}};
  arrays.variables = {axis("lon", steps(-29.875, 0.25, 8), "degrees_east"),
                      axis("lat", steps(60.125, 0.25, 4), "degrees_north"),
                      {.name = "sst", .dimensions = {"lat", "lon"}}};
  const Grid found = grid_from_arrays(arrays);
  EXPECT_EQ(found.x, want.x);
  EXPECT_EQ(found.y, want.y);
}

TEST(GridFromFile, RefusesWhatIsNoEvenGrid) {
  EXPECT_THAT(refusal(file_on(steps(0.0, 1.0, 5), {40.0, 41.0, 43.0})), HasSubstr("latitude is not evenly spaced"));
  EXPECT_THAT(refusal(file_on({3.0}, steps(0.0, 1.0, 5))), HasSubstr("only one longitude"));
}

}  // namespace
}  // namespace drift
