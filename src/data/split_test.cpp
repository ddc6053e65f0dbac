#include "drift/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
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

Split split_by_track(const std::vector<std::int32_t>& track, double held_out_share, std::uint64_t seed) {
  Observations observations;
  observations.value.resize(track.size());
  observations.track = track;
  return split_observations(observations, {.method = SplitMethod::track, .held_out = held_out_share, .seed = seed});
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

// Three platforms over the globe for ten days.
Observations some_observations() {
  Observations o;
  o.platform_names = {"A", "B", "C"};
  for (int i = 0; i < 6000; ++i) {
    o.lon_deg.push_back(-180.0 + std::fmod(37.7 * i, 360.0));
    o.lat_deg.push_back(-80.0 + std::fmod(11.3 * i, 160.0));
    o.time_days.push_back(i / 600.0);
    o.value.push_back(i);
    o.track.push_back(i / 50);
    o.platform.push_back(static_cast<std::uint8_t>(i / 50 % 3));
  }
  return o;
}

// Every row of `rows` in exactly one list, and both ascending.
void expect_partition(const Split& split, std::vector<std::size_t> rows) {
  std::vector<std::size_t> all = split.training;
  all.insert(all.end(), split.held_out.begin(), split.held_out.end());
  EXPECT_TRUE(std::is_sorted(split.training.begin(), split.training.end()));
  EXPECT_TRUE(std::is_sorted(split.held_out.begin(), split.held_out.end()));
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, rows);
}

TEST(SplitObservations, DividesTheRowsByEveryMethod) {
  const Observations o = some_observations();
  std::vector<std::size_t> rows(o.size()), some;
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  for (std::size_t row = 0; row < o.size(); row += 3) some.push_back(row);
  for (const SplitMethod method :
       {SplitMethod::random, SplitMethod::track, SplitMethod::platform, SplitMethod::time, SplitMethod::block}) {
    const SplitOptions options = {.method = method, .held_out = 0.3, .seed = 2};
    expect_partition(split_observations(o, options), rows);
    expect_partition(split_observations(o, options, some), some);  // within a split
    EXPECT_EQ(split_observations(o, options).held_out, split_observations(o, options).held_out);
    EXPECT_NEAR(static_cast<double>(split_observations(o, options).held_out.size()) / 6000.0, 0.3,
                method == SplitMethod::platform ? 0.31 : 0.02);
  }
}

TEST(SplitObservations, KeepsGroupsTogetherWithinASplitToo) {
  const Observations o = some_observations();
  const Split outer = split_observations(o, {.method = SplitMethod::track, .held_out = 0.2, .seed = 1});
  const Split inner = split_observations(o, {.method = SplitMethod::track, .held_out = 0.2, .seed = 2}, outer.training);
  std::set<std::int32_t> trained, validated, held_out;
  for (const std::size_t row : inner.training) trained.insert(o.track[row]);
  for (const std::size_t row : inner.held_out) validated.insert(o.track[row]);
  for (const std::size_t row : outer.held_out) held_out.insert(o.track[row]);
  for (const std::int32_t track : validated) EXPECT_FALSE(trained.contains(track) || held_out.contains(track));
  EXPECT_EQ(trained.size() + validated.size() + held_out.size(), 120u);
}

TEST(SplitObservations, HoldsOutTheNamedPlatforms) {
  const Observations o = some_observations();
  const Split split = split_observations(o, {.method = SplitMethod::platform, .platforms = {"B"}});
  for (const std::size_t row : split.held_out) EXPECT_EQ(o.platform[row], 1);
  EXPECT_EQ(split.held_out.size(), 2000u);
  EXPECT_THROW(split_observations(o, {.method = SplitMethod::platform, .platforms = {"D"}}), UsageError);
}

TEST(SplitObservations, HoldsOutTheLastInTime) {
  const Observations o = some_observations();
  const Split split = split_observations(o, {.method = SplitMethod::time, .held_out = 0.25});
  EXPECT_EQ(split.held_out.size(), 1500u);
  EXPECT_LT(o.time_days[split.training.back()], o.time_days[split.held_out.front()]);
}

TEST(SplitObservations, HoldsOutWholeSquaresAcrossTheDateLine) {
  Observations o;
  for (int i = 0; i < 200; ++i) {
    o.lon_deg.push_back(i % 2 == 0 ? 180.0 : -180.0);  // the same place, written twice
    o.lat_deg.push_back(-79.0 + 0.8 * (i / 2));
    o.value.push_back(i);
  }
  const Split split = split_observations(o, {.method = SplitMethod::block, .held_out = 0.3, .seed = 3, .block = 300.0});
  const std::set<std::size_t> aside(split.held_out.begin(), split.held_out.end());
  for (std::size_t i = 0; i < 200; i += 2) EXPECT_EQ(aside.contains(i), aside.contains(i + 1)) << i;
}

