#include "data/tracks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/duplicates.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kSecond = 1.0 / 86400.0;

// A satellite that goes up and down between +-80 degrees in 50 minutes each, seen every second.
Observations orbit(int seconds, int start = 0) {
  Observations o;
  for (int i = 0; i < seconds; ++i) {
    const double phase = (start + i) / 3000.0 * M_PI;
    o.lat_deg.push_back(-80.0 * std::cos(phase));
    o.lon_deg.push_back(std::remainder((start + i) * 0.04, 360.0));
    o.time_days.push_back(25000.0 + (start + i) * kSecond);
    o.value.push_back(i);
  }
  return o;
}

TEST(FindTracks, TurnsAtTheHighestAndLowestLatitude) {
  Observations o = orbit(9000);
  EXPECT_EQ(find_tracks(o, 60.0).count, 3u);
  for (const int i : {0, 1500, 2999}) EXPECT_EQ(o.track[static_cast<std::size_t>(i)], 0) << i;
  for (const int i : {3002, 5999}) EXPECT_EQ(o.track[static_cast<std::size_t>(i)], 1) << i;
  for (const int i : {6002, 8999}) EXPECT_EQ(o.track[static_cast<std::size_t>(i)], 2) << i;
}

TEST(FindTracks, IsNotMisledByEchoesFromTheSide) {
  Observations o = orbit(9000);
  for (std::size_t i = 0; i < o.size(); ++i) o.lat_deg[i] += 0.1 * std::sin(1.7 * static_cast<double>(i));
  EXPECT_EQ(find_tracks(o, 60.0).count, 3u);
}

TEST(FindTracks, DoesNotDependOnTheOrderOfObservations) {
  Observations o = orbit(9000);
  Observations shuffled;
  std::vector<std::size_t> order(o.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i * 7 % order.size();
  for (const std::size_t i : order) {
    shuffled.lat_deg.push_back(o.lat_deg[i]);
    shuffled.lon_deg.push_back(o.lon_deg[i]);
    shuffled.time_days.push_back(o.time_days[i]);
    shuffled.value.push_back(o.value[i]);
  }
  EXPECT_EQ(find_tracks(o, 60.0).count, find_tracks(shuffled, 60.0).count);
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(shuffled.track[i], o.track[order[i]]);
}

TEST(FindTracks, FindsNoneInWhatIsNotAlongTracks) {
  Observations same_time = orbit(100);
  std::fill(same_time.time_days.begin(), same_time.time_days.end(), 25000.0);
  EXPECT_EQ(find_tracks(same_time, 60.0).count, 0u);
  EXPECT_THAT(same_time.track, IsEmpty());

  Observations scattered = orbit(1000);  // anywhere, one after the other
  for (std::size_t i = 0; i < scattered.size(); ++i) {
    scattered.lon_deg[i] = std::remainder(static_cast<double>(i) * 137.5, 360.0);
    scattered.lat_deg[i] = std::remainder(static_cast<double>(i) * 61.8, 160.0);
  }
  EXPECT_EQ(find_tracks(scattered, 60.0).count, 0u);

  Observations stations = orbit(1000);  // one an hour
  for (std::size_t i = 0; i < stations.size(); ++i) stations.time_days[i] = 25000.0 + static_cast<double>(i) / 24.0;
  EXPECT_EQ(find_tracks(stations, 60.0).count, 0u);

  Observations timeless = orbit(1000);
  timeless.time_days.clear();
  EXPECT_EQ(find_tracks(timeless, 60.0).count, 0u);
  Observations none;
  EXPECT_EQ(find_tracks(none, 60.0).count, 0u);
}

TEST(RenumberTracks, CountsFromZeroAsTheyAppear) {
  Observations o;
  o.track = {7, 7, 2, 9, 2};
  EXPECT_EQ(renumber_tracks(o), 3u);
  EXPECT_THAT(o.track, ElementsAre(0, 0, 1, 2, 1));
}

Observations numbered(std::size_t count) {
  Observations o;
  for (std::size_t i = 0; i < count; ++i) {
    o.lon_deg.push_back(static_cast<double>(i % 97));
    o.lat_deg.push_back(static_cast<double>(i / 97));
    o.time_days.push_back(1.0);
    o.value.push_back(0.5);
    o.sigma.push_back(static_cast<float>(i));
    o.track.push_back(static_cast<std::int32_t>(i));
    o.platform.push_back(0);
  }
  o.platform_names = {"a"};
  return o;
}

TEST(DropDuplicates, KeepsTheFirstOfEach) {
  for (const std::size_t count : {1, 2, 1000, 20000}) {
    for (const int threads : {1, 3}) {
      Observations o = numbered(count);
      EXPECT_EQ(drop_duplicates(o, threads), 0u);
      const Observations again = o;
      std::vector<std::size_t> repeated;
      for (std::size_t i = 0; i < count; i += 5) repeated.push_back(i);
      for (const std::size_t i : repeated) {
        o.lon_deg.push_back(again.lon_deg[i]);
        o.lat_deg.push_back(again.lat_deg[i] == 0.0 ? -0.0 : again.lat_deg[i]);
        o.time_days.push_back(1.0);
        o.value.push_back(0.5);
        o.sigma.push_back(99.0F);  // not looked at, nor is the track
        o.track.push_back(-1);
        o.platform.push_back(0);
      }
      EXPECT_EQ(drop_duplicates(o, threads), repeated.size());
      EXPECT_EQ(o.track, again.track);
      EXPECT_EQ(o.lon_deg, again.lon_deg);
    }
  }
}

TEST(DropDuplicates, LooksAtAllThatMakesAnObservation) {
  const auto twice = [&](const auto& change) {
    Observations o = numbered(1);
    for (auto* column : {&o.lon_deg, &o.lat_deg, &o.time_days, &o.value}) column->push_back(column->front());
    o.sigma.push_back(1.0F);
    o.track.push_back(0);
    o.platform.push_back(0);
    change(o);
    return drop_duplicates(o, 1);
  };
  EXPECT_EQ(twice([](Observations&) {}), 1u);
  EXPECT_EQ(twice([](Observations& o) { o.lon_deg[1] += 1e-9; }), 0u);
  EXPECT_EQ(twice([](Observations& o) { o.lat_deg[1] += 1e-9; }), 0u);
  EXPECT_EQ(twice([](Observations& o) { o.time_days[1] += 1e-9; }), 0u);
  EXPECT_EQ(twice([](Observations& o) { o.value[1] += 1e-9; }), 0u);
  EXPECT_EQ(twice([](Observations& o) { o.platform[1] = 1; }), 0u);
}

TEST(SparseTracks, AreThoseWithWeeksBetweenThem) {
  Observations o;
  o.time_days = {0.0, 300.0, 756.0};
  EXPECT_EQ(
      sparse_tracks(o, 3),
      "3 tracks over 756 days, one in 252 days, are too sparse to map a field that changes within weeks; add files, or choose "
      "a shorter period with --from and --to.");
  EXPECT_EQ(sparse_tracks(o, 100), "");
  o.time_days = {0.0, 20.0};
  EXPECT_EQ(sparse_tracks(o, 2), "");
}

}  // namespace
}  // namespace drift
