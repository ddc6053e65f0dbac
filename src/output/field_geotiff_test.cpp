#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/field_sink.h"
#include "output/gmt.h"

extern char** environ;  // NOLINT(*-redundant-declaration)

namespace drift {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const double kNone = std::nan("");

// GDAL's own word on a file.
class Geotiff : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("gdal_translate").empty() || find_program("gdalinfo").empty()) GTEST_SKIP() << "GDAL is not installed";
  }

  std::string run(std::vector<std::string> words) const {
    std::vector<std::string> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
    const std::filesystem::path work = folder / "work";
    std::filesystem::create_directories(work);
    const std::string program = words.front();
    words.erase(words.begin());
    return run_child({.name = "GDAL", .path = find_program(program), .environment = environment}, words, work, {});
  }
  json information(const std::filesystem::path& path) const { return json::parse(run({"gdalinfo", "-json", path.string()})); }
  // The value of a band at a pixel, counted from the top left.
  std::string at(const std::filesystem::path& path, int column, int row, int band) const {
    std::string text = run(
        {"gdallocationinfo", "-valonly", "-b", std::to_string(band), path.string(), std::to_string(column), std::to_string(row)});
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  ScratchFolder folder;
};

// The layers' numbers tell layer, time, member and place apart.
double value_at(std::size_t layer, std::size_t time, std::size_t member, std::size_t cell) {
  return cell == 0 ? kNone : static_cast<double>(1000 * layer + 100 * time + 10 * member) + 0.25 * static_cast<double>(cell);
}

void write(const std::filesystem::path& path, const FieldHeader& header) {
  const auto sink = sink_for(path)(header);
  const std::size_t columns = header.grid.x.count;
  for (std::size_t row = 0; row < header.grid.y.count; ++row) {
    for (std::size_t time = 0; time < header.times(); ++time) {
      for (std::size_t layer = 0; layer < header.layers.size(); ++layer) {
        for (std::size_t member = 0; member < std::max<std::size_t>(1, header.layers[layer].members); ++member) {
          std::vector<double> values(columns);
          for (std::size_t i = 0; i < columns; ++i) values[i] = value_at(layer, time, member, row * columns + i);
          sink->write(layer, time, row, values, member);
        }
      }
    }
  }
  sink->finish();
}

FieldHeader header(const std::string& grid) {
  return {.grid = parse_grid(grid),
          .time_days = {25567.0, 25568.5},
          .layers = {{.info = {"sla", "Sea <level> \"anomaly\" & more", "sea_surface_height_above_mean_sea_level", "m"}},
                     {.info = {"sla_members", "Members", "", "m"}, .members = 2}},
          .attributes = {{"title", "A map"}}};
}

TEST_F(Geotiff, IsCloudOptimisedAndHasABandPerLayerMemberAndTime) {
  write(folder / "map.tif", header("bbox:-10,60,0,66:2"));
  const json found = information(folder / "map.tif");
  EXPECT_EQ(found["driverShortName"], "GTiff");
  EXPECT_EQ(found["metadata"]["IMAGE_STRUCTURE"]["LAYOUT"], "COG");
  EXPECT_EQ(found["metadata"][""]["title"], "A map");
  EXPECT_EQ(found["geoTransform"], (std::vector<double>{-10.0, 2.0, 0.0, 66.0, 0.0, -2.0}));
  EXPECT_THAT(found["coordinateSystem"]["wkt"].get<std::string>(), HasSubstr("ID[\"EPSG\",4326]"));
  ASSERT_EQ(found["bands"].size(), 6u);
  const std::vector<std::string> names = {"sla 2020-01-01T00:00:00Z",           "sla_members 1 2020-01-01T00:00:00Z",
                                          "sla_members 2 2020-01-01T00:00:00Z", "sla 2020-01-02T12:00:00Z",
                                          "sla_members 1 2020-01-02T12:00:00Z", "sla_members 2 2020-01-02T12:00:00Z"};
  for (std::size_t band = 0; band < names.size(); ++band) {
    const json& here = found["bands"][band];
    EXPECT_EQ(here["description"], names[band]);
    EXPECT_EQ(here["type"], "Float32");
    EXPECT_EQ(here["noDataValue"], "NaN");
    EXPECT_EQ(here["unit"], "m");
  }
  EXPECT_EQ(found["bands"][0]["metadata"][""]["long_name"], "Sea <level> \"anomaly\" & more");
}

