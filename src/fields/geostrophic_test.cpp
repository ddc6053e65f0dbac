#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "drift/predict.h"

namespace drift {
namespace {

using testing::HasSubstr;

TEST(GeostrophicVelocity, BalancesTheSlope) {
  // At 45 N, f = 2 * 7.292115e-5 * sin 45 = 1.031261e-4 /s and g = 9.806199 m/s^2: a rise of 1 cm in 10 km to the north drives
  // 9.806199 / 1.031261e-4 * 1e-6 = 0.09508941 m/s to the west.
  const Velocity at45 = geostrophic_velocity(45.0, 0.0, 0.001);
  EXPECT_NEAR(at45.east, -0.0950894, 1e-6);
  EXPECT_EQ(at45.north, 0.0);
  EXPECT_GT(geostrophic_velocity(45.0, 0.001, 0.0).north, 0.0);
  EXPECT_LT(geostrophic_velocity(-45.0, 0.001, 0.0).north, 0.0);  // the other way round in the south
  EXPECT_TRUE(std::isnan(geostrophic_velocity(4.9, 0.001, 0.001).east));
  EXPECT_FALSE(std::isnan(geostrophic_velocity(-5.1, 0.001, 0.001).north));
}

TEST(SeaSurfaceHeight, IsOneAboveTheGeoidOrTheMeanSeaLevelAlone) {
  using Kind = SeaSurfaceHeight::Kind;
  const auto kind = [](const char* name, const char* standard_name, const char* unit = "m") {
    return sea_surface_height({name, "", standard_name, unit}).kind;
  };
  EXPECT_EQ(kind("h", "sea_surface_height_above_geoid", "cm"), Kind::absolute);
  EXPECT_EQ(kind("adt", ""), Kind::absolute);
  EXPECT_EQ(kind("sla_filtered", ""), Kind::anomaly);
  EXPECT_EQ(kind("h", "sea_surface_height_above_sea_level"), Kind::anomaly);
  EXPECT_EQ(kind("h", "sea_surface_height_above_mean_sea_level"), Kind::anomaly);
  EXPECT_DOUBLE_EQ(sea_surface_height({"h", "", "sea_surface_height_above_geoid", "cm"}).metres, 0.01);
  // The slope of these is the geoid's, the tide's, or nobody knows whose.
  for (const char* other : {"sea_surface_height_above_reference_ellipsoid", "sea_surface_height",
                            "sea_surface_wave_significant_height", "sea_surface_height_amplitude_due_to_geocentric_ocean_tide",
                            "sea_surface_height_above_geoid standard_error", "sea_surface_temperature"}) {
    EXPECT_EQ(kind("sla", other), Kind::none) << other;
  }
  EXPECT_EQ(kind("ssh", ""), Kind::none);
  EXPECT_EQ(kind("sla", "", "K"), Kind::none);
  EXPECT_THAT(sea_surface_height({"ssh", "", "sea_surface_height_above_reference_ellipsoid", "m"}).why_none,
              HasSubstr("is neither a height above the geoid"));
  EXPECT_THAT(sea_surface_height({"ssh", "", "", "m"}).why_none, HasSubstr("call it adt if that is the geoid"));
  EXPECT_THAT(sea_surface_height({"sla", "", "", "K"}).why_none, HasSubstr("\"K\""));
  EXPECT_THAT(sea_surface_height({"sst", "", "sea_surface_temperature", "K"}).why_none,
              HasSubstr("'sst' (sea_surface_temperature) is not a height"));
}

}  // namespace
}  // namespace drift
