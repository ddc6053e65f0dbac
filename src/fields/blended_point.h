#pragma once

#include "drift/field_model.h"

namespace drift {

// A blend at a point. The networks' share of the mean falls with their distance from the process, z in units of the reach,
//   share = (1 - weight) / (1 + z^2),     mean = process + share (network - process),
// and the variance is that of the process, and the parts' disagreement as in a mixture of two, share (1 - share) (network -
// process)^2, times the factor of the local spread (process/local_spread.h). So is that of the field's difference between two
// points, of the process's own and of the parts' differences.
struct BlendedPoint {
  double mean, variance;
  double by_network;  // d mean / d network; by the process it is the rest of one
  double share;
};
inline BlendedPoint blended(const BlendWeight& weight, double process, double process_variance, double network,
                            double local = 1.0) {
  const double apart = network - process, z = apart / weight.reach, far = 1.0 + z * z;
  const double share = (1.0 - weight.process) / far;
  const double variance = local * (process_variance + share * (1.0 - share) * apart * apart);
  return {process + share * apart, variance, share * (1.0 - z * z) / far, share};
}

}  // namespace drift
