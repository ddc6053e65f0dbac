#pragma once

#include <cstddef>
#include <optional>

#include "drift/backend.h"
#include "drift/network_spec.h"
#include "drift/recipe.h"

namespace drift {

// Bytes that training on the CPU holds at once, observations aside: every member with its moments and losses, the gradients of
// the members under way, and each thread's own workspace. Never less than it takes, and not twice as much (memory_test.cpp).
double training_bytes(const NetworkSpec& spec, const Recipe& recipe, std::size_t members, std::size_t observations, int threads,
                      bool variational = false);

// Bytes that training takes of the GPU: of the networks that are trained at once, their passes and the observations. None: there
// is no GPU that can be used. Throws Error where it has too little for one network.
std::optional<double> gpu_training_bytes(const NetworkSpec& spec, const Recipe& recipe, std::size_t members,
                                         std::size_t observations, bool variational, Precision precision);

}  // namespace drift
