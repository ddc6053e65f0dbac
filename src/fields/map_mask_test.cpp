#include "fields/map_mask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/field.h"
#include "drift/field_file.h"
#include "netcdf/netcdf_testing.h"
#include "output/gmt.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = MapMask::Kind;

// A field "conc" that is 0.1 times the column, missing in the first row, and over several times 1 at the last.
void write_ice(const std::filesystem::path& path, const std::string& grid, std::size_t times) {
  FieldHeader header = {.grid = parse_grid(grid), .layers = {{.info = {"conc", "Ice", "sea_ice_area_fraction", "1"}}}};
  for (std::size_t time = 0; time < times; ++time) header.time_days.push_back(25567.0 + static_cast<double>(time));
  FieldFileWriter file(path, header);
  for (std::size_t time = 0; time < header.times(); ++time) {
    std::vector<double> values(header.grid.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t column = i % header.grid.x.count;
      values[i] = i < header.grid.x.count         ? std::nan("")
                  : time > 0 && time + 1 == times ? 1.0
                                                  : 0.1 * static_cast<double>(column);
    }
    file.write(0, time, 0, values);
  }
  file.finish();
}

FieldModel sphere() {
  FieldModel model;
  model.domain = sphere_domain();
  return model;
}

std::vector<int> kept(const FieldModel& model, const std::string& masks, std::vector<double> lon, std::vector<double> lat,
                      std::optional<double> time = {}) {
  const MapMasker mask(model, parse_masks(masks));
  mask.fixed(lon, lat);
  mask.varying(lon, lat, time);
  std::vector<int> out;
  for (const double x : lon) out.push_back(std::isfinite(x) ? 1 : 0);
  return out;
}

TEST(ParseMasks, ReadsOneOrSeveral) {
  EXPECT_TRUE(parse_masks("none").empty());
  const std::vector<MapMask> masks = parse_masks("ocean,data:150km,ice/conc.nc:flag in 1,2,shelf.geojson,b.nc:conc>0.15");
  ASSERT_EQ(masks.size(), 5u);
  EXPECT_EQ(masks[0].kind, Kind::ocean);
  EXPECT_EQ(masks[1].kind, Kind::data);
  EXPECT_EQ(masks[1].distance, 150.0);
  EXPECT_EQ(masks[2].kind, Kind::condition);
  EXPECT_EQ(masks[2].file, "ice/conc.nc");
  EXPECT_EQ(masks[2].condition, "flag in 1,2");
  EXPECT_EQ(masks[3].kind, Kind::polygons);
  EXPECT_EQ(masks[3].file, "shelf.geojson");
  EXPECT_EQ(masks[4].condition, "conc>0.15");
  EXPECT_EQ(parse_masks("a.nc4:conc < 1").front().file, "a.nc4");
  EXPECT_EQ(parse_masks("ice.zarr:conc < 1,ocean").front().file, "ice.zarr");
  const MapMask value = parse_masks("truth.nc:ssh,data:50").front();
  EXPECT_EQ(value.kind, Kind::condition);
  EXPECT_EQ(value.condition, "ssh");
}

TEST(ParseMasks, RefusesOthersAndSaysWhatThereIs) {
  for (const char* text : {"", "land", "data:", "data:-1km", "ocean,", "ocean,land", "ice.nc", "ice.nc:", "ice.nc:conc!",
                           "ice.nc4", "none,ocean", ".geojson"}) {
    try {
      parse_masks(text);
      FAIL() << text;
    } catch (const UsageError& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
    }
  }
  try {
    parse_masks("land");
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'land': must be none, ocean, data:DISTANCE"));
  }
}

TEST(MapMasker, KeepsWhereAConditionHoldsInTheNearestCell) {
  const ScratchFolder folder;
  write_ice(folder / "ice.nc", "bbox:170,60,-170,64:2", 0);  // ten columns, two rows, over the date line
  const std::string mask = (folder / "ice.nc").string() + ":conc >= 0.35";
  // Columns 3, 4 and 9, west of the grid, the missing row, north of it.
  EXPECT_THAT(kept(sphere(), mask, {177.9, 178.1, -171.0, 168.0, -171.0, -171.0}, {63.0, 63.0, 63.0, 63.0, 61.0, 65.0}),
              ElementsAre(0, 1, 1, 0, 0, 0));
}

