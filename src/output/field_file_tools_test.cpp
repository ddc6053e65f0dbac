// What other programs rely on when they open a map without being told what is in it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/scratch_folder.h"
#include "drift/field_file.h"
#include "netcdf/netcdf_reader.h"
#include "output/gmt.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

FieldHeader header(const std::string& grid, std::size_t times) {
  FieldHeader header = {.grid = parse_grid(grid),
                        .layers = {{.info = {"sla", "Sea level anomaly", "sea_surface_height_above_mean_sea_level", "m"},
                                    .ancillary = {"sla_uncertainty"}},
                                   {.info = {"sla_uncertainty", "Its standard deviation", "", "m"}}}};
  for (std::size_t time = 0; time < times; ++time) header.time_days.push_back(25000.0 + static_cast<double>(time));
  return header;
}

// The field rises with the row: 0 in the south, 1, 2, ...
void write(const std::filesystem::path& path, const FieldHeader& header) {
  FieldFileWriter file(path, header);
  for (std::size_t layer = 0; layer < header.layers.size(); ++layer) {
    for (std::size_t time = 0; time < header.times(); ++time) {
      std::vector<double> values(header.grid.size());
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i / header.grid.x.count);
      file.write(layer, time, 0, values);
    }
  }
  file.finish();
}

std::string text(const NcReader& file, const std::string& variable, const std::string& attribute) {
  const NcVariable* const found = file.find(variable);
  return found == nullptr ? "no such variable" : file.text(*found, attribute).value_or("none");
}

std::vector<std::string> names(const std::filesystem::path& path) {
  std::vector<std::string> all;
  const NcReader file(path);
  for (const NcVariable& variable : file.variables()) all.push_back(variable.name);
  return all;
}

TEST(FieldFile, PutsItsFieldsBeforeWhatDescribesTheGrid) {
  const ScratchFolder folder;
  write(folder / "map.nc", header("bbox:0,60,10,70:1", 1));
  EXPECT_THAT(names(folder / "map.nc"), ElementsAre("time", "latitude", "longitude", "sla", "sla_uncertainty", "crs"));
  write(folder / "map.nc", header("EPSG:6931:500km", 0));
  EXPECT_THAT(names(folder / "map.nc"), ElementsAre("y", "x", "sla", "sla_uncertainty", "crs", "longitude", "latitude"));
}

TEST(FieldFile, KeepsTheOnlyTimeOfAProjectedMapAsAScalar) {
  const ScratchFolder folder;
  write(folder / "map.nc", header("EPSG:6931:500km", 1));
  const NcReader file(folder / "map.nc");
  EXPECT_TRUE(file.find("time")->dimensions.empty());
  EXPECT_EQ(file.read(*file.find("time")), std::vector{25000.0});
  EXPECT_EQ(file.find("sla")->dimensions.size(), 2u);
  EXPECT_EQ(text(file, "sla", "coordinates"), "time longitude latitude");
  EXPECT_EQ(file.read(*file.find("sla")).back(), static_cast<double>(parse_grid("EPSG:6931:500km").y.count - 1));
  write(folder / "map.nc", header("EPSG:6931:500km", 2));
  EXPECT_EQ(NcReader(folder / "map.nc").find("sla")->dimensions.size(), 3u);
  write(folder / "map.nc", header("bbox:0,60,10,70:1", 1));
  EXPECT_EQ(NcReader(folder / "map.nc").find("sla")->dimensions.size(), 3u) << "maps of one time are joined along it";
}

