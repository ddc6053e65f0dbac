#pragma once

#include <cstdint>

#include "drift/ensemble.h"
#include "features/spherical.h"
#include "network/plan.h"

namespace drift {

// The spectrum of a plan's spherical features, at the spec's lengthscale. One for the whole network: each layer's spherical part
// has the spatial chain's settings.
SphericalSpectrum sphere_spectrum(const Plan& plan);

// One network, from (seed, index) alone: its features from their covariances, bottlenecks and head from N(0, 1), hyperparameters
// at the spec's values. Gaps between tensors are zero.
Member draw_member(const Plan& plan, std::uint64_t seed, std::uint32_t index);

}  // namespace drift
