#include "drift/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/random.h"
#include "drift/error.h"

namespace drift {
namespace {

void check_share(double held_out_share) {
  if (!(held_out_share >= 0.0 && held_out_share < 1.0)) {
    throw UsageError(fmt::format("split: the share held out is {}; it must be at least 0 and less than 1", held_out_share));
  }
}

}  // namespace

Split split_at_random(std::size_t count, double held_out_share, std::uint64_t seed) {
  check_share(held_out_share);
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

Split split_by_track(std::span<const std::int32_t> track, double held_out_share, std::uint64_t seed) {
  check_share(held_out_share);
  std::map<std::int32_t, std::size_t> lengths;
  for (const std::int32_t number : track) ++lengths[number];
  std::vector<std::pair<std::int32_t, std::size_t>> tracks(lengths.begin(), lengths.end());
  RandomStream stream({.seed = seed, .purpose = Purpose::split});
  const double wanted = held_out_share * static_cast<double>(track.size());
  double kept_aside = 0.0;
  std::set<std::int32_t> aside;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    std::swap(tracks[i], tracks[i + static_cast<std::size_t>(stream.uniform() * static_cast<double>(tracks.size() - i))]);
    const double length = static_cast<double>(tracks[i].second);
    if (kept_aside + 0.5 * length > wanted) break;  // with this one, further from what is wanted than without it
    kept_aside += length;
    aside.insert(tracks[i].first);
  }
  Split split;
  for (std::size_t row = 0; row < track.size(); ++row) {
    (aside.contains(track[row]) ? split.held_out : split.training).push_back(row);
  }
  return split;
}

}  // namespace drift
