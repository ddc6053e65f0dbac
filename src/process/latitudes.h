#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>

#include "drift/network_spec.h"
#include "process/kriging.h"

namespace drift {

// The moving frame at one target. Scales and velocities of fields on the sphere depend on latitude more than on anything else, so
// each of the frame's numbers is
//
//   number + sum_k by_latitude[k] P_n(sin lat),  n = 1, 2, 4,
//
// with Legendre's polynomials: one that tells the hemispheres apart and two even ones. Their means over the sphere vanish, so
// that the number itself is an average. A target is predicted with the parameters of its own latitude at all its neighbours.

// A target in the engine's coordinates, in double precision: space, then time.
using EnginePosition = std::array<double, 4>;
EnginePosition position_of(const float* row, std::size_t columns);

using LatitudeTerms = std::array<double, kLatitudeTerms>;
LatitudeTerms latitude_terms(double sin_lat);
ProcessParameters at_latitude(const ProcessParameters& parameters, const LatitudeTerms& terms);

// The parameters as they hold at a target. East and north turn about a pole, so that a field stretched or moving along them would
// have no single value there: both fade out within some three degrees of it.
ProcessParameters at_target(const ProcessParameters& parameters, Space space, const EnginePosition& target);
// d frames_of() per unit that the target moves north.
Frames frame_motion(const ProcessParameters& parameters, Space space, const EnginePosition& target);

}  // namespace drift
