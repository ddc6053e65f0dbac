#pragma once

#include <cstddef>

#include "drift/network_spec.h"
#include "drift/recipe.h"

namespace drift {

// Bytes that training on the CPU holds at once, observations aside: every member with its moments and losses, the gradients of
// the members under way, and each thread's own workspace. Never less than it takes, and not twice as much (memory_test.cpp).
double training_bytes(const NetworkSpec& spec, const Recipe& recipe, std::size_t members, std::size_t observations, int threads,
                      bool variational = false);

}  // namespace drift
