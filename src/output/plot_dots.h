#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "drift/observations.h"

namespace drift {

// Observations that a map of this time shows: no further from it than `within_days`. All where either has no time.
struct DotWindow {
  double time_days = NAN;
  double within_days = 0.0;
};

// Longitude, latitude and value of every k-th of them, k so large that at most `most` are drawn.
std::vector<double> choose_dots(const Observations& observations, const DotWindow& window, std::size_t most);

}  // namespace drift
