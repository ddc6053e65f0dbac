#pragma once

#include <string>
#include <vector>

#include "drift/position.h"

namespace drift {

// A circular orbit whose ground track repeats after `revolutions` turns of the satellite and `nodal_days` turns of the Earth
// under the orbit's plane. Repeat cycle and inclination fix the semi-major axis more exactly than any published altitude does.
// Time zero is a midnight (UTC): 1950-01-01 where times are of the calendar.
struct RepeatOrbit {
  std::string platform;
  double inclination_deg;
  int revolutions;
  int nodal_days;
  double node_lon_deg;           // where the plane's ascending node lies over the Earth at time zero
  double phase_deg;              // how far past that node the satellite is then
  bool sun_synchronous = false;  // manoeuvres keep the plane at its mean local time for good
};

// Sentinel-3A, Sentinel-3B and CryoSat-2.
const std::vector<RepeatOrbit>& known_orbits();

// Position of a satellite over a rotating, oblate Earth: Kepler's motion with the mean (secular) effect of J2.
class GroundTrack {
 public:
  explicit GroundTrack(const RepeatOrbit& orbit);

  Position at(double time_days) const;

  // Angle from the ascending node along the orbit, radians, growing without bound.
  double argument_of_latitude(double time_days) const { return phase_ + latitude_rate_ * time_days; }
  double sin_inclination() const { return sin_inclination_; }
  // sin(latitude) = sin(inclination) sin(argument of latitude)
  double sin_latitude(double time_days) const;

  double semi_major_axis_km() const { return semi_major_axis_km_; }
  double nodal_period_days() const;          // from ascending node to ascending node
  double node_rate_deg_per_day() const;      // against the stars
  double node_lon_rate_deg_per_day() const;  // against the Earth
  double revolutions_per_day() const { return 1.0 / nodal_period_days(); }

 private:
  double sin_inclination_;
  double cos_inclination_;
  double phase_;     // radians
  double node_lon_;  // radians, at time zero
  double semi_major_axis_km_;
  double latitude_rate_;  // radians a day, of the argument of latitude
  double node_rate_;      // radians a day
};

}  // namespace drift
