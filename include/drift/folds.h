#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "drift/control.h"
#include "drift/export.h"
#include "drift/observations.h"
#include "drift/split.h"

namespace DRIFT_PUBLIC drift {

struct FoldOptions {
  SplitMethod method = SplitMethod::track;  // track, platform, block or random; choose_grouping picks one from the data
  int count = 5;                            // [2, 255]
  std::uint64_t seed = 1;
  double block = 500.0;     // block: side of a square, > 0, in km (on a plane in the unit of x and y)
  double block_days = 0.0;  // block: its length in time, days; 0: all times
  bool on_plane = false;    // positions are x and y
};

struct Folds {
  int count = 0;                     // as requested, or the number of groups if that is less
  std::vector<std::uint8_t> of;      // [rows], the fold of each observation, below count
  std::vector<std::uint32_t> group;  // [rows], its track, platform or block, numbered from 0 without gaps
};

// Divides the observations (or these rows of them) into folds of whole groups, about equal in number of observations: a group is
// never in two folds, and no fold is empty. Same arguments, same folds. Throws UsageError if the observations lack what the
// method needs, or if all of them are of one group.
Folds make_folds(const Observations& observations, const FoldOptions& options,
                 std::optional<std::span<const std::size_t>> rows = {}, const Control& control = {});

}  // namespace drift
