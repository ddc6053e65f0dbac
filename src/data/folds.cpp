// Largest groups first, each to the fold that has the fewest observations so far (Graham's rule for scheduling, 1969). Sizes
// within a factor of sqrt(2) count as equal, and the order among equals is shuffled, so that the seed matters and tracks that
// follow each other land in different folds.

#include "drift/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/random.h"
#include "data/groups.h"
#include "drift/error.h"

namespace drift {
namespace {

constexpr std::uint16_t kFoldStream = 1;  // splits use the stream of layer 0

void check(const FoldOptions& options) {
  if (options.count < 2 || options.count > 255) {
    throw UsageError(fmt::format("folds: {} requested; there must be from 2 to 255", options.count));
  }
  if (options.method == SplitMethod::time || options.method == SplitMethod::none) {
    throw UsageError("folds consist of whole tracks, platforms or blocks, or of single observations; choose one of these");
  }
}

std::vector<std::size_t> largest_first(const std::vector<std::size_t>& sizes, std::uint64_t seed) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  RandomStream stream({.seed = seed, .layer = kFoldStream, .purpose = Purpose::split});
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    std::swap(order[i], order[i + static_cast<std::size_t>(stream.uniform() * static_cast<double>(order.size() - i))]);
  }
  const auto magnitude = [&](std::size_t group) { return std::floor(2.0 * std::log2(static_cast<double>(sizes[group]))); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return magnitude(a) > magnitude(b); });
  return order;
}

}  // namespace

Folds make_folds(const Observations& observations, const FoldOptions& options,
                 std::optional<std::span<const std::size_t>> wanted_rows, const Control& control) {
  check(options);
  std::vector<std::size_t> all;
  const std::span<const std::size_t> rows = rows_or_all(observations, wanted_rows, all);
  const Groups groups = find_groups(
      observations,
      {.method = options.method, .block = options.block, .block_days = options.block_days, .on_plane = options.on_plane}, rows,
      control);
  if (groups.sizes.size() < 2) {
    throw UsageError(
        fmt::format("folds by {0}: {1} observations are of {2} {0}, and folds need at least two; group them otherwise",
                    group_noun(options.method), rows.size(), groups.sizes.empty() ? "no" : "one"));
  }
  Folds folds = {.count = static_cast<int>(std::min(groups.sizes.size(), static_cast<std::size_t>(options.count))),
                 .of = {},
                 .group = groups.of};
  std::vector<std::size_t> filled(static_cast<std::size_t>(folds.count), 0);
  std::vector<std::uint8_t> fold_of_group(groups.sizes.size());
  for (const std::size_t group : largest_first(groups.sizes, options.seed)) {
    const auto emptiest = std::min_element(filled.begin(), filled.end());
    *emptiest += groups.sizes[group];
    fold_of_group[group] = static_cast<std::uint8_t>(emptiest - filled.begin());
  }
  folds.of.reserve(rows.size());
  for (const std::uint32_t group : groups.of) folds.of.push_back(fold_of_group[group]);
  return folds;
}

}  // namespace drift
