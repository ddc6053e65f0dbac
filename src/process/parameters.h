#pragma once

#include <array>
#include <cstddef>

namespace drift {

// Kriging in a moving frame: a local Gaussian process whose covariance is taken between points of a frame that travels with the
// field. With (x, y) the position in a plane tangent to the sphere at the target (or the plane itself) and t the time,
//
//   q = (x / l_x + shear y / l_y - u t / l_t,  y / l_y - v t / l_t,  t / l_t)
//   cov(f, f')   = sill ((1 - second_share) rho(|q - q'|) + second_share rho_2(|q_2 - q_2'|))
//                  rho a Matérn correlation of smoothness 1/2, 3/2 or 5/2
//   cov(observation errors) = nugget + sigma^2 on the diagonal
//                           + track_variance exp(-|t - t'| / track_time)     on one track
//                           + platform_variance                              of one platform
//
// Two lengths and a shear make any stretch in any direction. A second structure is left out unless the data ask for it, and is
// one of two kinds, as in nested variograms. A *fine* one, rho_2 = rho_3/2 and q_2 = q / second_length, serves fields that are
// smooth from one observation to the next and rough from one gap to the next. A *lasting* one, rho_2 = rho, is wider and slower
// than the first and stays at rest, as mean currents do that eddies drift past: q_2 is q without the velocity, its positions
// divided by second_length and its time by second_time.
//
// One distance of space and time together predicts better than a product of two covariances, and the frame's velocity lets storms
// and eddies travel. The mean is unknown and local (ordinary kriging), on the plane after removing a linear trend. Each
// prediction takes the nearest `neighbours` places (places.h). Cressie 1993, section 3.2; Stein 2005 on moving frames.
//
// Everything is in the engine's units: radians of arc or standardised lengths, standardised times and values.

// On the sphere the frame varies with latitude (latitudes.h): eddies shrink towards the poles, storms travel east at
// mid-latitudes.

inline constexpr int kLatitudeTerms = 3;  // functions of the latitude
inline constexpr int kFrameNumbers = 5;   // that vary with it: log length_x, length_y and time_length, drift_x, drift_y

struct ProcessParameters {
  double nu = 0.5;                                // Matérn's smoothness: 0.5, 1.5 or 2.5
  double length_x = 0.1, length_y = 0.1;          // east-west and north-south (x and y)
  double shear = 0.0;                             // of x along y, in lengths per length
  double time_length = 1.0;                       // ignored without time
  double drift_x = 0.0, drift_y = 0.0;            // velocity of the frame, in lengths per time length
  double sill = 1.0;                              // variance of the field
  double second_share = 0.0;                      // of the sill that is the second structure's; 0: there is none
  double second_length = 0.2;                     // its length, in lengths of the first
  double second_time = 0.0;                       // its time, in time lengths of the first; 0: it is fine, > 0: lasting
  double nugget = 0.1;                            // variance of an observation's own error
  double track_variance = 0.0;                    // of the error shared along a track
  double track_time = 1.0;                        // over which it is shared
  double platform_variance = 0.0;                 // of a platform's bias
  std::array<double, 3> trend = {0.0, 0.0, 0.0};  // mean, and its slope in x and y; slopes zero on the sphere

  std::array<double, std::size_t{kFrameNumbers}* kLatitudeTerms> by_latitude = {};  // coefficients, those of one number together

  bool operator==(const ProcessParameters&) const = default;
};

}  // namespace drift