TEST(MapMasker, TakesTheNearestTimeOfTheFile) {
  const ScratchFolder folder;
  write_ice(folder / "ice.nc", "bbox:0,60,10,64:2", 3);
  const std::string mask = (folder / "ice.nc").string() + ":conc > 0.9";
  EXPECT_THAT(kept(sphere(), mask, {1.0}, {63.0}, 25567.4), ElementsAre(0));
  EXPECT_THAT(kept(sphere(), mask, {1.0}, {63.0}, 25568.6), ElementsAre(1));
  EXPECT_THAT(kept(sphere(), mask, {1.0}, {63.0}, 25569.9), ElementsAre(1)) << "within a step of the last";
  EXPECT_THROW(kept(sphere(), mask, {1.0}, {63.0}, 25580.0), UsageError);
  EXPECT_THROW(kept(sphere(), mask, {1.0}, {63.0}), UsageError);
  write_ice(folder / "one.nc", "bbox:0,60,10,64:2", 1);
  EXPECT_THAT(kept(sphere(), (folder / "one.nc").string() + ":conc < 0.05", {1.0, 5.0}, {63.0, 63.0}), ElementsAre(1, 0))
      << "a file of one time holds for all";
}

TEST(MapMasker, AsksProjectedGridsToo) {
  const ScratchFolder folder;
  write_ice(folder / "ice.nc", "EPSG:3413:500km:-1000,-1000,1000,1000", 0);
  const std::string mask = (folder / "ice.nc").string() + ":conc > 0.15";
  // EPSG:3413 has 45 W downwards: the pole is the centre; 45 E is to the right, 135 W to the left.
  EXPECT_THAT(kept(sphere(), mask, {45.0, -135.0, 45.0}, {85.0, 85.0, 60.0}), ElementsAre(1, 0, 0));
}

TEST(MapMasker, KeepsWhereAVariableHasAValue) {
  const ScratchFolder folder;
  write_ice(folder / "ice.nc4", "bbox:0,60,10,64:2", 0);  // the first row is missing
  EXPECT_THAT(kept(sphere(), (folder / "ice.nc4").string() + ":conc", {1.0, 1.0, 11.0}, {61.0, 63.0, 63.0}),
              ElementsAre(0, 1, 0));
}

// An array of a Zarr store of version 2, in one piece and uncompressed.
void write_zarr_array(const std::filesystem::path& folder, const std::string& shape, const std::string& dimensions,
                      const std::string& unit, const std::vector<double>& numbers) {
  std::filesystem::create_directories(folder);
  write_bytes(folder / ".zarray", R"({"zarr_format": 2, "dtype": "<f8", "fill_value": "NaN", "order": "C", "compressor": null, )"
                                  R"("filters": null, "shape": [)" +
                                      shape + R"(], "chunks": [)" + shape + "]}");
  write_bytes(folder / ".zattrs", R"({"units": ")" + unit + R"(", "_ARRAY_DIMENSIONS": [)" + dimensions + "]}");
  const auto* const bytes = reinterpret_cast<const char*>(numbers.data());
  write_bytes(folder / (shape.find(',') == std::string::npos ? "0" : "0.0"), std::string(bytes, numbers.size() * sizeof(double)));
}

TEST(MapMasker, AsksAZarrStore) {
  const ScratchFolder folder;
  const std::filesystem::path store = folder / "ice.zarr";
  std::filesystem::create_directories(store);
  write_bytes(store / ".zgroup", R"({"zarr_format": 2})");
  write_zarr_array(store / "lon", "3", R"("lon")", "degrees_east", {0.0, 1.0, 2.0});
  write_zarr_array(store / "lat", "2", R"("lat")", "degrees_north", {60.0, 61.0});
  write_zarr_array(store / "conc", "2, 3", R"("lat", "lon")", "1", {0.0, 0.5, 1.0, 0.9, std::nan(""), 0.1});
  EXPECT_THAT(
      kept(sphere(), store.string() + ":conc > 0.4", {0.1, 1.2, 2.0, 0.0, 1.0, 2.0}, {60.1, 60.4, 60.0, 61.0, 61.0, 61.0}),
      ElementsAre(0, 1, 1, 1, 0, 0));
  EXPECT_THAT(kept(sphere(), store.string() + ":conc", {0.0, 1.0, 4.0}, {61.0, 61.0, 61.0}), ElementsAre(1, 0, 0));
}

