#include "drift/split.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/random.h"
#include "data/groups.h"
#include "data/platform_names.h"
#include "data/tracks.h"
#include "drift/error.h"

namespace drift {
namespace {

void check_share(double held_out_share) {
  if (!(held_out_share >= 0.0 && held_out_share < 1.0)) {
    throw UsageError(fmt::format("split: the share held out is {}; it must be at least 0 and less than 1", held_out_share));
  }
}

GroupOptions groups_by(const SplitOptions& options) {
  return {.method = options.method, .block = options.block, .block_days = options.block_days, .on_plane = options.on_plane};
}

// Groups in random order until they hold the share, as near to it as the last one allows.
std::vector<bool> draw_groups(const std::vector<std::size_t>& sizes, double held_out_share, std::uint64_t seed) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  RandomStream stream({.seed = seed, .purpose = Purpose::split});
  const double wanted = held_out_share * static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}));
  double kept_aside = 0.0;
  std::vector<bool> aside(sizes.size(), false);
  bool any = false;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::swap(order[i], order[i + static_cast<std::size_t>(stream.uniform() * static_cast<double>(order.size() - i))]);
    const auto length = static_cast<double>(sizes[order[i]]);
    if (kept_aside + 0.5 * length > wanted) {  // with this one, further from what is wanted than without it
      if (any) break;
      continue;  // a smaller one may still do
    }
    kept_aside += length;
    aside[order[i]] = any = true;
  }
  // All are larger than twice the share: the smallest comes nearest to it.
  if (!any && held_out_share > 0.0 && sizes.size() > 1) {
    aside[*std::min_element(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sizes[a] < sizes[b]; })] =
        true;
  }
  return aside;
}

std::vector<bool> named_platforms(const Observations& observations, const std::vector<std::string>& names) {
  std::vector<bool> found(observations.platform_names.size(), false);
  for (const std::string& name : names) {
    const auto place = std::find_if(observations.platform_names.begin(), observations.platform_names.end(),
                                    [&](const std::string& platform) { return is_platform(platform, name); });
    if (place == observations.platform_names.end()) {
      throw UsageError(fmt::format("split by platform: there is no platform '{}'; there are {}", name,
                                   fmt::join(observations.platform_names, ", ")));
    }
    found[static_cast<std::size_t>(place - observations.platform_names.begin())] = true;
  }
  return found;
}

Split split_by_name(const Observations& o, const SplitOptions& options, std::span<const std::size_t> rows) {
  if (o.platform.empty()) throw UsageError("split by platform: platforms are named, but the observations have none");
  const std::vector<bool> aside = named_platforms(o, options.platforms);
  Split split;
  for (const std::size_t row : rows) (aside[o.platform[row]] ? split.held_out : split.training).push_back(row);
  if (split.held_out.empty()) {
    throw UsageError(fmt::format("split by platform: no observation is of {}; there is nothing to hold out",
                                 fmt::join(options.platforms, ", ")));
  }
  return split;
}

Split split_by_group(const Observations& o, const SplitOptions& options, std::span<const std::size_t> rows,
                     const Control& control) {
  const Groups groups = find_groups(o, groups_by(options), rows, control);
  const std::vector<bool> aside = draw_groups(groups.sizes, options.held_out, options.seed);
  Split split;
  for (std::size_t i = 0; i < rows.size(); ++i) (aside[groups.of[i]] ? split.held_out : split.training).push_back(rows[i]);
  if (groups.sizes.size() == 1 && options.held_out > 0.0) {
    throw UsageError(
        fmt::format("split by {0}: all observations are of one {0}, which cannot both train and be held out; choose "
                    "another --split",
                    group_noun(options.method)));
  }
  return split;
}

Split split_rows_at_random(const SplitOptions& options, std::span<const std::size_t> rows) {
  const Split places = split_at_random(rows.size(), options.held_out, options.seed);
  Split split;
  for (const std::size_t place : places.training) split.training.push_back(rows[place]);
  for (const std::size_t place : places.held_out) split.held_out.push_back(rows[place]);
  return split;
}

// The last in time; those at the very time of the border go with the earlier ones, unless they are the last of all.
Split split_in_time(const Observations& o, double share, std::span<const std::size_t> rows) {
  if (o.time_days.empty()) throw UsageError("split by time: the observations have no times; choose another --split");
  std::vector<double> times;
  for (const std::size_t row : rows) times.push_back(o.time_days[row]);
  Split split;
  if (times.empty()) return split;
  const auto border =
      times.begin() + static_cast<std::ptrdiff_t>(std::ceil((1.0 - share) * static_cast<double>(times.size()))) - 1;
  std::nth_element(times.begin(), border, times.end());
  const double at_border = *border, last = *std::max_element(border, times.end());
  const bool whole_end = share > 0.0 && at_border == last;  // all of the share is at one time
  for (const std::size_t row : rows) {
    const bool later = whole_end ? o.time_days[row] == last : o.time_days[row] > at_border;
    (later ? split.held_out : split.training).push_back(row);
  }
  return split;
}

}  // namespace

Split split_at_random(std::size_t count, double held_out_share, std::uint64_t seed) {
  check_share(held_out_share);
  auto held_out = static_cast<std::size_t>(std::floor(held_out_share * static_cast<double>(count)));
  if (held_out == 0 && held_out_share > 0.0 && count > 1) held_out = 1;
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

Split split_observations(const Observations& observations, const SplitOptions& options,
                         std::optional<std::span<const std::size_t>> wanted_rows, const Control& control) {
  check_share(options.held_out);
  std::vector<std::size_t> all;
  const std::span<const std::size_t> rows = rows_or_all(observations, wanted_rows, all);
  Split split;
  if (options.method == SplitMethod::none) {
    split.training.assign(rows.begin(), rows.end());
  } else if (options.method == SplitMethod::random) {
    split = split_rows_at_random(options, rows);
  } else if (options.method == SplitMethod::time) {
    split = split_in_time(observations, options.held_out, rows);
  } else if (options.method == SplitMethod::platform && !options.platforms.empty()) {
    split = split_by_name(observations, options, rows);
  } else {
    split = split_by_group(observations, options, rows, control);
  }
  if (split.training.empty()) throw UsageError("split: nothing is left to train on; hold out less");
  return split;
}

SplitOptions split_within(const SplitOptions& outer, const Observations& observations, std::span<const std::size_t> rows) {
  SplitOptions inner = outer;
  if (outer.method == SplitMethod::track || outer.method == SplitMethod::block) return inner;
  if (count_tracks(observations, rows) >= kFewestTracks) {
    inner.method = SplitMethod::track;
  } else if (outer.method != SplitMethod::random || !observations.track.empty()) {
    inner.method = SplitMethod::block;
  }
  return inner;
}

std::size_t count_groups(const Observations& observations, const SplitOptions& options, std::span<const std::size_t> rows,
                         const Control& control) {
  return find_groups(observations, groups_by(options), rows, control).sizes.size();
}

}  // namespace drift
