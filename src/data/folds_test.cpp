#include "drift/folds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "drift/error.h"

namespace drift {
namespace {

// Tracks of very unequal length, in time order; three platforms.
Observations uneven_tracks(int tracks) {
  Observations o;
  for (int track = 0; track < tracks; ++track) {
    for (int i = 0; i < 10 + 37 * track % 191; ++i) {
      o.lon_deg.push_back(-180.0 + 3.0 * track);
      o.lat_deg.push_back(-60.0 + i * 0.5);
      o.time_days.push_back(0.03 * track);
      o.value.push_back(0.0);
      o.track.push_back(track);
      o.platform.push_back(static_cast<std::uint8_t>(track % 3));
    }
  }
  o.platform_names = {"A", "B", "C"};
  return o;
}

std::vector<std::size_t> sizes(const Folds& folds) {
  std::vector<std::size_t> count(static_cast<std::size_t>(folds.count), 0);
  for (const std::uint8_t fold : folds.of) ++count.at(fold);
  return count;
}

template <class Group>
void expect_whole(const Folds& folds, const std::vector<Group>& group) {
  std::vector<int> fold_of(256, -1);
  for (std::size_t i = 0; i < group.size(); ++i) {
    int& fold = fold_of.at(static_cast<std::size_t>(group[i]));
    if (fold < 0) fold = folds.of[i];
    EXPECT_EQ(fold, folds.of[i]) << i;
  }
}

TEST(Folds, NeverSplitATrack) {
  const Observations o = uneven_tracks(97);
  for (const int count : {2, 5, 10}) expect_whole(make_folds(o, {.count = count}), o.track);
  const Folds platforms = make_folds(o, {.method = SplitMethod::platform, .count = 2});
  expect_whole(platforms, o.platform);
}

TEST(Folds, AreAboutEqualInNumberOfObservations) {
  const Observations o = uneven_tracks(97);
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const std::vector<std::size_t> count = sizes(make_folds(o, {.seed = seed}));
    const auto [least, most] = std::minmax_element(count.begin(), count.end());
    EXPECT_LT(*most - *least, o.size() / 50) << seed;
  }
  const std::vector<std::size_t> single = sizes(make_folds(o, {.method = SplitMethod::random}));
  EXPECT_LE(*std::max_element(single.begin(), single.end()) - *std::min_element(single.begin(), single.end()), 1u);
}

TEST(Folds, AreFixedByTheirSeed) {
  const Observations o = uneven_tracks(97);
  EXPECT_EQ(make_folds(o, {.seed = 3}).of, make_folds(o, {.seed = 3}).of);
  EXPECT_NE(make_folds(o, {.seed = 3}).of, make_folds(o, {.seed = 4}).of);
}

TEST(Folds, SeparateTracksThatFollowEachOther) {
  const Observations o = uneven_tracks(100);
  const Folds folds = make_folds(o, {});
  int same = 0;
  for (std::size_t i = 1; i < o.size(); ++i) same += o.track[i] != o.track[i - 1] && folds.of[i] == folds.of[i - 1] ? 1 : 0;
  EXPECT_LT(same, 40);  // of 99; 20 by chance
}

TEST(Folds, AreFewerWhereThereAreFewerGroupsAndNeverEmpty) {
  const Folds three = make_folds(uneven_tracks(3), {.count = 5});
  EXPECT_EQ(three.count, 3);
  for (const std::size_t size : sizes(three)) EXPECT_GT(size, 0u);
  const Folds platforms = make_folds(uneven_tracks(50), {.method = SplitMethod::platform});
  EXPECT_EQ(platforms.count, 3);
}

TEST(Folds, OfOneGroupOrOfMissingGroupsAreRefused) {
  EXPECT_THROW(make_folds(uneven_tracks(1), {}), UsageError);
  Observations o = uneven_tracks(20);
  EXPECT_THROW(make_folds(o, {.count = 1}), UsageError);
  EXPECT_THROW(make_folds(o, {.count = 256}), UsageError);
  EXPECT_THROW(make_folds(o, {.method = SplitMethod::time}), UsageError);
  EXPECT_THROW(make_folds(o, {.method = SplitMethod::block, .block = 0.0}), UsageError);
  o.track.clear();
  EXPECT_THROW(make_folds(o, {}), UsageError);
}

TEST(Folds, OfBlocksKeepNeighboursTogether) {
  Observations o;
  for (int i = 0; i < 10000; ++i) {  // a grid of 100 by 100 at four times
    o.lon_deg.push_back(i % 100);
    o.lat_deg.push_back(i / 100);
    o.time_days.push_back(i % 4);
    o.value.push_back(0.0);
  }
  const Folds folds = make_folds(o, {.method = SplitMethod::block, .block = 10.0, .on_plane = true});
  for (std::size_t i = 0; i < 10000; ++i) EXPECT_EQ(folds.of[i], folds.of[i / 1000 * 1000 + i % 100 / 10 * 10]) << i;
  const Folds in_time = make_folds(o, {.method = SplitMethod::block, .block = 10.0, .block_days = 2.0, .on_plane = true});
  int same = 0;
  for (std::size_t i = 1; i < 10000; i += 4) {
    EXPECT_EQ(in_time.of[i], in_time.of[i - 1]);
    same += in_time.of[i] == in_time.of[i + 1] ? 1 : 0;
  }
  EXPECT_LT(same, 1000);  // of 2500: blocks end after two days
}

TEST(Folds, MayBeOfSomeRowsAlone) {
  const Observations o = uneven_tracks(40);
  std::vector<std::size_t> rows;
  std::vector<std::int32_t> tracks;
  for (std::size_t i = 0; i < o.size(); i += 3) rows.push_back(i), tracks.push_back(o.track[i]);
  const Folds folds = make_folds(o, {}, rows);
  ASSERT_EQ(folds.of.size(), rows.size());
  expect_whole(folds, tracks);
}

}  // namespace
}  // namespace drift
