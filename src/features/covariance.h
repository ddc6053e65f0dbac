#pragma once

#include "core/random.h"
#include "drift/network_spec.h"
#include "features/spherical.h"

namespace drift {

// The covariances themselves, in double precision and for unit variance: what the random features approximate, and what the
// Gaussian-process baselines use. All that a family of covariances is stands here, in spectral_density.h and in
// gp/kernel_loops.h.

// Throws UsageError unless the family's numbers are in range.
void check(const Covariance& covariance);

// A covariance on the plane is a mixture of squared exponentials: a feature's frequency is N(0, I) times a random number of its
// own, which this draws: 1 for the squared exponential, 1 / sqrt(G / nu) with G ~ Gamma(nu, 1), bounded, for Matérn.
double draw_mixture_scale(const Covariance& covariance, RandomStream random);

// On the plane, as a function of r = |(x - x') / l| >= 0, whatever the number of coordinates:
//   squared exponential  exp(-r^2 / 2)
//   Matérn               2^(1 - nu) / Gamma(nu) z^nu K_nu(z),  z = sqrt(2 nu) r
// with the elementary forms for nu = 1/2, 3/2, 5/2. nu > 0 (UsageError otherwise).
double planar_covariance(const Covariance& covariance, double scaled_distance);

// Matérn's covariance for any nu > 0, without the elementary forms. Relative error below 1e-12 where the value is above 1e-300
// and nu between 0.01 and 1000.
double matern_covariance(double nu, double scaled_distance);

// On the sphere, as a function of s . s' in [-1, 1]: sum_n p_n P_n(s . s').
double spherical_covariance(const SphericalSpectrum& spectrum, double cos_angle);

}  // namespace drift
