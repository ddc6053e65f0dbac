#include "simulate/orbit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "core/degree.h"

namespace drift {
namespace {

const RepeatOrbit& orbit_of(const std::string& platform) {
  const auto& orbits = known_orbits();
  return *std::find_if(orbits.begin(), orbits.end(), [&](const RepeatOrbit& orbit) { return orbit.platform == platform; });
}

double distance_km(const Position& a, const Position& b) {
  const UnitVector u = unit_vector(a), v = unit_vector(b);
  const double chord = std::hypot(u[0] - v[0], u[1] - v[1], u[2] - v[2]);
  return 2.0 * kEarthRadiusKm * std::asin(0.5 * chord);
}

// Highest and lowest latitude over a day, a point every few seconds.
std::pair<double, double> latitude_range(const GroundTrack& track) {
  double low = 90.0, high = -90.0;
  for (int i = 0; i < 20000; ++i) {
    const double lat = track.at(i / 20000.0).lat_deg;
    low = std::min(low, lat);
    high = std::max(high, lat);
  }
  return {low, high};
}

TEST(GroundTrack, IsBoundedByTheInclination) {
  const auto [s3_low, s3_high] = latitude_range(GroundTrack(orbit_of("Sentinel-3A")));
  EXPECT_NEAR(s3_high, 81.35, 1e-3);
  EXPECT_NEAR(s3_low, -81.35, 1e-3);
  const auto [cs_low, cs_high] = latitude_range(GroundTrack(orbit_of("CryoSat-2")));
  EXPECT_NEAR(cs_high, 88.0, 1e-3);
  EXPECT_NEAR(cs_low, -88.0, 1e-3);
}

TEST(GroundTrack, OfSentinel3TurnsWithTheSun) {
  // The mean sun moves 360 deg in a tropical year; the inclination is published to a hundredth of a degree.
  EXPECT_NEAR(GroundTrack(orbit_of("Sentinel-3A")).node_rate_deg_per_day(), 360.0 / 365.2422, 0.01 * 0.9856);
}

TEST(GroundTrack, MakesThePublishedRevolutionsADay) {
  EXPECT_NEAR(GroundTrack(orbit_of("Sentinel-3A")).revolutions_per_day(), 14.0 + 7.0 / 27.0, 2e-3);
  // CryoSat-2's 369 nodal days are 368.24 solar ones (ESA).
  EXPECT_NEAR(5344.0 / GroundTrack(orbit_of("CryoSat-2")).revolutions_per_day(), 368.24, 0.01);
}

TEST(GroundTrack, FliesAtThePublishedAltitude) {
  // Published mean altitudes are above the ellipsoid, whose radius averages 6367.5 km along a polar orbit.
  EXPECT_NEAR(GroundTrack(orbit_of("Sentinel-3A")).semi_major_axis_km() - 6367.5, 814.5, 5.0);
  EXPECT_NEAR(GroundTrack(orbit_of("CryoSat-2")).semi_major_axis_km() - 6367.5, 717.0, 15.0);
}

TEST(GroundTrack, ComesBackAfterItsRepeatCycleAndNotBefore) {
  const auto comes_back = [](const std::string& platform, int revolutions, double days) {
    const GroundTrack track(orbit_of(platform));
    const double cycle = revolutions * track.nodal_period_days();
    EXPECT_NEAR(cycle, days, 0.01) << platform;
    for (double time : {0.0, 0.3, 1.77}) {
      EXPECT_LT(distance_km(track.at(time), track.at(time + cycle)), 1e-3) << platform << time;
      EXPECT_GT(distance_km(track.at(time), track.at(time + cycle * (revolutions - 1) / revolutions)), 300.0) << platform << time;
    }
  };
  comes_back("Sentinel-3A", 385, 27.0);
  comes_back("Sentinel-3B", 385, 27.0);
  comes_back("CryoSat-2", 5344, 368.24);  // 369 days of its own plane (ESA)
}

// Where a whole cycle's ascending passes cross the equator: the widest and the narrowest gap between neighbours, km.
std::pair<double, double> equator_gaps_km(const std::string& platform) {
  const RepeatOrbit& orbit = orbit_of(platform);
  const GroundTrack track(orbit);
  const double first = (360.0 - orbit.phase_deg) / 360.0 * track.nodal_period_days();
  std::vector<double> lon;
  for (int r = 0; r < orbit.revolutions; ++r) lon.push_back(track.at(first + r * track.nodal_period_days()).lon_deg);
  std::sort(lon.begin(), lon.end());
  double widest = 0.0, narrowest = 360.0;
  for (std::size_t i = 0; i < lon.size(); ++i) {
    const double gap = (i + 1 < lon.size() ? lon[i + 1] : lon[0] + 360.0) - lon[i];
    widest = std::max(widest, gap);
    narrowest = std::min(narrowest, gap);
  }
  const double km_per_degree = 2.0 * std::numbers::pi * 6378.137 / 360.0;
  return {widest * km_per_degree, narrowest * km_per_degree};
}

TEST(GroundTrack, LeavesThePublishedGapsAtTheEquator) {
  // ESA: 104 km between Sentinel-3A's tracks after 27 days, 7.5 km between CryoSat-2's after 369.
  const auto [s3_widest, s3_narrowest] = equator_gaps_km("Sentinel-3A");
  EXPECT_NEAR(s3_widest, 104.0, 0.5);
  EXPECT_NEAR(s3_narrowest, s3_widest, 0.01);
  const auto [cs_widest, cs_narrowest] = equator_gaps_km("CryoSat-2");
  EXPECT_NEAR(cs_widest, 7.5, 0.05);
  EXPECT_NEAR(cs_narrowest, cs_widest, 0.01);
}

TEST(GroundTrack, CrossesTheEquatorWhereTheEarthHasTurnedTo) {
  for (const RepeatOrbit& orbit : known_orbits()) {
    const GroundTrack track(orbit);
    const double earth_rate = 360.9856;  // degrees a day against the stars
    const double spacing = track.nodal_period_days() * (earth_rate - track.node_rate_deg_per_day());
    const double first = (360.0 - orbit.phase_deg) / 360.0 * track.nodal_period_days();  // time of an ascending node
    for (int revolution = 0; revolution < 30; ++revolution) {
      const Position here = track.at(first + revolution * track.nodal_period_days());
      const Position next = track.at(first + (revolution + 1) * track.nodal_period_days());
      EXPECT_NEAR(here.lat_deg, 0.0, 1e-6) << orbit.platform;
      EXPECT_NEAR(std::remainder(here.lon_deg - next.lon_deg - spacing, 360.0), 0.0, 1e-4) << orbit.platform;
    }
  }
}

TEST(GroundTrack, MovesAsFastAsTheOrbitAndTheEarthLetIt) {
  const GroundTrack track(orbit_of("CryoSat-2"));
  const double second = 1.0 / 86400.0;
  // Along the orbit the point below moves 2 pi R a nodal period; the Earth adds at most its own 0.4651 km/s, crosswise here.
  const double along = 2.0 * std::numbers::pi * kEarthRadiusKm / (track.nodal_period_days() * 86400.0);
  for (double time = 0.0; time < 0.2; time += 0.003) {
    const double speed = distance_km(track.at(time), track.at(time + second));
    const double east = 0.4651 * std::cos(track.at(time).lat_deg * kDegree);
    EXPECT_NEAR(speed, std::hypot(along, east), 0.03) << time;
  }
}

TEST(GroundTrack, AscendsSentinel3sNodeAtTwentyTwoHoursLocalTime) {
  const GroundTrack track(orbit_of("Sentinel-3A"));
  for (int revolution = 0; revolution < 128; ++revolution) {
    const double time = revolution * track.nodal_period_days();
    const double local_hours = std::fmod(24.0 * time + track.at(time).lon_deg / 15.0 + 48.0, 24.0);
    EXPECT_NEAR(local_hours, 22.0, 0.01) << revolution;
  }
}

TEST(GroundTrack, KeepsSentinel3AtItsLocalTimeForDecades) {
  const GroundTrack track(orbit_of("Sentinel-3A"));
  const double day = 25627.0;  // 2020-03-01, since 1950
  const double first = std::ceil(day / track.nodal_period_days()) * track.nodal_period_days();
  const double local_hours = std::fmod(24.0 * (first - day) + track.at(first).lon_deg / 15.0 + 48.0, 24.0);
  EXPECT_NEAR(local_hours, 22.0, 0.01);
}

TEST(GroundTrack, KeepsTheTwoSentinels140DegreesApart) {
  const GroundTrack a(orbit_of("Sentinel-3A")), b(orbit_of("Sentinel-3B"));
  for (double time : {0.0, 3.14, 25627.5}) {
    EXPECT_NEAR(distance_km(a.at(time), b.at(time)) / kEarthRadiusKm / kDegree, 140.0, 1e-6) << time;
  }
}

TEST(GroundTrack, KeepsTheTwoSentinelsInOnePlane) {
  const GroundTrack a(orbit_of("Sentinel-3A")), b(orbit_of("Sentinel-3B"));
  // 3B is where 3A will be 140/360 of a period later, less the Earth's turn in between.
  const double later = 140.0 / 360.0 * a.nodal_period_days();
  const Position now = b.at(2.2), then = a.at(2.2 + later);
  EXPECT_NEAR(now.lat_deg, then.lat_deg, 1e-9);
  EXPECT_NEAR(std::remainder(now.lon_deg - then.lon_deg + later * a.node_lon_rate_deg_per_day(), 360.0), 0.0, 1e-9);
}

}  // namespace
}  // namespace drift
