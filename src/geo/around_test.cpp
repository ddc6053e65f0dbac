// Against distances and directions by spherical trigonometry, and across a pole.

#include "geo/around.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace drift {
namespace {

constexpr double kDegree = M_PI / 180.0;

struct Around {
  std::array<double, 4> lon, lat;
};
Around around(const Domain& domain, double lon, double lat, double distance) {
  Around out;
  positions_around(domain, {&lon, 1}, {&lat, 1}, distance, out.lon, out.lat);
  return out;
}

TEST(PositionsAround, LieHalfTheDistanceAwayOnTheSphere) {
  const double lon = 170.0, lat = 60.0, half = 50.0;
  const Around found = around(sphere_domain(), lon, lat, 2.0 * half);
  for (std::size_t d = 0; d < 4; ++d) {
    const double cosine = std::sin(lat * kDegree) * std::sin(found.lat[d] * kDegree) +
                          std::cos(lat * kDegree) * std::cos(found.lat[d] * kDegree) * std::cos((found.lon[d] - lon) * kDegree);
    EXPECT_NEAR(kEarthRadiusKm * std::acos(cosine), half, 1e-4);
  }
  EXPECT_LT(found.lon[0], lon);
  EXPECT_GT(found.lon[1], lon);
  EXPECT_NEAR(found.lat[0], found.lat[1], 1e-9);
  EXPECT_NEAR(found.lat[2], lat - half / kEarthRadiusKm / kDegree, 1e-9);
  EXPECT_NEAR(found.lat[3], lat + half / kEarthRadiusKm / kDegree, 1e-9);
}

TEST(PositionsAround, GoOverAPole) {
  const Around found = around(sphere_domain(), 20.0, 89.9, 2.0 * 111.195);  // a degree each way
  EXPECT_NEAR(found.lat[3], 89.1, 1e-4);
  EXPECT_NEAR(std::remainder(found.lon[3] - 200.0, 360.0), 0.0, 1e-6);
}

// A degree of latitude is 110.574 km at the equator of WGS 84, one of longitude 111.320 km.
TEST(PositionsAround, FollowTheEllipsoidOnAPlane) {
  const Around found = around(plane_domain("EPSG:3395"), 0.0, 0.0, 2.0);
  EXPECT_NEAR(found.lon[1] * 111.320, 1.0, 1e-5);
  EXPECT_NEAR(found.lat[3] * 110.574, 1.0, 1e-5);
}

TEST(PositionsAround, AreStepsInXAndYOnAPlainPlane) {
  const Around found = around(xy_domain("m"), 3.0, 200.0, 5.0);
  EXPECT_EQ(found.lon, (std::array<double, 4>{0.5, 5.5, 3.0, 3.0}));
  EXPECT_EQ(found.lat, (std::array<double, 4>{200.0, 200.0, 197.5, 202.5}));
}

}  // namespace
}  // namespace drift
