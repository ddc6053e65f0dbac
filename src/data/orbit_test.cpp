#include "data/orbit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace drift {
namespace {

constexpr double kDegree = std::numbers::pi / 180.0;

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
  const GroundTrack track(orbit_of("Sentinel-3A"));
  const double cycle = 385 * track.nodal_period_days();
  for (double time : {0.0, 0.3, 1.77}) {
    EXPECT_LT(distance_km(track.at(time), track.at(time + cycle)), 1e-3) << time;
    EXPECT_GT(distance_km(track.at(time), track.at(time + cycle * 384 / 385)), 300.0) << time;
  }
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
