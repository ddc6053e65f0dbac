#include "drift/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "drift/error.h"

namespace drift {
namespace {

TEST(SplitAtRandom, PutsEveryObservationInExactlyOneSet) {
  const Split split = split_at_random(1003, 0.2, 7);
  EXPECT_EQ(split.held_out.size(), 200u);
  std::vector<std::size_t> all = split.training;
  all.insert(all.end(), split.held_out.begin(), split.held_out.end());
  std::sort(all.begin(), all.end());
  std::vector<std::size_t> expected(1003);
  std::iota(expected.begin(), expected.end(), std::size_t{0});
  EXPECT_EQ(all, expected);
  EXPECT_TRUE(std::is_sorted(split.training.begin(), split.training.end()));
}

TEST(SplitAtRandom, IsFixedByItsSeed) {
  EXPECT_EQ(split_at_random(500, 0.3, 1).held_out, split_at_random(500, 0.3, 1).held_out);
  EXPECT_NE(split_at_random(500, 0.3, 1).held_out, split_at_random(500, 0.3, 2).held_out);
}

TEST(SplitAtRandom, DrawsEvenlyOverTheRows) {
  std::vector<int> drawn(10, 0);
  for (std::size_t row : split_at_random(100000, 0.2, 3).held_out) ++drawn[row / 10000];
  for (int tenth : drawn) EXPECT_NEAR(tenth, 2000, 5 * std::sqrt(2000 * 0.8));
}

TEST(SplitAtRandom, TakesTheEnds) {
  EXPECT_TRUE(split_at_random(10, 0.0, 1).held_out.empty());
  EXPECT_TRUE(split_at_random(0, 0.5, 1).training.empty());
  EXPECT_THROW(split_at_random(10, 1.0, 1), UsageError);
  EXPECT_THROW(split_at_random(10, std::nan(""), 1), UsageError);
}

// Forty tracks of unequal length, as tracks that come back after others have begun.
std::vector<std::int32_t> forty_tracks() {
  std::vector<std::int32_t> track;
  for (int i = 0; i < 4000; ++i) track.push_back((i / 7 + i / 350) % 40);
  return track;
}

TEST(SplitByTrack, NeverPutsOneTrackInBothSets) {
  const std::vector<std::int32_t> track = forty_tracks();
  const Split split = split_by_track(track, 0.25, 5);
  std::vector<int> parts(40, 0);
  for (const std::size_t row : split.training) parts[static_cast<std::size_t>(track[row])] |= 1;
  for (const std::size_t row : split.held_out) parts[static_cast<std::size_t>(track[row])] |= 2;
  for (const int part : parts) EXPECT_TRUE(part == 1 || part == 2);
  EXPECT_EQ(split.training.size() + split.held_out.size(), track.size());
}

TEST(SplitByTrack, HoldsOutAboutTheShareAskedFor) {
  for (const double share : {0.1, 0.25, 0.5}) {
    const Split split = split_by_track(forty_tracks(), share, 5);
    EXPECT_NEAR(static_cast<double>(split.held_out.size()) / 4000.0, share, 0.02);
  }
  EXPECT_TRUE(split_by_track(forty_tracks(), 0.0, 5).held_out.empty());
}

TEST(SplitByTrack, IsFixedByItsSeed) {
  EXPECT_EQ(split_by_track(forty_tracks(), 0.2, 1).held_out, split_by_track(forty_tracks(), 0.2, 1).held_out);
  EXPECT_NE(split_by_track(forty_tracks(), 0.2, 1).held_out, split_by_track(forty_tracks(), 0.2, 2).held_out);
}

}  // namespace
}  // namespace drift
