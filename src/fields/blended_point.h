#pragma once

namespace drift {

// The blend's mean and variance at a point: that of the process, and the parts' disagreement as in a mixture of two.
struct BlendedPoint {
  double mean, variance;
};
inline BlendedPoint blended(double weight, double process, double process_variance, double network) {
  const double apart = process - network;
  return {network + weight * apart, process_variance + weight * (1.0 - weight) * apart * apart};
}

}  // namespace drift
