#pragma once

#include <cstdint>

#include "drift/interpolator.h"
#include "gp/svgp_setup.h"

namespace drift::gp {

// Progress of a fit.
struct SvgpOutcome {
  std::uint64_t steps = 0;
  double bound_per_observation =
      0.0;              // evidence lower bound over the number of observations, mean of the last tenth of the steps
  double jitter = 0.0;  // the largest of the last step
};

// Steps that settings and observations make.
std::uint64_t svgp_steps(const SvgpSettings& settings, std::size_t observations);

// Trains parameters, which start_svgp made from settled settings. Batches are drawn without replacement. Known errors add to the
// noise that is trained: s_i^2 = scale^2 + known_variance_i. Throws Error with step and rate when the loss is not finite, and
// naming the layer when a covariance cannot be factored.
template <class Real>
SvgpOutcome train_svgp(const GpData& data, const SvgpSettings& settings, const Control& control, SvgpStart<Real>& start);

}  // namespace drift::gp
