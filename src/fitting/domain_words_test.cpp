#include "fitting/domain_words.h"

#include <gtest/gtest.h>

namespace drift {
namespace {

Domain plane(const std::string& crs) {
  Domain domain;
  domain.kind = DomainKind::plane;
  domain.crs = crs;
  return domain;
}

const std::string kChosen = "+proj=laea +lat_0=-35.68 +lon_0=15.30 +datum=WGS84 +units=m +no_defs +type=crs";

TEST(DomainWords, SayWhereAPlaneIsCentred) {
  EXPECT_EQ(domain_words(plane(kChosen)), "a plane centred on 35.7° S, 15.3° E (Lambert azimuthal equal-area)");
  EXPECT_EQ(domain_words(plane("EPSG:6931")), "the plane EPSG:6931");
  EXPECT_EQ(domain_words(sphere_domain()), "the sphere");
  EXPECT_EQ(domain_words(xy_domain("m")), "x and y in m");
}

TEST(DomainWords, OfThePlaneThatIsChosenAreThoseOfACentre) {
  Observations observations;
  for (int i = 0; i < 10; ++i) {
    observations.lon_deg.push_back(-5.0 + i), observations.lat_deg.push_back(30.0 + i);
    observations.value.push_back(i);
  }
  EXPECT_EQ(domain_words(choose_domain(observations)), "a plane centred on 34.5° N, 0.5° W (Lambert azimuthal equal-area)");
}

TEST(DaysText, HasAUnitOfItsSize) {
  EXPECT_EQ(days_text(0.00298), "4.3 minutes");
  EXPECT_EQ(days_text(0.3), "7.2 hours");
  EXPECT_EQ(days_text(5.5412), "5.54 days");
  EXPECT_EQ(days_text(2651.0), "2,650 days");
}

TEST(MotionText, NamesDirectionsAndLeavesOutWhatIsNegligible) {
  ProcessInfo info = {
      .lengthscale_x = 1000.0, .lengthscale_y = 500.0, .time_lengthscale_days = 5.0, .velocity_x = -237.4, .velocity_y = 31.0};
  EXPECT_EQ(motion_text(info, sphere_domain()), "; moving 237 km per day to the west and 31 to the north");
  EXPECT_EQ(motion_text(info, plane(kChosen)), "; moving 237 km per day to the west and 31 to the north");
  EXPECT_EQ(motion_text(info, plane("EPSG:6931")), "; moving 237 km per day along -x and 31 along y");
  info.velocity_x = 1.9;  // times 5 days: 9.5 of 1,000 km
  EXPECT_EQ(motion_text(info, sphere_domain()), "; moving 31 km per day to the north");
  info.velocity_y = -2.7e-5;
  EXPECT_EQ(motion_text(info, sphere_domain()), "");
}

}  // namespace
}  // namespace drift
