#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "drift/domain.h"
#include "geo/geo_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

// Positions that fill a box of longitudes (east may exceed 180) and latitudes.
Observations box(double west, double east, double south, double north) {
  constexpr int kSide = 200;
  Observations observations;
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      observations.lon_deg.push_back(std::remainder(west + (east - west) * i / (kSide - 1), 360.0));
      observations.lat_deg.push_back(south + (north - south) * j / (kSide - 1));
      observations.value.push_back(i % 2);
    }
  }
  return observations;
}

TEST(ChooseDomain, TakesEaseGridForPolarCaps) {
  EXPECT_EQ(choose_domain(box(-180.0, 180.0, 50.0, 88.0)).crs, "EPSG:6931");
  EXPECT_EQ(choose_domain(box(-60.0, 100.0, -89.0, -50.0)).crs, "EPSG:6932");
}

TEST(ChooseDomain, TakesTheSphereForWideAndForTallExtents) {
  for (const Observations& observations :
       {box(-180.0, 180.0, -66.0, 66.0), box(-180.0, 180.0, 49.0, 88.0), box(-60.0, 61.0, 0.0, 20.0), box(0.0, 20.0, -46.0, 45.0),
        box(90.0, 300.0, -30.0, 30.0)}) {
    const Domain domain = choose_domain(observations);
    EXPECT_EQ(domain.kind, DomainKind::sphere);
    EXPECT_EQ(domain.scale, kEarthRadiusKm);
    EXPECT_NEAR(domain.value.sd, 0.5, 1e-12);
  }
}

TEST(ChooseDomain, CentresALocalPlaneOnTheData) {
  const Domain domain = choose_domain(box(-6.0, 36.0, 30.0, 46.0));
  EXPECT_THAT(domain.crs, HasSubstr("+proj=laea +lat_0=38.00 +lon_0=15.00"));
  EXPECT_LT(std::hypot(domain.centre[0], domain.centre[1]), 100.0);  // km: parallels curve, so the mean is not quite the middle
  EXPECT_NEAR(domain.scale, 880.0, 100.0);                           // 42 degrees at 38 N and 16 of latitude, uniform
}

TEST(ChooseDomain, SeesThatAnExtentAcrossTheDateLineIsSmall) {
  const Domain domain = choose_domain(box(170.0, 192.0, -20.0, 4.0));
  EXPECT_THAT(domain.crs, HasSubstr("+lat_0=-8.00 +lon_0=-179.00"));
  EXPECT_LT(domain.scale, 1000.0);
}

TEST(ChooseDomain, IsSteadyForASingleObservation) {
  Observations one;
  one.lon_deg = {-359.5};
  one.lat_deg = {12.345};
  one.value = {1.0};
  EXPECT_THAT(choose_domain(one).crs, HasSubstr("+lon_0=0.50"));
}

TEST(ChooseDomain, LooksAtTheGivenRowsOnly) {
  Observations observations = box(0.0, 10.0, 0.0, 10.0);
  observations.lon_deg[0] = 150.0;
  std::vector<std::size_t> rows;
  for (std::size_t i = 1; i < observations.size(); ++i) rows.push_back(i);
  EXPECT_EQ(choose_domain(observations).kind, DomainKind::sphere);
  EXPECT_EQ(choose_domain(observations, rows).kind, DomainKind::plane);
  rows.push_back(observations.size());
  EXPECT_THAT(message_of<UsageError>([&] { choose_domain(observations, rows); }), HasSubstr("row 40000 is requested"));
}

TEST(ChooseDomain, RefusesALatitudeBeyondThePole) {
  Observations observations = box(0.0, 10.0, 0.0, 10.0);
  observations.lat_deg[17] = -90.001;
  EXPECT_THAT(message_of<Error>([&] { choose_domain(observations); }), HasSubstr("position 17: longitude 0, latitude -90.001"));
}

}  // namespace
}  // namespace drift
