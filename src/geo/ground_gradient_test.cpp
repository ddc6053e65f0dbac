// The gradient of a field known in the engine's terms, against differences between places a stated number of metres apart on the
// ground, which PROJ's geodesics find (Karney 2013): no formula is shared with the code under test.

#include <geodesic.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "drift/domain.h"
#include "geo/geo_testing.h"

namespace drift {
namespace {

// A smooth field of the engine's coordinates, and its gradient there.
constexpr double kWave[3] = {0.9, -0.7, 0.4};
double phase(const std::vector<double>& row) {
  double sum = 0.3;
  for (std::size_t i = 0; i < row.size(); ++i) sum += kWave[i] * row[i];
  return sum;
}

std::vector<double> row_at(const Domain& domain, double lon, double lat) {
  std::vector<double> row(static_cast<std::size_t>(space_coordinates(domain)));
  engine_rows(domain, {&lon, 1}, {&lat, 1}, {}, MatrixView<double>(row.data(), 1, row.size()));
  return row;
}

std::vector<float> engine_gradient(const Domain& domain, double lon, double lat) {
  const std::vector<double> row = row_at(domain, lon, lat);
  std::vector<double> g(row.size());
  for (std::size_t i = 0; i < g.size(); ++i) g[i] = kWave[i] * std::cos(phase(row));
  if (domain.kind == DomainKind::sphere) {  // tangent, as the engine gives it
    const double outward = g[0] * row[0] + g[1] * row[1] + g[2] * row[2];
    for (std::size_t i = 0; i < g.size(); ++i) g[i] -= outward * row[i];
  }
  return {g.begin(), g.end()};
}

// Per km in the direction of `azimuth_deg` from north.
double difference(const Domain& domain, double lon, double lat, double azimuth_deg) {
  constexpr double kMetres = 200.0;
  geod_geodesic earth;
  const bool sphere = domain.kind == DomainKind::sphere;
  geod_init(&earth, sphere ? kEarthRadiusKm * 1000.0 : 6378137.0, sphere ? 0.0 : 1.0 / 298.257223563);
  double field[2] = {};
  for (int side = 0; side < 2; ++side) {
    double lat_there = 0.0, lon_there = 0.0;
    geod_direct(&earth, lat, lon, azimuth_deg, side == 0 ? -kMetres : kMetres, &lat_there, &lon_there, nullptr);
    field[side] = domain.value.from_engine(std::sin(phase(row_at(domain, lon_there, lat_there))));
  }
  return (field[1] - field[0]) / (2.0 * kMetres / 1000.0);
}

GroundGradient gradient_at(const Domain& domain, double lon, double lat) {
  const std::vector<float> g = engine_gradient(domain, lon, lat);
  GroundGradient result;
  ground_gradient(domain, {&lon, 1}, {&lat, 1}, MatrixView<const float>(g.data(), 1, g.size()), {&result, 1});
  return result;
}

void expect_agreement(Domain domain, double lon, double lat) {
  domain.value = {-3.0, 2.5};
  const GroundGradient gradient = gradient_at(domain, lon, lat);
  const double size = domain.value.sd / domain.scale;  // of a gradient, per km
  EXPECT_NEAR(gradient.east, difference(domain, lon, lat, 90.0), 1e-6 * size) << domain.crs << " " << lon << " " << lat;
  EXPECT_NEAR(gradient.north, difference(domain, lon, lat, 0.0), 1e-6 * size) << domain.crs << " " << lon << " " << lat;
}

TEST(GroundGradient, AgreesWithDifferencesOverTheGroundOnPlanesWithConvergence) {
  struct Case {
    const char* crs;
    double lon, lat;
  };
  const Case cases[] = {
      {"EPSG:6931", 12.5, 70.0},   {"EPSG:6931", -130.0, 55.0},
      {"EPSG:6932", 100.0, -65.0}, {"EPSG:3413", 170.0, 82.0},
      {"EPSG:32633", 17.9, 60.0},  {"+proj=laea +lat_0=38 +lon_0=15 +datum=WGS84", -6.0, 31.0},
      {"EPSG:32661", 77.0, 75.0},  {"+proj=lcc +lat_1=20 +lat_2=60 +lon_0=0 +datum=WGS84 +units=us-ft", 30.0, 10.0}};
  for (const Case& place : cases) {
    Domain domain = plane_domain(place.crs);
    domain.scale = 800.0;
    domain.centre = {50.0, -900.0};
    expect_agreement(domain, place.lon, place.lat);
  }
}

TEST(GroundGradient, AgreesWithDifferencesOverTheGroundOnTheSphere) {
  for (const double lon : {-170.0, 3.0, 95.0}) {
    for (const double lat : {-89.0, -40.0, 0.0, 66.0}) expect_agreement(sphere_domain(), lon, lat);
  }
}

TEST(GroundGradient, IsNotTheMapsOwnGradientWhereMeridiansSlant) {
  // The control: at 90 E on the north polar map north is to the left, so what rises to the right falls to the north.
  Domain domain = plane_domain("EPSG:6931");
  const double lon = 90.0, lat = 80.0;
  const std::vector<float> g = {1.0f, 0.0f};
  GroundGradient result;
  ground_gradient(domain, {&lon, 1}, {&lat, 1}, MatrixView<const float>(g.data(), 1, 2), {&result, 1});
  EXPECT_NEAR(result.north, -1.0, 0.01);
  EXPECT_NEAR(result.east, 0.0, 1e-7);
}

TEST(GroundGradient, GivesTimesShareInTheDatasUnitADay) {
  Domain domain = xy_domain("m");
  domain.scale = 4.0;
  domain.time.sd = 5.0;
  domain.value.sd = 2.0;
  const std::vector<double> x = {0.0, 1.0}, y = {0.0, 500.0};
  const std::vector<float> g = {1, 2, 3, 9, -4, 6, 10, 9};  // rows longer than their three columns
  std::vector<GroundGradient> out(2);
  ground_gradient(domain, x, y, MatrixView<const float>(g.data(), 2, 3, 4), out);
  EXPECT_DOUBLE_EQ(out[0].east, 0.5);
  EXPECT_DOUBLE_EQ(out[0].north, 1.0);
  EXPECT_DOUBLE_EQ(out[0].per_day, 1.2);
  EXPECT_DOUBLE_EQ(out[1].east, -2.0);
  EXPECT_DOUBLE_EQ(out[1].per_day, 4.0);
}

TEST(GroundGradient, RefusesShapesAndPositionsThatDoNotFit) {
  const std::vector<float> g(8);
  std::vector<GroundGradient> out(1);
  const double lon = 1.0, lat = 91.0;
  const auto why = [&](std::size_t rows, std::size_t cols) {
    return message_of<Error>([&] {
      ground_gradient(sphere_domain(), {&lon, 1}, {&lat, 1}, MatrixView<const float>(g.data(), rows, cols), out);
    });
  };
  EXPECT_THAT(why(2, 3), testing::HasSubstr("2 gradients for 1 results"));
  EXPECT_THAT(why(1, 2), testing::HasSubstr("2 columns but the domain has 3"));
  EXPECT_THAT(why(1, 3), testing::HasSubstr("latitude 91"));
}

}  // namespace
}  // namespace drift
