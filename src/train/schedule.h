#pragma once

#include <cstdint>

#include "drift/recipe.h"

namespace drift {

// Factor of every rate of the recipe at `step`, counted from 0, of `total_steps`. With w warm-up steps, at most a quarter
// of the run,
//   (step + 1) / (w + 1)                                   while step < w: never zero, one at step w
//   (1 + cos(pi (step - w) / (total_steps - w))) / 2       from there on: it would reach zero one step after the last
// Loshchilov & Hutter 2017, without restarts. A constant schedule is one throughout, warm-up included.
double rate_multiplier(const Recipe& recipe, std::uint64_t step, std::uint64_t total_steps);

}  // namespace drift
