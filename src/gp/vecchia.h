#pragma once

#include <Eigen/Core>
#include <vector>

#include "gp/gp_data.h"

namespace drift::gp {

// Vecchia's likelihood (1988): a product of conditionals p(y_i | y_N(i)), each given a few other observations N(i),
//   b = K_NN^-1 k_Ni,   v = k_ii - k_Ni' b,   e = y_i - m - b'(y_N - m),   log p = -1/2 log(2 pi v) - e^2 / (2 v),
// K with noise. With N(i) all that come before i in some order, it is the evidence itself; with fewer, each factor still has the
// right mean and variance, and the sum over any choice of i has its highest expected value at the true parameters (a composite
// likelihood; Datta et al. 2016, Katzfuss & Guinness 2021).
//
// The gradient needs no derivative of b: with w = [-b; 1], a = [K_NN^-1 (y_N - m); 0] over N and i together,
//   dv = w' dK w,   de = -a' dK w,   dlog p = (e^2 / v - 1) / (2 v) dv - (e / v) de.
struct Conditional {
  Eigen::Index target = 0;
  std::vector<Eigen::Index> given;
};

struct VecchiaSum {
  double value = 0.0;        // minus infinity where a covariance cannot be factored
  double mean = 0.0;         // the m that would make it highest under these parameters
  Eigen::VectorXd gradient;  // in [log lengthscales, log amplitude, log noise], m held
};

// theta and its mean are given. Sums are taken in a fixed order: any number of threads gives the same.
VecchiaSum vecchia_likelihood(const KernelSpec& spec, const GpData& data, const std::vector<Conditional>& conditionals,
                              const Eigen::VectorXd& theta, double mean, int threads);

}  // namespace drift::gp
