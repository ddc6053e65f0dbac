#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace drift {

// Rows of a data set, each in one of the two lists, both ascending.
struct Split {
  std::vector<std::size_t> training;
  std::vector<std::size_t> held_out;
};

// Keeps `held_out_share` [0, 1) of `count` observations aside, drawn at random (so they lie on the same tracks as the others).
// Same arguments, same split.
Split split_at_random(std::size_t count, double held_out_share, std::uint64_t seed);

// Keeps whole tracks aside, drawn at random until they hold `held_out_share` of the observations, or as near to it as the last
// track allows: a track is never in both lists. Same arguments, same split.
Split split_by_track(std::span<const std::int32_t> track, double held_out_share, std::uint64_t seed);

}  // namespace drift
