// Circular orbits with the secular effect of the Earth's oblateness (e.g. Vallado, "Fundamentals of astrodynamics and
// applications", section 9.6, with eccentricity zero). With n = sqrt(mu / a^3) and q = (3/2) J2 (R / a)^2,
//   node:                  dOmega/dt = -q n cos i
//   argument of latitude:  du/dt = n (1 + q (3 - 4 sin^2 i))        (mean anomaly and perigee together)
// The ground track repeats when du/dt / (w - dOmega/dt) = revolutions / nodal days, w the Earth's rate of rotation: that is
// solved for a. The plane of a sun-synchronous orbit is kept at dOmega/dt = w - 1 turn a day, whatever the published inclination,
// to a hundredth of a degree, says: it would be off by hours after some years.

#include "simulate/orbit.h"

#include <cmath>
#include <numbers>

#include "core/degree.h"
#include "drift/calendar.h"

namespace drift {
namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;

// Constants of WGS 84 (NGA.STND.0036, 2014): gravity, equatorial radius, rotation against the stars, and J2 = -sqrt(5) C20.
constexpr double kMu = 398600.4418;  // km^3 / s^2
constexpr double kEquatorialRadiusKm = 6378.137;
constexpr double kEarthRate = 7.292115e-5 * kSecondsPerDay;  // radians a day
constexpr double kJ2 = 1.082629821e-3;

struct Rates {
  double node;
  double latitude;
};

Rates secular_rates(double mean_motion, double semi_major_axis_km, double sin_inclination, double cos_inclination) {
  const double ratio = kEquatorialRadiusKm / semi_major_axis_km;
  const double q = 1.5 * kJ2 * ratio * ratio;
  return {-q * mean_motion * cos_inclination, mean_motion * (1.0 + q * (3.0 - 4.0 * sin_inclination * sin_inclination))};
}

}  // namespace

// Sentinel-3 (ESA, Sentinel-3 mission guide): 98.65 deg, 385 revolutions in 27 days, mean altitude 814.5 km, descending node at
// 10:00 mean local solar time, hence the ascending one at 22:00: 30 W at midnight UTC. 3B flies 140 deg from 3A in the same
// plane. CryoSat-2 (ESA, CryoSat mission): 92 deg, 5344 revolutions in 369 (nodal) days, mean altitude 717 km; its node drifts
// through all local times, so that its longitude at time zero is a free choice.
const std::vector<RepeatOrbit>& known_orbits() {
  static const std::vector<RepeatOrbit> orbits = {
      {"Sentinel-3A", 98.65, 385, 27, -30.0, 0.0, true},
      {"Sentinel-3B", 98.65, 385, 27, -30.0, 140.0, true},
      {"CryoSat-2", 92.0, 5344, 369, 0.0, 0.0},
  };
  return orbits;
}

GroundTrack::GroundTrack(const RepeatOrbit& orbit)
    : sin_inclination_(std::sin(orbit.inclination_deg * kDegree)),
      cos_inclination_(std::cos(orbit.inclination_deg * kDegree)),
      phase_(orbit.phase_deg * kDegree),
      node_lon_(orbit.node_lon_deg * kDegree) {
  const double revolutions_per_turn = static_cast<double>(orbit.revolutions) / orbit.nodal_days;
  const double mu = kMu * kSecondsPerDay * kSecondsPerDay;  // km^3 / day^2
  // Fixed point: every round multiplies the error by about q, a thousandth.
  double mean_motion = revolutions_per_turn * kEarthRate;
  for (int round = 0; round < 10; ++round) {
    semi_major_axis_km_ = std::cbrt(mu / (mean_motion * mean_motion));
    const Rates rates = secular_rates(mean_motion, semi_major_axis_km_, sin_inclination_, cos_inclination_);
    node_rate_ = orbit.sun_synchronous ? kEarthRate - kTurn : rates.node;
    latitude_rate_ = revolutions_per_turn * (kEarthRate - node_rate_);
    mean_motion *= latitude_rate_ / rates.latitude;
  }
}

double GroundTrack::sin_latitude(double time_days) const { return sin_inclination_ * std::sin(argument_of_latitude(time_days)); }

Position GroundTrack::at(double time_days) const {
  const double u = argument_of_latitude(time_days);
  const double along_equator = std::atan2(cos_inclination_ * std::sin(u), std::cos(u));
  const double lon = node_lon_ + (node_rate_ - kEarthRate) * time_days + along_equator;
  return {std::remainder(lon, kTurn) / kDegree, std::asin(sin_inclination_ * std::sin(u)) / kDegree};
}

double GroundTrack::nodal_period_days() const { return kTurn / latitude_rate_; }
double GroundTrack::node_rate_deg_per_day() const { return node_rate_ / kDegree; }
double GroundTrack::node_lon_rate_deg_per_day() const { return (node_rate_ - kEarthRate) / kDegree; }

}  // namespace drift