TEST_F(Geotiff, HasEveryNumberInItsPlaceWithTheNorthOnTop) {
  write(folder / "map.tif", header("bbox:-10,60,0,66:2"));
  EXPECT_THAT(at(folder / "map.tif", 0, 2, 1), testing::AnyOf("nan", "-nan", "NaN")) << "the south-western cell is missing";
  EXPECT_EQ(std::stod(at(folder / "map.tif", 1, 2, 1)), value_at(0, 0, 0, 1));
  EXPECT_EQ(std::stod(at(folder / "map.tif", 0, 0, 1)), value_at(0, 0, 0, 10));
  EXPECT_EQ(std::stod(at(folder / "map.tif", 4, 0, 4)), value_at(0, 1, 0, 14));
  EXPECT_EQ(std::stod(at(folder / "map.tif", 2, 1, 6)), value_at(1, 1, 1, 7));
}

TEST_F(Geotiff, KeepsTheCrsOfAProjectedGrid) {
  for (const char* code : {"3413", "6932"}) {
    FieldHeader polar = header(std::string("EPSG:") + code + ":500km:-2000,-1500,2000,1500");
    polar.time_days = {};
    polar.layers.pop_back();
    write(folder / "map.tif", polar);
    const json found = information(folder / "map.tif");
    EXPECT_THAT(found["coordinateSystem"]["wkt"].get<std::string>(), HasSubstr(std::string("ID[\"EPSG\",") + code + "]"));
    EXPECT_EQ(found["geoTransform"], (std::vector<double>{-2e6, 5e5, 0.0, 1.5e6, 0.0, -5e5}));
    EXPECT_EQ(found["bands"][0]["description"], "sla");
    EXPECT_EQ(std::stod(at(folder / "map.tif", 0, 0, 1)), value_at(0, 0, 0, 40));
  }
}

TEST_F(Geotiff, OfAPlaneOfNoCrsHasNone) {
  write(folder / "map.tif", header("xy:0,0,3,2:0.5"));
  EXPECT_FALSE(information(folder / "map.tif").contains("coordinateSystem"));
}

TEST_F(Geotiff, IsInDoublesWhereALayerNeedsThem) {
  FieldHeader precise = header("bbox:-10,60,0,66:2");
  precise.layers[0].digits = 12;
  write(folder / "map.tif", precise);
  EXPECT_EQ(information(folder / "map.tif")["bands"][1]["type"], "Float64");
  EXPECT_EQ(std::stod(at(folder / "map.tif", 1, 2, 1)), value_at(0, 0, 0, 1));
}

// GDAL that ends well and leaves nothing that can be read.
TEST_F(Geotiff, ThatGdalLeavesEmptyOrUnreadableIsAnErrorAndTheOldFileStays) {
  const char* const before = std::getenv("PATH");
  const std::string path = before == nullptr ? "" : before;
  write_bytes(folder / "map.tif", "old");
  for (const auto& [left, said] : {std::pair{": > field.tif", "empty file"}, {"mkdir field.tif", "Is a directory"}}) {
    std::filesystem::create_directory(folder / "bin");
    write_bytes(folder / "bin/gdal_translate", std::string("#!/bin/sh\n") + left + "\n");
    std::filesystem::permissions(folder / "bin/gdal_translate", std::filesystem::perms::owner_all);
    ::setenv("PATH", ((folder / "bin").string() + ":" + path).c_str(), 1);
    EXPECT_THAT([&] { write(folder / "map.tif", header("bbox:-10,60,0,66:2")); }, testing::ThrowsMessage<Error>(HasSubstr(said)));
    ::setenv("PATH", path.c_str(), 1);
    EXPECT_EQ(read_bytes(folder / "map.tif"), "old");
  }
}

TEST_F(Geotiff, LeavesNothingBehindUnlessItIsWhole) {
  write_bytes(folder / "map.tif", "old");
  {
    const auto sink = sink_for(folder / "map.tif")(header("bbox:-10,60,0,66:2"));
    sink->write(0, 0, 0, std::vector<double>(5));
    EXPECT_THROW(sink->write(0, 0, 3, std::vector<double>(5)), UsageError);
    EXPECT_THROW(sink->finish(), UsageError);
  }
  EXPECT_EQ(read_bytes(folder / "map.tif"), "old");
  EXPECT_EQ(folder.files(), 1u);
}

}  // namespace
}  // namespace drift
