#include "drift/grid.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/threads.h"
#include "drift/domain.h"
#include "geo/geo_testing.h"
#include "geo/projection.h"

namespace drift {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Positions {
  std::vector<double> lon, lat;
};

Positions positions(const Grid& grid, std::size_t first, std::size_t count) {
  Positions result{std::vector<double>(count), std::vector<double>(count)};
  grid_positions(grid, first, result.lon, result.lat);
  return result;
}

TEST(Grid, CoversTheGlobeWithCellCentresAndNoneTwice) {
  const Grid grid = parse_grid("global:0.25");
  EXPECT_EQ(grid.x, (GridAxis{"longitude", "degrees_east", -179.875, 0.25, 1440}));
  EXPECT_EQ(grid.y, (GridAxis{"latitude", "degrees_north", -89.875, 0.25, 720}));
  EXPECT_EQ(grid.size(), 1440u * 720u);
  EXPECT_EQ(grid.x.at(1439), 179.875);
  EXPECT_EQ(grid.y.at(719), 89.875);
  EXPECT_TRUE(grid.crs.empty());
}

TEST(Grid, RunsThroughRowsFromTheSouthAndGivesAnyBlock) {
  const Grid grid = parse_grid("bbox:-30,60,-10,66:2");
  EXPECT_EQ(grid.size(), 30u);
  const Positions block = positions(grid, 9, 3);  // the end of the first row and the start of the second
  EXPECT_EQ(block.lon, (std::vector<double>{-11.0, -29.0, -27.0}));
  EXPECT_EQ(block.lat, (std::vector<double>{61.0, 63.0, 63.0}));
}

TEST(Grid, TakesDecimalStepsThatAreNotExactInBinary) {
  const Grid grid = parse_grid("bbox:-0.3,0,0.4,0.7:0.1");
  EXPECT_EQ(grid.x.count, 7u);
  EXPECT_EQ(grid.y.count, 7u);
  EXPECT_NEAR(grid.x.at(6), 0.35, 1e-12);
}

TEST(Grid, CrossesTheDateLineWithoutABreak) {
  const Grid grid = parse_grid("bbox:170,-10,-160,0:5");
  EXPECT_EQ(grid.x.count, 6u);
  EXPECT_EQ(grid.x.at(0), 172.5);
  EXPECT_EQ(grid.x.at(5), 197.5);
  EXPECT_EQ(parse_grid("bbox:170,-10,200,0:5").x, grid.x);
  // Neighbours lie equally far apart on the sphere, the date line between them or not.
  const Positions row = positions(grid, 0, 6);
  std::vector<double> rows(18);
  engine_rows(sphere_domain(), row.lon, row.lat, {}, MatrixView<double>(rows.data(), 6, 3));
  const auto step = [&](std::size_t i) {
    return std::hypot(rows[3 * i + 3] - rows[3 * i], rows[3 * i + 4] - rows[3 * i + 1], rows[3 * i + 5] - rows[3 * i + 2]);
  };
  for (std::size_t i = 1; i < 5; ++i) EXPECT_NEAR(step(i), step(0), 1e-15);
}

TEST(Grid, MakesNsidcsEaseGridOfTheNorthernHemisphere) {
  const Grid grid = parse_grid("EPSG:6931:25km");
  EXPECT_EQ(grid.crs, "EPSG:6931");
  EXPECT_EQ(grid.x, (GridAxis{"x", "m", -8987500.0, 25000.0, 720}));
  EXPECT_EQ(grid.y, (GridAxis{"y", "m", -8987500.0, 25000.0, 720}));
  // The four cells about the pole, and a cell straight to the right of it: 90 E but for half a cell.
  const Positions middle = positions(grid, 360 * 720 + 360, 1);
  EXPECT_NEAR(middle.lon[0], 135.0, 1e-9);
  EXPECT_NEAR(middle.lat[0], 89.8417, 1e-3);  // 12.5 km sqrt(2) from the pole, 111.69 km a degree there
  const Positions right = positions(grid, 360 * 720 + 719, 1);
  EXPECT_NEAR(right.lon[0], 90.0 + std::atan2(12.5, 8987.5) * 180.0 / std::numbers::pi, 1e-6);
  EXPECT_NEAR(right.lat[0], 0.2, 0.2);
}

TEST(Grid, TakesAnExtentInTheStepsUnit) {
  const Grid km = parse_grid("EPSG:3413:12.5km:-3850,-5350,3750,5850");
  EXPECT_EQ(km.x.count, 608u);  // NSIDC's 12.5 km polar stereographic grid
  EXPECT_EQ(km.y.count, 896u);
  EXPECT_EQ(km.x.first, -3843750.0);
  const Grid metres = parse_grid("EPSG:3413:12500m:-3850000,-5350000,3750000,5850000");
  EXPECT_EQ(metres.x, km.x);
  EXPECT_EQ(metres.y, km.y);
  EXPECT_EQ(parse_grid("+proj=laea +lat_0=45 +lon_0=10:100km:-500,-400,500,400").size(), 80u);
}

TEST(Grid, KnowsThePositionOfEachOfItsCells) {
  const Grid grid = parse_grid("EPSG:6931:100km:-4500,-4500,4500,4500");
  const Positions all = positions(grid, 0, grid.size());
  std::vector<double> rows(2 * grid.size());
  engine_rows(plane_domain("EPSG:6931"), all.lon, all.lat, {}, MatrixView<double>(rows.data(), grid.size(), 2));
  for (std::size_t i = 0; i < grid.size(); ++i) {
    ASSERT_NEAR(rows[2 * i], grid.x.at(i % 90) / 1000.0, 1e-6);
    ASSERT_NEAR(rows[2 * i + 1], grid.y.at(i / 90) / 1000.0, 1e-6);
  }
}

TEST(Grid, HasNoPositionInCornersOffTheMap) {
  const Grid grid = parse_grid("EPSG:6931:1000km:-13000,-13000,13000,13000");
  const Positions all = positions(grid, 0, grid.size());
  EXPECT_TRUE(std::isnan(all.lon[0]) && std::isnan(all.lat[0]));
  EXPECT_FALSE(std::isnan(all.lat[13 * 26 + 13]));
}

TEST(Grid, GivesTheSameBlocksOnEveryThread) {
  const Grid grid = parse_grid("EPSG:3413:25km");
  const Positions all = positions(grid, 0, grid.size());
  std::vector<int> same(4, 0);
  run_on_threads(4, [&](int thread) {
    const std::size_t first = 1000 + 4111 * static_cast<std::size_t>(thread), count = 3000;
    const Positions block = positions(grid, first, count);
    same[static_cast<std::size_t>(thread)] =
        std::equal(block.lon.begin(), block.lon.end(), all.lon.begin() + static_cast<long>(first)) &&
        std::equal(block.lat.begin(), block.lat.end(), all.lat.begin() + static_cast<long>(first));
  });
  EXPECT_EQ(same, std::vector<int>(4, 1));
}

TEST(Grid, SaysWhatIsWrongAndWhatIsUnderstood) {
  const auto why = [](const char* text) { return message_of<UsageError>([&] { parse_grid(text); }); };
  for (const char* text :
       {"", "globe", "global", "EPSG:6931", "EPSG:6931:25", "25km", "bbox:1,2,3,4", ":25km", "EPSG:6931:25km:1,2,3"}) {
    EXPECT_THAT(why(text), AllOf(HasSubstr("grid '" + std::string(text) + "'"), HasSubstr("global:0.25"))) << text;
  }
  EXPECT_THAT(why("global:0.7"), HasSubstr("longitude from -180 to 180 is not a whole number of steps of 0.7"));
  EXPECT_THAT(why("global:-1"), HasSubstr("the step must be positive but is -1"));
  EXPECT_THAT(why("global:nan"), HasSubstr("'nan' is not a step in degrees"));
  EXPECT_THAT(why("global:0.00001"), HasSubstr("cells, at most"));
  EXPECT_THAT(why("bbox:0,10,20:1"), HasSubstr("is not four numbers"));
  EXPECT_THAT(why("bbox:0,10,20,95:1"), HasSubstr("latitudes from 10 to 95 exceed +-90"));
  EXPECT_THAT(why("bbox:0,20,20,10:1"), HasSubstr("latitude from 20 to 10 is empty"));
  EXPECT_THAT(why("bbox:-200,0,20,10:1"), HasSubstr("longitudes -200 and 20 must lie between -180 and 360"));
  EXPECT_THAT(why("bbox:-180,0,200,10:1"), HasSubstr("overlap"));
  EXPECT_THAT(why("EPSG:99999:25km"), AllOf(HasSubstr("'EPSG:99999'"), HasSubstr("crs not found")));
  EXPECT_THAT(why("EPSG:4326:25km"), HasSubstr("not a projected"));
  EXPECT_THAT(why("EPSG:6931:0km"), HasSubstr("the step must be positive but is 0"));
  EXPECT_THAT(why("+proj=laea +lat_0=45:25km"), HasSubstr("declares no area of use, so the grid needs an extent"));
}

TEST(ParseGrid, CoversThePositionsItIsGivenInCellsOfTheWholeGrid) {
  const std::vector<double> lon = {-20.0, 30.0, -120.0}, lat = {70.0, 75.0, -60.0};  // the last is in the other hemisphere
  const Grid whole = parse_grid("EPSG:6931:25km"), part = parse_grid("EPSG:6931:25km", lon, lat);
  EXPECT_LT(part.size(), whole.size() / 20);
  for (const auto& [axis, of_all] : {std::pair(part.x, whole.x), std::pair(part.y, whole.y)}) {
    const double cells = (axis.first - of_all.first) / 25e3;
    EXPECT_EQ(cells, std::round(cells)) << axis.name;
  }
  std::vector<double> x = lon, y = lat;
  projection_of("EPSG:6931")->forward(x, y);
  for (const std::size_t i : {0, 1}) {
    EXPECT_LE(part.x.first - 12.5e3, x[i]);
    EXPECT_GE(part.x.at(part.x.count - 1) + 12.5e3, x[i]);
    EXPECT_LE(part.y.first - 12.5e3, y[i]);
    EXPECT_GE(part.y.at(part.y.count - 1) + 12.5e3, y[i]);
  }
  EXPECT_EQ(parse_grid("EPSG:6931:25km:-50,-50,50,50", lon, lat).x.count, 4u);
  const std::vector<double> south_lon = {0.0}, south_lat = {-70.0};
  EXPECT_THAT(message_of<UsageError>([&] { parse_grid("EPSG:3413:25km", south_lon, south_lat); }),
              HasSubstr("no observation lies within the area of use"));
}

TEST(Grid, RefusesPointsPastItsEnd) {
  const Grid grid = parse_grid("global:10");
  EXPECT_NO_THROW(positions(grid, 600, 48));
  EXPECT_THAT(message_of<UsageError>([&] { positions(grid, 600, 49); }), HasSubstr("points 600 to 649"));
  EXPECT_THROW(positions(grid, 649, 0), UsageError);
}

TEST(ParseGrid, LaysCellsOnAPlaneOfNoCrs) {
  const Grid grid = parse_grid("xy:-1,0,2,1:0.5");
  EXPECT_EQ(grid.crs, "");
  EXPECT_EQ(grid.x, (GridAxis{"x", "", -0.75, 0.5, 6}));
  EXPECT_EQ(grid.y, (GridAxis{"y", "", 0.25, 0.5, 2}));
  double x = 0.0, y = 0.0;
  grid_positions(grid, 7, std::span(&x, 1), std::span(&y, 1));
  EXPECT_EQ(x, -0.25);
  EXPECT_EQ(y, 0.75);
  EXPECT_THROW(parse_grid("xy:0,0,1:0.5"), UsageError);
  EXPECT_THROW(parse_grid("xy:0,0,1,1:0.3"), UsageError);
}

}  // namespace
}  // namespace drift
