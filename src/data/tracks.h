#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "drift/observations.h"

namespace drift {

inline constexpr std::size_t kFewestTracks = 10;  // for whole tracks to be divided; fewer leave a score to one or two of them

struct FoundTracks {
  std::size_t count = 0;  // 0: observations do not lie along tracks, and have no column of them
  bool of_lines = false;  // many observations share each time: the lines of a swath
};

// Finds the tracks of observations with calendar times on the sphere, platform by platform: a new one begins after `gap_s`
// seconds without observations, and where latitude turns. Numbers them as they first appear. Where most observations have a time
// in common with others, as the pixels of a swath's line do, it is the lines' centres that are followed.
FoundTracks find_tracks(Observations& observations, double gap_s);

// Numbers the tracks that there are from 0, as they first appear; returns how many.
std::size_t renumber_tracks(Observations& observations);

// Tracks that these rows are of; 0 without a column of them.
std::size_t count_tracks(const Observations& observations, std::span<const std::size_t> rows);

// A sentence on tracks so far apart in time that no field between them can be mapped; empty: they are not. Times are days.
std::string sparse_tracks(const Observations& observations, std::size_t tracks);

}  // namespace drift
