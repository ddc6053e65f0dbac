#include "drift/ocean_mask.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "drift/error.h"
#include "output/gmt.h"

namespace drift {
namespace {

class OceanMask : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("gmt").empty()) GTEST_SKIP() << "GMT is not installed: apt-get install gmt gmt-gshhg-low";
  }
};

struct Place {
  const char* name;
  double lon_deg, lat_deg;
  bool ocean;
};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST_F(OceanMask, KnowsPlaces) {
  const std::vector<Place> places = {
      {"mid-Atlantic", -30, 40, true},
      {"Sahara", 10, 25, false},
      {"Greenland's ice sheet", -40, 72, false},
      {"Black Sea", 35, 43, true},
      {"North Pole", 0, 90, true},
      {"South Pole", 0, -90, false},
      {"Ross Ice Shelf", 180, -81, false},
      {"Southern Ocean", 0, -60, true},
      {"Caspian Sea", 51, 42, false},
      {"Lake Michigan", -87, 44, false},
      {"Pacific at 200 E", 200, 30, true},
      {"Pacific, two turns on", 560, 30, true},
      {"Baltic", 19.5, 57.5, true},
      {"Iceland", -18, 65, false},
      {"just west of 180", 179.999, 0, true},
      {"180 E", 180, 0, true},
      {"180 W", -180, 0, true},
      {"no longitude", kNan, 0, false},
      {"no latitude", 0, kNan, false},
      {"beyond the pole", 0, 91, false},
      {"endless", INFINITY, 0, false},
  };
  std::vector<double> lon, lat;
  for (const Place& place : places) lon.push_back(place.lon_deg), lat.push_back(place.lat_deg);
  const std::vector<char> ocean = is_ocean(lon, lat);
  ASSERT_EQ(ocean.size(), places.size());
  for (std::size_t i = 0; i < places.size(); ++i) EXPECT_EQ(ocean[i] != 0, places[i].ocean) << places[i].name;
}

TEST_F(OceanMask, TakesLakesForOceanWhenAsked) {
  const std::vector<double> lon = {51, -87, 10}, lat = {42, 44, 25};
  EXPECT_EQ(is_ocean(lon, lat, {.lakes_are_land = false}), (std::vector<char>{1, 1, 0}));
}

TEST_F(OceanMask, CoversAboutSevenTenthsOfTheEarth) {
  std::vector<double> lon, lat;  // a Fibonacci lattice: even by area, and in an order that jumps about
  const int count = 20000;
  for (int i = 0; i < count; ++i) {
    lon.push_back(std::fmod(i * 137.50776405003785, 360.0));
    lat.push_back(std::asin((2.0 * i + 1.0) / count - 1.0) * 57.29577951308232);
  }
  const std::vector<char> ocean = is_ocean(lon, lat);
  double share = 0.0;
  for (const char one : ocean) share += one;
  // 361 of 510 million km2 (NOAA), less the ice shelves' 1.5.
  EXPECT_NEAR(share / count, 0.705, 0.006);
}

TEST_F(OceanMask, TakesNoPositionsAndRefusesUnequalOnes) {
  EXPECT_TRUE(is_ocean({}, {}).empty());
  const std::vector<double> one = {1.0};
  EXPECT_THROW(is_ocean(one, {}), UsageError);
}

}  // namespace
}  // namespace drift
