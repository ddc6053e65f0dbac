#pragma once

#include <cstddef>

#include "drift/observations.h"

namespace drift {

// Takes out observations with the position, time, value and platform of an earlier one; returns how many.
std::size_t drop_duplicates(Observations& observations, int threads);

}  // namespace drift
