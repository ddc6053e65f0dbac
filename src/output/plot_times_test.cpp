// Several times, differences and what lies over a map.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/plot.h"
#include "output/gmt.h"
#include "output/plot_dots.h"
#include "output/plot_picture_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

constexpr double kDay = 25627.0;  // 2020-03-01

class PlotTimes : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("gmt").empty()) GTEST_SKIP() << "GMT is not installed: apt-get install gmt gmt-gshhg-low ghostscript";
  }

  // Each time is the one before plus one; its sd is 0.2.
  std::filesystem::path map_of(const std::string& name, std::size_t times, double value = 0.0,
                               const std::string& grid = "xy:0,0,40,30:1", const std::string& unit = "m") const {
    FieldHeader header = map_options(parse_grid(grid), true);
    for (FieldLayer& layer : header.layers) layer.info.unit = unit;
    for (std::size_t i = 0; i < times; ++i) header.time_days.push_back(kDay + static_cast<double>(i));
    write_map_file(
        scratch_ / name, header, [=](double x, double) { return value - 0.001 * x; }, [](double, double) { return 0.2; });
    return scratch_ / name;
  }

  PlotReport plot(const PlotOptions& options, const char* picture = "p.png") const {
    PlotOptions small = options;
    small.dpi = 50;
    return plot_map(scratch_ / "map.nc", scratch_ / picture, small);
  }

  void expect_refusal(const PlotOptions& options, const std::string& message, const char* picture = "p.png") const {
    try {
      plot(options, picture);
      FAIL() << message;
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
    EXPECT_FALSE(std::filesystem::exists(scratch_ / picture));
  }

  ScratchFolder scratch_;
};

TEST_F(PlotTimes, ArePanelsWithOneScale) {
  map_of("map.nc", 3);
  const PlotReport one = plot({.time = "2"});
  EXPECT_NEAR(one.limits[1], 2.0, 0.1);
  const Picture single = read_picture(scratch_ / "p.png");
  const PlotReport all = plot({.time = "all"});
  EXPECT_EQ(all.times, 3u);
  EXPECT_EQ(all.time, "2020-03-01");
  EXPECT_EQ(all.sd_variable, "") << "several times are panels of the mean";
  EXPECT_GE(all.limits[1], 1.9) << "the last time's values";
  const Picture row = read_picture(scratch_ / "p.png");
  EXPECT_LT(row.height, single.height) << "narrower maps side by side";
  EXPECT_EQ(plot({.time = "2020-03-01,2020-03-03"}).times, 2u);
  EXPECT_EQ(plot({.time = "0,2", .panels = PlotPanels::sd}).sd_limits[1], 2.25) << "0.2 and 2.2 at the two times";
}

TEST_F(PlotTimes, AreRefusedWhereTheyMakeNoFigure) {
  map_of("map.nc", 3);
  expect_refusal({.time = "0,5"}, "no time 5; it has 3");
  expect_refusal({.time = "all", .panels = PlotPanels::both}, "not of both");
  map_of("map.nc", 41);
  expect_refusal({.time = "all"}, "41 times are more than the 40 panels");
  map_of("map.nc", 1);
  expect_refusal({}, "an animation takes several times", "p.gif");
}

// One every hour and a half from two days before the map's first time on.
Observations sixty_observations() {
  Observations o;
  for (int i = 0; i < 60; ++i) {
    o.lon_deg.push_back(5.0 + 0.1 * i);
    o.lat_deg.push_back(15.0);
    o.time_days.push_back(kDay - 2.0 + i / 16.0);
    o.value.push_back(0.9);
  }
  return o;
}

TEST(ChooseDots, TakesThoseNearTheMapsTime) {
  Observations o = sixty_observations();
  const auto count = [&](double day, double within) { return choose_dots(o, {day, within}, 1000).size() / 3; };
  EXPECT_EQ(count(kDay, 1.0), 33u) << "sixteen a day on either side and one in the middle";
  EXPECT_EQ(count(kDay, 0.5), 17u);
  EXPECT_EQ(count(kDay + 2.0, 0.5), 4u) << "the last one is 1.69 days after the first map";
  EXPECT_EQ(count(NAN, 0.5), 60u) << "a map without time";
  EXPECT_EQ(choose_dots(o, {kDay, 1.0}, 11).size() / 3, 11u) << "thinned after the choice";
  o.time_days.clear();
  EXPECT_EQ(count(kDay, 0.5), 60u) << "observations without times";
}

TEST_F(PlotTimes, HaveTheirOwnObservations) {
  map_of("map.nc", 3);
  EXPECT_EQ(plot({.time = "0,2", .observations = sixty_observations(), .observations_days = 0.5}).observations, 17u + 4u);
}

