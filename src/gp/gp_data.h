#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "gp/kernel.h"

namespace drift::gp {

// Observations as Gaussian processes take them: y_i = m + f(x_i) + e_i,  f ~ GP(0, k),  e_i ~ N(0, noise^2 + known_i).
//
// The error that is known of an observation adds to the noise that is fitted and does not replace it: the errors that products
// give do not hold what the field itself does below the lengthscale, and are often too small.
struct GpData {
  Eigen::MatrixXd points;               // [dimensions, n]
  Eigen::VectorXd values;               // [n]
  Eigen::VectorXd known_variance;       // [n] of each observation's error; empty: none is known
  std::vector<std::uint8_t> fold = {};  // [n] whole tracks or blocks together; empty: none are known

  Eigen::Index size() const { return points.cols(); }
  double known(Eigen::Index i) const { return known_variance.size() > 0 ? known_variance[i] : 0.0; }
};

struct GpParameters {
  KernelParameters kernel;  // logarithms: lengthscales, amplitude
  double log_noise = 0.0;   // of the standard deviation
  double mean = 0.0;

  double noise_variance() const;
  Eigen::VectorXd packed() const;  // [kernel..., log noise], what a search sees; the mean follows from them
  static GpParameters unpacked(const Eigen::VectorXd& packed, double mean);
};

// The observations of these indices.
GpData subset(const GpData& data, const std::vector<Eigen::Index>& rows);

}  // namespace drift::gp
