#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drift/control.h"
#include "drift/observations.h"
#include "drift/split.h"

namespace drift {

// Groups that splits and folds keep together.
struct GroupOptions {
  SplitMethod method = SplitMethod::track;  // random, none and time: every row is a group of its own
  double block = 500.0;                     // side of a block, km (on a plane in the unit of x and y)
  double block_days = 0.0;                  // its length in time; 0: all times
  bool on_plane = false;
};

struct Groups {
  std::vector<std::uint32_t> of;   // [rows], from 0
  std::vector<std::size_t> sizes;  // [groups], none of them zero
};

// Groups are numbered by track, by platform, or by block from south to north, then west to east, then in time. Throws UsageError
// if the observations lack what the method needs.
Groups find_groups(const Observations& observations, const GroupOptions& options, std::span<const std::size_t> rows,
                   const Control& control = {});

// The rows, or if none are given, all of them, which `all` then holds.
std::span<const std::size_t> rows_or_all(const Observations& observations,
                                         const std::optional<std::span<const std::size_t>>& rows, std::vector<std::size_t>& all);

// "track", "platform": a group, as messages name it.
const char* group_noun(SplitMethod method);

// "in whole tracks", "in blocks of 100 km by 3 days": how observations are held out.
std::string split_words(const SplitOptions& options);

}  // namespace drift