TEST_F(PlotTimes, OfTwoMapsGiveTheirDifferenceAboutZero) {
  map_of("map.nc", 1, 5.0);
  const PlotReport report = plot({.minus = map_of("other.nc", 1, 4.5)});
  EXPECT_NEAR(report.limits[1], 0.5, 0.1);
  EXPECT_EQ(report.limits[0], -report.limits[1]);
  EXPECT_EQ(report.sd_variable, "");
}

TEST_F(PlotTimes, OfADifferenceAreThoseOfTheFirstMap) {
  map_of("map.nc", 3, 5.0);
  EXPECT_NEAR(plot({.time = "2", .minus = map_of("other.nc", 3, 4.5)}).limits[1], 0.5, 0.1) << "2 less 2";
  EXPECT_NEAR(plot({.time = "2", .minus = map_of("other.nc", 1, 4.5)}).limits[1], 2.5, 0.3) << "2 less the only one";
  map_of("other.nc", 3, 4.5);
  map_of("map.nc", 0, 5.0);
  expect_refusal({.minus = scratch_ / "other.nc"}, "has several times", "q.png");
  map_of("map.nc", 4, 5.0);
  expect_refusal({.time = "3", .minus = scratch_ / "other.nc"}, "other.nc: no time 2020-03-04", "q.png");
}

TEST_F(PlotTimes, OfADifferenceTakeOneGridAndOneUnit) {
  map_of("map.nc", 1);
  expect_refusal({.minus = map_of("other.nc", 1, 0.0, "xy:0,0,40,30:2")}, "different grids: 40 by 30 cells");
  expect_refusal({.minus = map_of("other.nc", 1, 0.0, "xy:0,0,40,30:1", "cm")}, "'sla' is in 'm', but 'sla' of");
  expect_refusal({.panels = PlotPanels::sd, .minus = map_of("other.nc", 1)}, "no standard deviation of its own");
  expect_refusal({.minus = scratch_ / "none.nc"}, "no such file");
}

// Pixels that are as dark as an outline.
std::size_t dark_pixels(const std::filesystem::path& path) {
  const Picture picture = read_picture(path);
  std::size_t dark = 0;
  for (std::size_t y = picture.height / 4; y < picture.height * 6 / 10; ++y) {
    for (std::size_t x = picture.width / 4; x < picture.width * 3 / 4; ++x) {
      const std::uint8_t* p = picture.at(x, y);
      dark += p[0] < 140 && p[1] < 140 && p[2] < 140 ? 1u : 0u;
    }
  }
  return dark;
}

TEST_F(PlotTimes, ShowObservationsOfTheFieldsColourByTheirOutlines) {
  map_of("map.nc", 1);
  for (const int count : {50, 2000}) {
    PlotOptions options = {
        .panels = PlotPanels::mean, .limits = std::array<double, 2>{-1.0, 1.0}, .colours = "polar", .dpi = 150};
    plot_map(scratch_ / "map.nc", scratch_ / "without.png", options);
    for (int i = 0; i < count; ++i) {
      options.observations.lon_deg.push_back(5.0 + 25.0 * i / count);
      options.observations.lat_deg.push_back(8.0 + 14.0 * i / count);
      options.observations.value.push_back(-0.02);  // as the field
    }
    plot_map(scratch_ / "map.nc", scratch_ / "with.png", options);
    EXPECT_GT(dark_pixels(scratch_ / "with.png"), dark_pixels(scratch_ / "without.png") + 100) << count;
  }
}

TEST_F(PlotTimes, MayHaveAHistogramAboveTheColours) {
  map_of("map.nc", 1);
  plot({.panels = PlotPanels::mean});
  const Picture without = read_picture(scratch_ / "p.png");
  plot({.panels = PlotPanels::mean, .histogram = true});
  const Picture with = read_picture(scratch_ / "p.png");
  EXPECT_NEAR(static_cast<double>(with.height - without.height), 0.75 / 2.54 * 50.0, 3.0);
}

TEST_F(PlotTimes, AreWrittenAsSvg) {
  if (find_program("pdftocairo").empty()) GTEST_SKIP() << "pdftocairo is not installed: apt-get install poppler-utils";
  map_of("map.nc", 1);
  plot({}, "p.svg");
  const std::string svg = read_bytes(scratch_ / "p.svg");
  EXPECT_THAT(svg, HasSubstr("<svg"));
  EXPECT_THAT(svg, HasSubstr("<path")) << "lines and letters, not pixels alone";
  EXPECT_EQ(scratch_.files(), 2u) << "nothing temporary is left";
}

}  // namespace
}  // namespace drift
