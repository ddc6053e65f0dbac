#include "drift/split.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "core/degree.h"
#include "core/random.h"
#include "drift/error.h"
#include "drift/position.h"

namespace drift {
namespace {

void check_share(double held_out_share) {
  if (!(held_out_share >= 0.0 && held_out_share < 1.0)) {
    throw UsageError(fmt::format("split: the share held out is {}; it must be at least 0 and less than 1", held_out_share));
  }
}

// Groups drawn until they hold the share; `group` is one entry an observation.
std::set<std::int64_t> draw_groups(std::span<const std::int64_t> group, double held_out_share, std::uint64_t seed) {
  std::map<std::int64_t, std::size_t> lengths;
  for (const std::int64_t number : group) ++lengths[number];
  std::vector<std::pair<std::int64_t, std::size_t>> groups(lengths.begin(), lengths.end());
  RandomStream stream({.seed = seed, .purpose = Purpose::split});
  const double wanted = held_out_share * static_cast<double>(group.size());
  double kept_aside = 0.0;
  std::set<std::int64_t> aside;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::swap(groups[i], groups[i + static_cast<std::size_t>(stream.uniform() * static_cast<double>(groups.size() - i))]);
    const auto length = static_cast<double>(groups[i].second);
    if (kept_aside + 0.5 * length > wanted) break;  // with this one, further from what is wanted than without it
    kept_aside += length;
    aside.insert(groups[i].first);
  }
  return aside;
}

// The square of the map that a position lies in: rows of equal height, cut into squares of about equal width.
std::int64_t block_of(double x, double y, const SplitOptions& options) {
  constexpr std::int64_t kMany = std::int64_t{1} << 31;
  if (options.on_plane) {
    return static_cast<std::int64_t>(std::floor(y / options.block)) * kMany +
           static_cast<std::int64_t>(std::floor(x / options.block));
  }
  const double height_deg = options.block / (kEarthRadiusKm * kDegree);
  const double row = std::floor((y + 90.0) / height_deg);
  const double middle_deg = std::min((row + 0.5) * height_deg - 90.0, 89.9);
  const double squares = std::max(1.0, std::floor(360.0 * std::cos(middle_deg * kDegree) / height_deg));
  const double turn = (x + 180.0) / 360.0;
  return static_cast<std::int64_t>(row) * kMany + static_cast<std::int64_t>((turn - std::floor(turn)) * squares);
}

// Platforms by name.
std::set<std::int64_t> named_platforms(const Observations& observations, const std::vector<std::string>& names) {
  std::set<std::int64_t> found;
  for (const std::string& name : names) {
    const auto place = std::find(observations.platform_names.begin(), observations.platform_names.end(), name);
    if (place == observations.platform_names.end()) {
      throw UsageError(fmt::format("split by platform: there is no platform '{}'; there are {}", name,
                                   fmt::join(observations.platform_names, ", ")));
    }
    found.insert(place - observations.platform_names.begin());
  }
  return found;
}

void require(bool there, const char* method, const char* what) {
  if (!there)
    throw UsageError(fmt::format("split by {}: the observations have no {}; hold out at random: --split random", method, what));
}

// One number an observation: those that are alike stay together.
std::vector<std::int64_t> groups_of(const Observations& o, const SplitOptions& options, std::span<const std::size_t> rows) {
  std::vector<std::int64_t> group;
  group.reserve(rows.size());
  for (const std::size_t row : rows) {
    switch (options.method) {
      case SplitMethod::track:
        group.push_back(o.track[row]);
        break;
      case SplitMethod::platform:
        group.push_back(o.platform[row]);
        break;
      case SplitMethod::block:
        group.push_back(block_of(o.lon_deg[row], o.lat_deg[row], options));
        break;
      default:
        group.push_back(static_cast<std::int64_t>(row));
        break;
    }
  }
  return group;
}

// The last in time; those at the very time of the border go with the earlier ones.
Split split_in_time(const Observations& o, double share, std::span<const std::size_t> rows) {
  std::vector<double> times;
  for (const std::size_t row : rows) times.push_back(o.time_days[row]);
  const auto border =
      times.begin() + static_cast<std::ptrdiff_t>(std::ceil((1.0 - share) * static_cast<double>(times.size()))) - 1;
  std::nth_element(times.begin(), border, times.end());
  const double last_training = *border;
  Split split;
  for (const std::size_t row : rows) (o.time_days[row] > last_training ? split.held_out : split.training).push_back(row);
  return split;
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

Split split_observations(const Observations& observations, const SplitOptions& options,
                         std::optional<std::span<const std::size_t>> wanted_rows) {
  check_share(options.held_out);
  if (!(options.block > 0.0))
    throw UsageError(fmt::format("split by block: its side is {}; it must be more than zero", options.block));
  require(options.method != SplitMethod::track || !observations.track.empty(), "track", "tracks");
  require(options.method != SplitMethod::platform || !observations.platform.empty(), "platform", "platforms");
  require(options.method != SplitMethod::time || !observations.time_days.empty(), "time", "times");
  std::vector<std::size_t> all;
  if (!wanted_rows) {
    all.resize(observations.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
  }
  const std::span<const std::size_t> rows = wanted_rows ? *wanted_rows : std::span<const std::size_t>(all);

  Split split;
  if (options.method == SplitMethod::none) {
    split.training.assign(rows.begin(), rows.end());
  } else if (options.method == SplitMethod::random) {
    const Split places = split_at_random(rows.size(), options.held_out, options.seed);
    for (const std::size_t place : places.training) split.training.push_back(rows[place]);
    for (const std::size_t place : places.held_out) split.held_out.push_back(rows[place]);
  } else if (options.method == SplitMethod::time) {
    split = split_in_time(observations, options.held_out, rows);
  } else {
    const std::vector<std::int64_t> group = groups_of(observations, options, rows);
    const bool named = options.method == SplitMethod::platform && !options.platforms.empty();
    const std::set<std::int64_t> aside =
        named ? named_platforms(observations, options.platforms) : draw_groups(group, options.held_out, options.seed);
    for (std::size_t i = 0; i < rows.size(); ++i) (aside.contains(group[i]) ? split.held_out : split.training).push_back(rows[i]);
  }
  if (split.training.empty()) throw UsageError("split: nothing is left to train on; hold out less");
  return split;
}

}  // namespace drift
