#pragma once

#include <cstdint>

#include "core/random.h"

namespace drift {

// The random numbers of a search, each with a stream of its own. The values are fixed for good: saved studies depend on them.
enum class TuningStream : std::uint16_t {
  hypercube = 1,    // substream: the design
  fit = 2,          // starts of the surrogate's hyperparameters; member: trials seen
  acquisition = 3,  // starts of the search for the next point; member: the trial's number
  trial_seed = 4,   // member: the trial's number
  importance = 5,
};

inline RandomStream tuning_stream(std::uint64_t seed, TuningStream stream, std::uint32_t member, std::uint32_t substream = 0) {
  return RandomStream({.seed = seed, .member = member, .layer = static_cast<std::uint16_t>(stream), .purpose = Purpose::tuning},
                      substream);
}

}  // namespace drift
