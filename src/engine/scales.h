#pragma once

#include <optional>
#include <vector>

#include "features/spherical.h"
#include "network/plan.h"

namespace drift {

// The numbers that a member's hyperparameters put into its layers. Frequencies are drawn for unit lengthscales, so lengthscales
// and amplitudes act as scalars on inputs and outputs and may change from step to step at no cost.
struct LayerScales {
  double amplitude = 0;              // sqrt(2) sigma: the planar features' factor
  double output = 0;                 // bottleneck's factor: 1/divisor, over the lengthscale of the layer it feeds
  std::vector<double> sphere;        // [features] sigma sqrt((2n + 1) p_n(l) / p_n(l drawn)): the spherical features' factors
  std::vector<double> sphere_slope;  // [features] d log(factor) / d log(l)
};

struct Scales {
  std::vector<double> inverse_lengthscale;  // [coordinates]; 1 for a unit vector's entries
  std::vector<LayerScales> layers;
};

// The spec with every lengthscale and amplitude one. Networks for which it is the same have the same shapes and, on the plane,
// are drawn alike: frequencies are for unit lengthscales.
NetworkSpec with_unit_scales(NetworkSpec spec);

class ScaleResolver {
 public:
  explicit ScaleResolver(Plan plan);

  // `fixed` and `parameters` are a member's arrays, in any precision.
  template <class Real>
  Scales resolve(const Real* fixed, const Real* parameters) const;

  const Plan& plan() const { return plan_; }

 private:
  Plan plan_;
  std::optional<SphericalSpectrum> drawn_;  // what the spherical degrees were drawn from
};

}  // namespace drift
