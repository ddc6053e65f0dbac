#pragma once

#include <string>
#include <vector>

namespace drift {

struct Tick {
  double value;
  std::string label;
};

// Round numbers (1, 2 or 5 times a power of ten apart, with no more decimals than that takes) inside [low, high], low < high:
// at most `most` (>= 2) of them.
std::vector<Tick> nice_ticks(double low, double high, int most);

}  // namespace drift