TEST(FieldFile, IsShownByGmtWithoutANameForTheField) {
  if (find_program("gmt").empty()) GTEST_SKIP() << "GMT is not installed";
  const ScratchFolder folder;
  const GmtSession gmt("the test asks");
  const auto information = [&](const std::string& grid, std::size_t times) {
    write(folder / "map.nc", header(grid, times));
    return gmt.run({"grdinfo", (folder / "map.nc").string()});
  };
  for (const std::size_t times : {0, 1, 3}) {
    const std::string found =
        information("bbox:0.5,60,10.5,70:1", times);  // cells about whole degrees, which GMT takes for nodes
    EXPECT_THAT(found, HasSubstr("v_min: 0 v_max: 9 name: Sea level anomaly [m]")) << times << " times";
    EXPECT_THAT(found, HasSubstr("Pixel node registration used")) << times << " times";
    EXPECT_THAT(found, HasSubstr("x_min: 0.5 x_max: 10.5")) << times << " times";
  }
  EXPECT_THAT(information("EPSG:6931:500km", 0), HasSubstr("name: Sea level anomaly [m]"));
  EXPECT_THAT(information("EPSG:6931:500km", 1), HasSubstr("name: Sea level anomaly [m]"));
  // Not so a projected map with several times: GMT takes the first two-dimensional variable, a longitude, before any field over
  // time.
  EXPECT_THAT(information("EPSG:6931:500km", 2), Not(HasSubstr("Sea level anomaly [m]")));
  EXPECT_THAT(gmt.run({"grdinfo", (folder / "map.nc").string() + "?sla"}), HasSubstr("Sea level anomaly [m]"));
}

TEST(FieldFile, DescribesTheEarthOfLongitudesAndLatitudesToo) {
  const ScratchFolder folder;
  write(folder / "map.nc", header("bbox:0,60,10,70:1", 1));
  const NcReader file(folder / "map.nc");
  for (const char* layer : {"sla", "sla_uncertainty"}) EXPECT_EQ(text(file, layer, "grid_mapping"), "crs");
  EXPECT_EQ(text(file, "sla", "coordinates"), "none");
  EXPECT_EQ(text(file, "crs", "grid_mapping_name"), "latitude_longitude");
  EXPECT_THAT(text(file, "crs", "crs_wkt"), HasSubstr("ID[\"EPSG\",4326]"));
  EXPECT_EQ(file.numbers(*file.find("crs"), "semi_major_axis"), std::vector<double>{6378137.0});
  EXPECT_EQ(file.numbers(*file.find("crs"), "inverse_flattening"), std::vector<double>{298.257223563});
  EXPECT_EQ(file.numbers(*file.find("crs"), "longitude_of_prime_meridian"), std::vector<double>{0.0});
}

TEST(FieldFile, SaysThatItsValuesAreThoseOfPoints) {
  const ScratchFolder folder;
  write(folder / "map.nc", header("bbox:0,60,10,70:1", 1));
  EXPECT_EQ(text(NcReader(folder / "map.nc"), "sla", "cell_methods"), "time: point area: point");
  write(folder / "map.nc", header("EPSG:6931:500km", 0));
  EXPECT_EQ(text(NcReader(folder / "map.nc"), "sla_uncertainty", "cell_methods"), "area: point");
  write(folder / "map.nc", header("xy:0,0,3,2:0.5", 0));
  EXPECT_EQ(text(NcReader(folder / "map.nc"), "sla", "cell_methods"), "y: x: point");
  EXPECT_EQ(text(NcReader(folder / "map.nc"), "sla", "grid_mapping"), "none");
}

TEST(FieldFile, WritesNoStandardNameThatIsNone) {
  const ScratchFolder folder;
  FieldHeader options = header("bbox:0,60,10,70:1", 0);
  options.layers[0].info.standard_name = "ssh";  // of a model that an earlier version made
  options.layers[1].info.standard_name = "sea_level_of_a_distant_planet";
  write(folder / "map.nc", options);
  EXPECT_EQ(text(NcReader(folder / "map.nc"), "sla", "standard_name"), "none");
  EXPECT_EQ(text(NcReader(folder / "map.nc"), "sla_uncertainty", "standard_name"), "sea_level_of_a_distant_planet");
}

}  // namespace
}  // namespace drift