// Rows of 3 cells along meridians about 10 E, turned by 45 degrees, at 80 N.
TEST(MapMasker, AsksTheNearestCellOfTwoDimensionalPositions) {
  const ScratchFolder folder;
  {
    NcTestFile file(folder / "swath.nc");
    const int row = file.dimension("row", 3), column = file.dimension("column", 3);
    std::vector<double> lon, lat;
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) {
        lon.push_back(10.0 + 2.0 * (c - r));
        lat.push_back(80.0 + 0.4 * (c + r));
      }
    }
    file.variable("lon", NC_DOUBLE, {row, column}, lon, "degrees_east");
    file.variable("lat", NC_DOUBLE, {row, column}, lat, "degrees_north");
    file.variable("freeboard", NC_DOUBLE, {row, column}, {-1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0});
  }
  const std::string mask = (folder / "swath.nc").string() + ":freeboard > 0";
  // The first cell's centre, the second's, between both but nearer the second, the last, and two cells beyond.
  EXPECT_THAT(kept(sphere(), mask, {10.0, 12.0, 11.2, 10.0, 10.0}, {80.0, 80.4, 80.24, 81.6, 82.4}), ElementsAre(0, 1, 1, 1, 0));
}

TEST(MapMasker, RefusesWhatTheFileHasNot) {
  const ScratchFolder folder;
  write_ice(folder / "ice.nc", "bbox:0,60,10,64:2", 0);
  const auto message = [&](const std::string& condition) -> std::string {
    try {
      kept(sphere(), (folder / "ice.nc").string() + ":" + condition, {1.0}, {63.0});
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(message("cond > 0.15"), HasSubstr("no variable 'cond' on a grid; did you mean 'conc'?"));
  EXPECT_THAT(message("conc in open"), HasSubstr("has words"));
  FieldModel plane;
  plane.domain = xy_domain("m");
  EXPECT_THROW(kept(plane, (folder / "ice.nc").string() + ":conc > 0.15", {1.0}, {63.0}), UsageError);
  EXPECT_THROW(kept(plane, "ocean", {1.0}, {63.0}), UsageError);
}

TEST(MapMasker, KeepsWhatAllMasksKeep) {
  const ScratchFolder folder;
  write_ice(folder / "ice.nc", "bbox:0,60,10,64:2", 0);
  std::ofstream(folder / "area.geojson") << R"({"type":"Polygon","coordinates":[[[2,60],[20,60],[20,64],[2,64],[2,60]]]})";
  const std::string ice = (folder / "ice.nc").string() + ":conc < 0.35", area = (folder / "area.geojson").string();
  const std::vector<double> lon = {1.0, 3.0, 5.0, 9.0}, lat(4, 63.0);
  EXPECT_THAT(kept(sphere(), ice, lon, lat), ElementsAre(1, 1, 1, 0));
  EXPECT_THAT(kept(sphere(), area, lon, lat), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(kept(sphere(), ice + "," + area, lon, lat), ElementsAre(0, 1, 1, 0));
  FieldModel near = sphere();
  Observations observations;
  observations.lon_deg = {5.0};
  observations.lat_deg = {63.0};
  observations.value = {0.0};
  near.cells = data_cells(near.domain, observations);
  EXPECT_THAT(kept(near, ice + "," + area + ",data:30km", lon, lat), ElementsAre(0, 0, 1, 0));
  if (find_program("gmt").empty()) return;
  EXPECT_THAT(kept(near, "ocean,data:30km", {5.0, 5.0}, {63.0, 45.0}), ElementsAre(1, 0));
}

}  // namespace
}  // namespace drift
