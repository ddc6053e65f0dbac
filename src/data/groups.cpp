#include "data/groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/blocks.h"
#include "core/degree.h"
#include "drift/error.h"
#include "drift/position.h"

namespace drift {
namespace {

using Key = std::array<std::int64_t, 3>;  // equal for rows of one group; groups are numbered in this order

void require(bool there, const char* what) {
  if (there) return;
  throw UsageError(
      fmt::format("the split keeps whole {} together, but the observations have no {}; use --split block instead", what, what));
}

std::int64_t whole(double number) {
  constexpr double kMost = 9e15;  // beyond it doubles have no fractions
  return static_cast<std::int64_t>(std::clamp(std::floor(number), -kMost, kMost));
}

// The square of the map that a position lies in: rows of equal height, cut into squares of about equal width.
Key block_of(double x, double y, const GroupOptions& options) {
  if (options.on_plane) return {whole(y / options.block), whole(x / options.block), 0};
  const double height_deg = options.block / (kEarthRadiusKm * kDegree);
  const double row = std::floor((y + 90.0) / height_deg);
  const double middle_deg = std::min((row + 0.5) * height_deg - 90.0, 89.9);
  const double squares = std::max(1.0, std::floor(360.0 * std::cos(middle_deg * kDegree) / height_deg));
  const double turn = (x + 180.0) / 360.0;
  return {whole(row), whole((turn - std::floor(turn)) * squares), 0};
}

Key key_of(const Observations& o, const GroupOptions& options, std::size_t row) {
  switch (options.method) {
    case SplitMethod::track:
      return {o.track[row]};
    case SplitMethod::platform:
      return {o.platform[row]};
    case SplitMethod::block: {
      Key key = block_of(o.lon_deg[row], o.lat_deg[row], options);
      if (options.block_days > 0.0 && !o.time_days.empty()) key[2] = whole(o.time_days[row] / options.block_days);
      return key;
    }
    default:
      return {static_cast<std::int64_t>(row)};
  }
}

void check(const Observations& o, const GroupOptions& options) {
  require(options.method != SplitMethod::track || !o.track.empty(), "tracks");
  require(options.method != SplitMethod::platform || !o.platform.empty(), "platforms");
  if (!(options.block > 0.0) || !std::isfinite(options.block)) {
    throw UsageError(fmt::format("the side of a block is {}; it must be greater than zero", options.block));
  }
  if (!(options.block_days >= 0.0) || !std::isfinite(options.block_days)) {
    throw UsageError(fmt::format("the length of a block is {} days; it must be zero (all times) or more", options.block_days));
  }
}

}  // namespace

Groups find_groups(const Observations& observations, const GroupOptions& options, std::span<const std::size_t> rows,
                   const Control& control) {
  check(observations, options);
  if (rows.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(fmt::format("{} observations are more than can be grouped, 4,294,967,295; read fewer", rows.size()));
  }
  std::vector<Key> key;
  key.reserve(rows.size());
  for_blocks(rows.size(), [&](std::size_t first, std::size_t count) {
    control.check_stop();
    for (const std::size_t row : rows.subspan(first, count)) key.push_back(key_of(observations, options, row));
  });
  std::vector<std::uint32_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0U);
  std::size_t comparisons = 0;  // millions of rows take seconds to sort, so the sort itself looks for a stop request
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    if (++comparisons % kPointsAtATime == 0) control.check_stop();
    return key[a] < key[b];
  };
  if (!std::is_sorted(order.begin(), order.end(), std::ref(before))) std::sort(order.begin(), order.end(), std::ref(before));
  Groups groups;
  groups.of.resize(rows.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || key[order[i]] != key[order[i - 1]]) groups.sizes.push_back(0);
    groups.of[order[i]] = static_cast<std::uint32_t>(groups.sizes.size() - 1);
    ++groups.sizes.back();
  }
  return groups;
}

std::span<const std::size_t> rows_or_all(const Observations& observations,
                                         const std::optional<std::span<const std::size_t>>& rows, std::vector<std::size_t>& all) {
  if (rows) return *rows;
  all.resize(observations.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

const char* group_noun(SplitMethod method) {
  switch (method) {
    case SplitMethod::track:
      return "track";
    case SplitMethod::platform:
      return "platform";
    case SplitMethod::block:
      return "block";
    default:
      return "observation";
  }
}

std::string split_words(const SplitOptions& options) {
  switch (options.method) {
    case SplitMethod::track:
      return "in whole tracks";
    case SplitMethod::platform:
      return "in whole platforms";
    case SplitMethod::time:
      return "as the last in time";
    case SplitMethod::block:
      return fmt::format("in blocks of {:g} {}{}", options.block, options.on_plane ? "units" : "km",
                         options.block_days > 0.0 ? fmt::format(" by {:g} days", options.block_days) : "");
    default:
      return "at random";
  }
}

}  // namespace drift
