#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random.h"
#include "drift/error.h"
#include "drift/split.h"

namespace drift {
namespace {

using testing::HasSubstr;

void add(Observations& o, double x, double y) {
  o.lon_deg.push_back(x);
  o.lat_deg.push_back(y);
  o.value.push_back(0.0);
}

// 200 by 200 places one apart, without round holes of this radius, forty apart.
Observations grid_with_holes(double radius) {
  Observations o;
  for (int i = 0; i < 40000; ++i) {
    const double x = i % 200, y = i / 200;
    if (std::hypot(std::fmod(x, 40.0) - 20.0, std::fmod(y, 40.0) - 20.0) > radius) add(o, x, y);
  }
  return o;
}

TEST(ChooseGrouping, KeepsTracksWholeFromTenOn) {
  Observations o = grid_with_holes(0.0);
  for (const std::int32_t tracks : {9, 10, 19, 200}) {
    o.track.clear();
    for (std::size_t i = 0; i < o.size(); ++i) o.track.push_back(static_cast<std::int32_t>(i) % tracks);
    const GroupingChoice choice = choose_grouping(o, true);
    EXPECT_EQ(choice.method, tracks < 10 ? SplitMethod::block : SplitMethod::track) << tracks;
    EXPECT_EQ(choice.reason.starts_with("9 tracks are too few to divide."), tracks < 10) << choice.reason;
  }
}

// Within a disc of radius r, a tenth of the area lies further from the edge than (1 - sqrt(1 / 10)) r = 0.68 r.
TEST(ChooseGrouping, MakesBlocksAboutAsWideAsTheHoles) {
  for (const double radius : {8.0, 12.0, 16.0}) {
    const GroupingChoice choice = choose_grouping(grid_with_holes(radius), true, "mm");
    EXPECT_EQ(choice.method, SplitMethod::block);
    EXPECT_NEAR(choice.block, 1.37 * radius, 0.2 * radius);
    EXPECT_EQ(choice.block_days, 0.0);
    EXPECT_THAT(choice.reason, HasSubstr("mm of an observation"));
  }
}

// The observations of a test set may fill the very gaps that are to be forecast.
TEST(ChooseGrouping, LooksAtTheGivenRowsOnly) {
  Observations o = grid_with_holes(12.0);
  std::vector<std::size_t> rows;
  for (std::size_t row = 0; row < o.size(); ++row) rows.push_back(row);
  const Observations whole = grid_with_holes(0.0);
  for (std::size_t i = 0; i < whole.size(); ++i) add(o, whole.lon_deg[i] + 0.01, whole.lat_deg[i]);
  const double by_rows = choose_grouping(o, true, "mm", rows).block, by_all = choose_grouping(o, true, "mm").block;
  EXPECT_NEAR(by_rows, 1.37 * 12.0, 0.2 * 12.0);
  EXPECT_LT(by_all, 0.6 * by_rows);
}

// The continent amid a grid of the sea is no gap to be filled.
TEST(ChooseGrouping, DoesNotTakeLandForAHole) {
  Observations o;
  for (int i = 0; i < 40000; ++i) {
    const double x = i % 200, y = i / 200;
    if (std::hypot(x - 100.0, y - 100.0) > 80.0) add(o, x, y);
  }
  EXPECT_LE(choose_grouping(o, true).block, 60.0);
}

TEST(ChooseGrouping, MakesBlocksOfAFewObservationsWhereThereAreNoHoles) {
  const GroupingChoice choice = choose_grouping(grid_with_holes(0.0), true);
  EXPECT_NEAR(choice.block, 5.0, 0.1);
  EXPECT_THAT(choice.reason, HasSubstr("no gaps"));
}

TEST(ChooseGrouping, FindsHolesOnTheSphereAcrossTheDateLine) {
  Observations o = grid_with_holes(8.0);
  for (double& lon : o.lon_deg) lon = std::remainder(175.0 + 0.05 * lon, 360.0);
  for (double& lat : o.lat_deg) lat = 0.05 * lat - 5.0;
  const GroupingChoice choice = choose_grouping(o);
  EXPECT_NEAR(choice.block, 1.37 * 8.0 * 0.05 * 111.2, 10.0);  // km
}

TEST(ChooseGrouping, LeavesEnoughBlocksToDivide) {
  Observations o;  // four clusters: all of the map is a gap, and few tracks may have any
  RandomStream random({.seed = 5, .purpose = Purpose::simulation});
  for (int i = 0; i < 4000; ++i)
    add(o, 1000.0 * (i % 2) + 100.0 * random.normal(), 1000.0 * (i / 2 % 2) + 100.0 * random.normal());
  for (std::size_t i = 0; i < o.size(); ++i) o.track.push_back(static_cast<std::int32_t>(i % 4));
  const GroupingChoice choice = choose_grouping(o, true);
  std::vector<std::size_t> rows(o.size());
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  const SplitOptions options = {.method = SplitMethod::block, .block = choice.block, .on_plane = true};
  EXPECT_GE(count_groups(o, options, rows), 25u);  // 30 before the side is rounded
  EXPECT_THAT(choice.reason, HasSubstr("fewer than 30"));
}

// A place is seen daily, but for a week now and then.
TEST(ChooseGrouping, MakesBlocksAsLongAsTheGapsInTime) {
  Observations o;
  for (int place = 0; place < 400; ++place) {
    for (int day = 0; day < 300; ++day) {
      if ((day + 7 * place) % 70 < 14) continue;  // clouds that move on
      add(o, place % 20, place / 20);
      o.time_days.push_back(day);
    }
  }
  const GroupingChoice choice = choose_grouping(o, true);
  EXPECT_EQ(choice.method, SplitMethod::block);
  EXPECT_GE(choice.block_days, 3.0);
  EXPECT_LE(choice.block_days, 15.0);
  o.time_days.assign(o.size(), 7.0);
  EXPECT_EQ(choose_grouping(o, true).block_days, 0.0);
}

TEST(ChooseGrouping, IsTheSameEveryTime) {
  const Observations o = grid_with_holes(7.0);
  EXPECT_EQ(choose_grouping(o).block, choose_grouping(o).block);
}

TEST(ChooseGrouping, TakesFewOrDegenerateObservations) {
  Observations one;
  add(one, 3.0, 4.0);
  EXPECT_GT(choose_grouping(one, true).block, 0.0);
  Observations buoy;
  for (int i = 0; i < 500; ++i) add(buoy, 3.0, 4.0), buoy.time_days.push_back(i);
  const GroupingChoice choice = choose_grouping(buoy);
  EXPECT_GT(choice.block_days, 0.0);
  EXPECT_LT(choice.block_days, 20.0);
  EXPECT_THROW(choose_grouping(Observations{}), UsageError);
}

}  // namespace
}  // namespace drift
