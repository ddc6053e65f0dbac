#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drift/control.h"
#include "drift/enum_words.h"
#include "drift/export.h"
#include "drift/observations.h"

namespace DRIFT_PUBLIC drift {

// Rows of a data set, each in one of the two lists, both ascending.
struct Split {
  std::vector<std::size_t> training;
  std::vector<std::size_t> held_out;
};

// Units that are held out together.
enum class SplitMethod {
  none,      // nothing
  random,    // single observations: they lie on the same tracks as the others, which makes scores optimistic
  track,     // whole tracks
  platform,  // whole platforms, named or drawn
  time,      // the last in time
  block,     // whole squares of the map
};
constexpr auto enum_words(SplitMethod) {
  return std::to_array<EnumWord<SplitMethod>>({{"none", SplitMethod::none},
                                               {"random", SplitMethod::random},
                                               {"track", SplitMethod::track},
                                               {"platform", SplitMethod::platform},
                                               {"time", SplitMethod::time},
                                               {"block", SplitMethod::block}});
}

struct SplitOptions {
  SplitMethod method = SplitMethod::random;
  double held_out = 0.1;  // [0, 1), share of the observations
  std::uint64_t seed = 1;
  std::vector<std::string> platforms = {};  // platform: these are held out, whatever their share; none: drawn
  double block = 500.0;                     // block: side of a square, > 0, in km (on a plane in the unit of x and y)
  double block_days = 0.0;                  // block: its length in time, days; 0: all times
  bool on_plane = false;                    // positions are x and y
};

// Holds out a share of the observations, or of these rows alone: a split within a split. Groups are
// drawn at random until they hold the share, or as near to it as the last one allows: a group is never in both lists. A share
// above zero holds out at least one group. Same arguments, same split. Throws UsageError if the observations lack what the
// method needs, or if the method would leave nothing to train on or hold out nothing.
Split split_observations(const Observations& observations, const SplitOptions& options,
                         std::optional<std::span<const std::size_t>> rows = {}, const Control& control = {});

// The same at random, of `count` observations of which nothing else is known.
Split split_at_random(std::size_t count, double held_out_share, std::uint64_t seed);

// Options that divide one part of a split further without leaks: by track or by block, unless the split itself is of single
// observations without tracks. Seed and share are the caller's to change.
SplitOptions split_within(const SplitOptions& outer, const Observations& observations, std::span<const std::size_t> rows);

// Number of groups that these options keep together among the rows.
std::size_t count_groups(const Observations& observations, const SplitOptions& options, std::span<const std::size_t> rows,
                         const Control& control = {});

// The default way to divide observations.
struct GroupingChoice {
  SplitMethod method = SplitMethod::block;  // track or block
  double block = 500.0;                     // side of a block, km (on a plane in the unit of x and y)
  double block_days = 0.0;                  // its length in time; 0: all times
  std::string reason;                       // a sentence
};

// Whole tracks where there are ten or more among the rows, otherwise blocks. `unit` is that of x and y, for the sentence.
GroupingChoice choose_grouping(const Observations& observations, bool on_plane = false, const std::string& unit = "km",
                               const std::optional<std::span<const std::size_t>>& rows = {}, const Control& control = {});

// Blocks about as large as the gaps that a map of the observations' extent has to fill: their side is twice the distance to the
// nearest observation that 90 % of points in gaps do not exceed. At least a few observations wide, and at least 30 blocks where
// the data allow it.
GroupingChoice choose_blocks(const Observations& observations, bool on_plane = false, const std::string& unit = "km",
                             const std::optional<std::span<const std::size_t>>& rows = {}, const Control& control = {});

}  // namespace drift
