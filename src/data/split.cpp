#include "drift/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/random.h"
#include "drift/error.h"

namespace drift {

Split split_at_random(std::size_t count, double held_out_share, std::uint64_t seed) {
  if (!(held_out_share >= 0.0 && held_out_share < 1.0)) {
    throw UsageError(fmt::format("split: the share held out is {}; it must be at least 0 and less than 1", held_out_share));
  }
  const auto held_out = static_cast<std::size_t>(std::floor(held_out_share * static_cast<double>(count)));
  std::vector<std::size_t> rows(count);
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  // The first steps of Fisher and Yates' shuffle: the front becomes a draw without replacement.
  RandomStream stream({.seed = seed, .purpose = Purpose::split});
  for (std::size_t i = 0; i < held_out; ++i) {
    std::swap(rows[i], rows[i + static_cast<std::size_t>(stream.uniform() * static_cast<double>(count - i))]);
  }
  const auto border = rows.begin() + static_cast<std::ptrdiff_t>(held_out);
  Split split = {{border, rows.end()}, {rows.begin(), border}};
  std::sort(split.training.begin(), split.training.end());
  std::sort(split.held_out.begin(), split.held_out.end());
  return split;
}

}  // namespace drift
