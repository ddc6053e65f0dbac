#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "drift/error.h"
#include "drift/field_model.h"

namespace drift {
namespace {

TEST(NearData, KnowsDistancesAcrossTheDateLineAndThePole) {
  Observations o;
  o.lon_deg = {179.9, 10.0};
  o.lat_deg = {0.0, 89.9};
  o.value = {1.0, 2.0};
  const Domain sphere = sphere_domain();
  const DataCells cells = data_cells(sphere, o);
  const std::vector<double> lon = {-179.9, -178.0, -170.0, std::nan("")}, lat = {0.0, 89.8, 0.0, 0.0};
  // 22 km across the date line, 30 km across the pole, 1100 km away, nowhere.
  EXPECT_EQ(NearData(sphere, cells, 100.0)(lon, lat), (std::vector<char>{1, 1, 0, 0}));
  EXPECT_THROW(NearData(sphere, cells, 0.0)(lon, lat), UsageError);
}

double great_circle_km(double lon_a, double lat_a, double lon_b, double lat_b) {
  const UnitVector a = unit_vector({lon_a, lat_a}), b = unit_vector({lon_b, lat_b});
  return 2.0 * kEarthRadiusKm * std::asin(0.5 * std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
}

// Positions around scattered observations: none within the distance is left out, and none beyond it by more than a cell's
// diagonal let in.
void expect_exact_to(double tolerance_km, const DataCells& cells, const Observations& o, double distance_km) {
  RandomStream random({.seed = 5, .purpose = Purpose::simulation});
  std::vector<double> lon = o.lon_deg, lat = o.lat_deg;
  for (std::size_t i = 0; i < 2000; ++i) {
    lon.push_back(o.lon_deg[i % o.size()] + 3.0 * random.normal());
    lat.push_back(std::clamp(o.lat_deg[i % o.size()] + random.normal(), -90.0, 90.0));
  }
  const std::vector<char> near = NearData(sphere_domain(), cells, distance_km)(lon, lat);
  std::size_t within = 0;
  for (std::size_t i = 0; i < lon.size(); ++i) {
    double least = INFINITY;
    for (std::size_t j = 0; j < o.size(); ++j)
      least = std::min(least, great_circle_km(lon[i], lat[i], o.lon_deg[j], o.lat_deg[j]));
    within += least <= distance_km ? 1 : 0;
    if (least <= distance_km) {
      EXPECT_TRUE(near[i]) << lon[i] << " " << lat[i] << ": " << least << " km";
    }
    if (least > distance_km + tolerance_km) {
      EXPECT_FALSE(near[i]) << lon[i] << " " << lat[i] << ": " << least << " km";
    }
  }
  EXPECT_GE(within, o.size());
  EXPECT_LT(within, lon.size());
}

Observations scattered(double west, double width, double south, double height) {
  RandomStream random({.seed = 3, .purpose = Purpose::simulation});
  Observations o;
  for (int i = 0; i < 200; ++i) {
    const double lon = west + width * random.uniform();
    o.lon_deg.push_back(lon > 180.0 ? lon - 360.0 : lon);
    o.lat_deg.push_back(south + height * random.uniform());
    o.value.push_back(0.0);
  }
  return o;
}

TEST(NearData, NeverLeavesOutAPositionWithinTheDistanceOfAnObservation) {
  for (const double distance_km : {1.0, 25.0, 150.0}) {
    const Observations globe = scattered(-180.0, 360.0, -90.0, 180.0), pacific = scattered(160.0, 40.0, 30.0, 30.0),
                       arctic = scattered(-180.0, 360.0, 75.0, 15.0);
    expect_exact_to(20.0, data_cells(sphere_domain(), globe), globe, distance_km);
    expect_exact_to(3.0, data_cells(sphere_domain(), pacific), pacific, distance_km);
    expect_exact_to(5.0, data_cells(sphere_domain(), arctic), arctic, distance_km);
  }
}

// Cells of half a degree over the whole Earth, as models of earlier versions have them: 25 km once left out the observations
// themselves.
TEST(NearData, OfAnOlderModelKeepsTheObservationsToo) {
  const Observations o = scattered(-180.0, 360.0, -90.0, 180.0);
  DataCells cells = {720, 360, {-180.0, -90.0, 180.0, 90.0}, std::vector<std::uint8_t>(720 * 360 / 8)};
  for (std::size_t i = 0; i < o.size(); ++i) {
    const auto cell =
        static_cast<std::size_t>(std::floor(2.0 * (o.lat_deg[i] + 90.0)) * 720.0 + std::floor(2.0 * (o.lon_deg[i] + 180.0)));
    cells.bits[cell / 8] |= static_cast<std::uint8_t>(1U << (cell % 8));
  }
  expect_exact_to(79.0, cells, o, 25.0);
}

TEST(NearData, TakesOneObservationAndNone) {
  Observations o;
  o.lon_deg = {12.3};
  o.lat_deg = {45.6};
  o.value = {1.0};
  const std::vector<double> lon = {12.3, 13.0}, lat = {45.6, 45.6};
  for (const Domain& domain : {sphere_domain(), xy_domain("km")}) {
    EXPECT_EQ(NearData(domain, data_cells(domain, o), 0.1)(lon, lat), (std::vector<char>{1, 0}));
    EXPECT_EQ(NearData(domain, data_cells(domain, Observations()), 0.1)(lon, lat), (std::vector<char>{0, 0}));
  }
}

TEST(NearData, TakesPlainCoordinatesInTheirUnit) {
  Observations o;
  o.lon_deg = {0.0, 1000.0};
  o.lat_deg = {0.0, 1000.0};
  o.value = {1.0, 2.0};
  const Domain plane = xy_domain("m");
  const DataCells cells = data_cells(plane, o);
  const std::vector<double> x = {10.0, 500.0, 990.0}, y = {10.0, 500.0, 995.0};
  EXPECT_EQ(NearData(plane, cells, 50.0)(x, y), (std::vector<char>{1, 0, 1}));
}

}  // namespace
}  // namespace drift