TEST(SplitObservations, RefusesWhatTheObservationsLack) {
  Observations o = some_observations();
  o.track.clear();
  o.time_days.clear();
  EXPECT_THROW(split_observations(o, {.method = SplitMethod::track}), UsageError);
  EXPECT_THROW(split_observations(o, {.method = SplitMethod::time}), UsageError);
  EXPECT_THROW(split_observations(o, {.method = SplitMethod::platform, .platforms = {"A", "B", "C"}}), UsageError);
}

// Platforms of equal size over the globe, whatever the share.
Observations equal_platforms(std::size_t platforms) {
  Observations o;
  for (std::size_t i = 0; i < platforms * 100; ++i) {
    o.value.push_back(0.0);
    o.platform.push_back(static_cast<std::uint8_t>(i % platforms));
  }
  for (std::size_t i = 0; i < platforms; ++i) o.platform_names.push_back(std::string(1, static_cast<char>('A' + i)));
  return o;
}

TEST(SplitObservations, HoldsOutAtLeastOnePlatformHoweverFewThereAre) {
  for (std::size_t platforms = 2; platforms <= 12; ++platforms) {
    const Observations o = equal_platforms(platforms);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const Split split = split_observations(o, {.method = SplitMethod::platform, .held_out = 0.1, .seed = seed});
      EXPECT_EQ(split.held_out.size(), 100u) << platforms;
    }
  }
  EXPECT_THROW(split_observations(equal_platforms(1), {.method = SplitMethod::platform, .held_out = 0.1}), UsageError);
}

TEST(SplitByTrack, HoldsOutASmallTrackWhereALargeOneIsDrawnFirst) {
  std::vector<std::int32_t> track(900, 0);
  for (std::int32_t i = 0; i < 100; ++i) track.push_back(1 + i / 20);
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Split split = split_by_track(track, 0.1, seed);
    EXPECT_GE(split.held_out.size(), 20u) << seed;
    EXPECT_LE(split.held_out.size(), 100u) << seed;
  }
}

TEST(SplitObservations, RefusesAPlatformWithoutObservations) {
  Observations o = equal_platforms(2);
  o.platform_names.emplace_back("gone");
  EXPECT_THROW(split_observations(o, {.method = SplitMethod::platform, .platforms = {"gone"}}), UsageError);
}

TEST(SplitObservations, HoldsOutTheWholeLastTimeWhereItIsMoreThanTheShare) {
  Observations o;
  for (int i = 0; i < 300; ++i) {
    o.value.push_back(i);
    o.time_days.push_back(i / 100);  // three fields of a grid
  }
  const Split split = split_observations(o, {.method = SplitMethod::time, .held_out = 0.1});
  EXPECT_EQ(split.held_out.size(), 100u);
  EXPECT_EQ(split.held_out.front(), 200u);
  o.time_days.assign(300, 7.0);
  EXPECT_THROW(split_observations(o, {.method = SplitMethod::time, .held_out = 0.1}), UsageError);
}

TEST(SplitObservations, BlocksEndInTimeWhereTheyHaveALength) {
  Observations o;
  for (int i = 0; i < 1000; ++i) {
    o.lon_deg.push_back(0.1 + 0.0001 * i);
    o.lat_deg.push_back(0.1);
    o.time_days.push_back(0.1 * i);
    o.value.push_back(i);
  }
  const SplitOptions options = {.method = SplitMethod::block, .held_out = 0.2, .block = 500.0, .block_days = 5.0};
  const Split split = split_observations(o, options);
  EXPECT_EQ(split.held_out.size(), 200u);
  std::vector<int> parts(20, 0);
  for (const std::size_t row : split.training) parts[row / 50] |= 1;
  for (const std::size_t row : split.held_out) parts[row / 50] |= 2;
  for (const int part : parts) EXPECT_TRUE(part == 1 || part == 2);
  EXPECT_THROW(split_observations(o, {.method = SplitMethod::block, .held_out = 0.2}), UsageError);  // one square
}

TEST(SplitWithin, NeverDividesATrackAndFallsBackToBlocks) {
  Observations o = some_observations();
  std::vector<std::size_t> rows(o.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  for (const SplitMethod method : {SplitMethod::none, SplitMethod::random, SplitMethod::platform, SplitMethod::time}) {
    EXPECT_EQ(split_within({.method = method}, o, rows).method, SplitMethod::track);
  }
  EXPECT_EQ(split_within({.method = SplitMethod::block}, o, rows).method, SplitMethod::block);
  const std::vector<std::size_t> few(rows.begin(), rows.begin() + 200);  // four tracks
  EXPECT_EQ(split_within({.method = SplitMethod::time}, o, few).method, SplitMethod::block);
  EXPECT_EQ(split_within({.method = SplitMethod::random}, o, few).method, SplitMethod::block);
  EXPECT_EQ(split_within({.method = SplitMethod::track}, o, few).method, SplitMethod::track);
  o.track.clear();
  EXPECT_EQ(split_within({.method = SplitMethod::time}, o, rows).method, SplitMethod::block);
  EXPECT_EQ(split_within({.method = SplitMethod::random}, o, rows).method, SplitMethod::random);
}

}  // namespace
}  // namespace drift
