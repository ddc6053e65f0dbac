#include "geo/reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drift/error.h"

namespace drift {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(Reached, IsWhereThePlaneHasAPlace) {
  const Domain utm = plane_domain("EPSG:32633");  // about 15 E; a transverse Mercator ends a quarter of the globe away
  EXPECT_THAT(reached(utm, std::vector{15.0, 40.0, 105.0, -165.0}, std::vector{50.0, -60.0, 0.0, 50.0}), ElementsAre(1, 1, 0, 1));
  EXPECT_THAT(reached(sphere_domain(), std::vector{105.0}, std::vector{0.0}), Each(1));
  EXPECT_THAT(reached(xy_domain("m"), std::vector{1e9}, std::vector{-1e9}), Each(1));
  EXPECT_THROW(reached(utm, std::vector{15.0}, std::vector{91.0}), UsageError) << "no position at all";
}

TEST(Reached, HoldsForManyPointsToo) {
  const std::vector<double> lon(5000, 15.0);
  std::vector<double> lat(5000, 50.0), far = lon;
  far[4999] = 105.0, lat[4999] = 0.0;
  const std::vector<char> reach = reached(plane_domain("EPSG:32633"), far, lat);
  EXPECT_EQ(reach[4998], 1);
  EXPECT_EQ(reach[4999], 0);
}

}  // namespace
}  // namespace drift
