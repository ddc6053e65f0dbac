#include "core/longitude.h"

#include <gtest/gtest.h>

namespace drift {
namespace {

constexpr double kRounding = 1e-12;  // a few units in the last place of 1000 degrees

TEST(Longitude, IsWrappedToTheHalfOpenTurn) {
  EXPECT_EQ(wrapped_longitude(180.0), -180.0);
  EXPECT_EQ(wrapped_longitude(-180.0), -180.0);
  EXPECT_EQ(wrapped_longitude(179.5), 179.5);
  EXPECT_EQ(wrapped_longitude(359.75), -0.25);
  EXPECT_EQ(wrapped_longitude(540.0), -180.0);
  EXPECT_EQ(turned_from(0.0, -1e-20), 0.0);  // and not 360
  EXPECT_LT(wrapped_longitude(std::nextafter(-180.0, -200.0)), 180.0);
}

TEST(Longitude, DoesNotDependOnWholeTurns) {
  for (double lon = -179.7; lon < 180.0; lon += 7.3) {
    for (const double turns : {-720.0, -360.0, 360.0, 720.0}) {
      EXPECT_NEAR(wrapped_longitude(lon + turns), lon, kRounding);
      EXPECT_NEAR(degrees_eastwards(10.0, lon + turns), degrees_eastwards(10.0, lon), kRounding);
      EXPECT_NEAR(degrees_eastwards(10.0 + turns, lon), degrees_eastwards(10.0, lon), kRounding);
      EXPECT_NEAR(turned_near(lon, lon + turns), lon, kRounding);
      for (const double east : {-170.0, 20.0}) {
        EXPECT_EQ(lies_between(170.0, east, lon + turns), lies_between(170.0, east, lon)) << lon << " " << turns;
        EXPECT_EQ(lies_between(170.0, east + turns, lon) || std::abs(east + turns - 170.0) >= 360.0,
                  lies_between(170.0, east, lon) || std::abs(east + turns - 170.0) >= 360.0);
      }
    }
  }
}

TEST(Longitude, LiesBetweenOverTheDateLine) {
  EXPECT_TRUE(lies_between(170.0, -170.0, 180.0));
  EXPECT_TRUE(lies_between(170.0, -170.0, -170.0));
  EXPECT_FALSE(lies_between(170.0, -170.0, 0.0));
  EXPECT_FALSE(lies_between(-170.0, 170.0, 180.0));
  EXPECT_TRUE(lies_between(-180.0, 180.0, 77.0));
  EXPECT_TRUE(lies_between(0.0, 360.0, -1.0));
  EXPECT_FALSE(lies_between(3.0, 3.0, 4.0));
}

TEST(Longitude, OfAnAxisGoesOnOverTheDateLine) {
  EXPECT_EQ(turned_near(179.0, -179.0), 181.0);
  EXPECT_EQ(turned_near(-179.0, 179.0), -181.0);
  EXPECT_EQ(turned_near(0.0, 1.0), 1.0);
}

}  // namespace
}  // namespace drift
