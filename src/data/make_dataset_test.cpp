#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "drift/dataset.h"
#include "drift/error.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Observations some() {
  Observations o;
  o.lon_deg = {190.0, -180.0, 540.0, 10.0};
  o.lat_deg = {1.0, 2.0, 3.0, -90.0};
  o.time_days = {20000.0, 20000.1, 20000.2, 20000.3};
  o.value = {0.1, std::nan(""), 0.3, 0.4};
  o.sigma = {0.5F, 0.6F, 0.7F, 0.8F};
  o.track = {7, 7, 9, 9};
  o.platform = {0, 0, 1, 1};
  o.platform_names = {"A", "B"};
  return o;
}

TEST(MakeDataset, LeavesOutMissingValuesWrapsLongitudesAndNumbersTracks) {
  const Dataset data = make_dataset(some(), {"sla", "Sea level anomaly", "", "m"});
  EXPECT_THAT(data.observations.lon_deg, ElementsAre(-170.0, -180.0, 10.0));
  EXPECT_THAT(data.observations.value, ElementsAre(0.1, 0.3, 0.4));
  EXPECT_THAT(data.observations.sigma, ElementsAre(0.5F, 0.7F, 0.8F));
  EXPECT_THAT(data.observations.track, ElementsAre(0, 1, 1));
  EXPECT_THAT(data.observations.platform, ElementsAre(0, 1, 1));
  EXPECT_EQ(data.tracks, 2u);
  EXPECT_EQ(data.layout, DataLayout::along_track);
  EXPECT_TRUE(data.calendar_time);
  EXPECT_EQ(data.value.unit, "m");
}

TEST(MakeDataset, LeavesPlainPositionsAsTheyAre) {
  Observations o = some();
  o.lat_deg[0] = 1e6;
  const Dataset data = make_dataset(o, {}, {.on_plane = true, .plane_unit = "m", .calendar_time = false});
  EXPECT_THAT(data.observations.lon_deg, ElementsAre(190.0, 540.0, 10.0));
  EXPECT_EQ(data.plane_unit, "m");
  EXPECT_FALSE(data.calendar_time);
  EXPECT_EQ(data.value.name, "value");
}

TEST(MakeDataset, NamesColumnAndRowOfWhatIsWrong) {
  const auto refusal = [](const std::function<void(Observations&)>& change) -> std::string {
    Observations o = some();
    change(o);
    try {
      make_dataset(o);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(refusal([](Observations&) {}), "");  // the control
  EXPECT_THAT(refusal([](Observations& o) { o.lon_deg.pop_back(); }), HasSubstr("'lon_deg' has 3 entries but 'value' has 4"));
  EXPECT_THAT(refusal([](Observations& o) { o.sigma.pop_back(); }), HasSubstr("'sigma' has 3 entries"));
  EXPECT_THAT(refusal([](Observations& o) { o.lat_deg[2] = 91.0; }), HasSubstr("'lat_deg' is 91 in row 2"));
  EXPECT_THAT(refusal([](Observations& o) { o.time_days[1] = std::nan(""); }), HasSubstr("'time_days' is nan in row 1"));
  EXPECT_THAT(refusal([](Observations& o) { o.value[3] = INFINITY; }), HasSubstr("'value' is inf in row 3"));
  EXPECT_THAT(refusal([](Observations& o) { o.sigma[0] = 0.0F; }), HasSubstr("'sigma' is 0 in row 0"));
  EXPECT_THAT(refusal([](Observations& o) { o.platform[1] = 2; }), HasSubstr("'platform' is 2 in row 1"));
}

TEST(MakeDataset, NeedsAValue) {
  Observations o = some();
  o.value.assign(4, std::nan(""));
  EXPECT_THROW(make_dataset(o), Error);
}

TEST(MakeDataset, FindsTracksByGapsAndTurnsUnlessTold) {
  Observations o;
  for (int track = 0; track < 12; ++track) {
    for (int i = 0; i < 30; ++i) {
      o.lon_deg.push_back(track);
      o.lat_deg.push_back(0.06 * i);  // 6.7 km per second
      o.time_days.push_back(20000.0 + track + i / 86400.0);
      o.value.push_back(1.0);
    }
  }
  EXPECT_EQ(make_dataset(o).tracks, 12u);
  EXPECT_EQ(make_dataset(o, {}, {.find_tracks = false}).tracks, 0u);
}

}  // namespace
}  // namespace drift
