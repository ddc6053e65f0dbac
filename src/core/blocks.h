#pragma once

#include <algorithm>
#include <cstddef>

namespace drift {

// Points predicted at a time: enough to fill a GPU, few enough that their features and results are no memory to speak of.
inline constexpr std::size_t kPointsAtATime = 65536;

// Calls work(first, rows) for blocks of `block` rows, the last one shorter, in order.
template <class Work>
void for_blocks(std::size_t rows, std::size_t block, Work&& work) {
  for (std::size_t first = 0; first < rows; first += block) work(first, std::min(block, rows - first));
}
template <class Work>
void for_blocks(std::size_t rows, Work&& work) {
  for_blocks(rows, kPointsAtATime, work);
}

}  // namespace drift
