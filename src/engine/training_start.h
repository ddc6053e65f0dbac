#pragma once

#include <cstdint>
#include <string>

#include "drift/engine.h"

namespace drift {

// Throws UsageError unless recipe, networks and observations go together.
void check_training(const Ensemble& ensemble, const TrainingSet& data, const Recipe& recipe);

// The same, and for the state; an empty one is made that of a beginning.
void begin_training(const Ensemble& ensemble, TrainingState& state, const TrainingSet& data, const Recipe& recipe);

// Of all members together.
std::uint64_t steps_taken(const TrainingState& state);

// Why training ended when the loss of a member was not finite at `step`, counted from 0, of `total`.
std::string divergence_message(const Recipe& recipe, std::uint32_t member, std::uint64_t step, std::uint64_t total);

}  // namespace drift
