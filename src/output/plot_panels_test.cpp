#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/plot.h"
#include "output/gmt.h"
#include "output/plot_picture_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

class PlotPanelsFigure : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("gmt").empty()) GTEST_SKIP() << "GMT is not installed: apt-get install gmt gmt-gshhg-low ghostscript";
  }

  // A wave of this height, which its sd is too.
  PanelMap map_of(const std::string& name, float height, const std::string& grid = "xy:0,0,40,30:1") {
    write_map_file(
        scratch_ / name, map_options(parse_grid(grid), true),
        [=](double x, double) { return height * static_cast<float>(std::sin(x / 3.0)); }, [=](double, double) { return height; });
    return {scratch_ / name, name};
  }

  // The strongest colour in a share of the picture's width, the colour bar below left out.
  int strongest(double from, double to) const {
    const Picture picture = read_picture(scratch_ / "p.png");
    int most = 0;
    for (std::size_t y = 0; y < picture.height * 6 / 10; ++y) {
      for (auto x = static_cast<std::size_t>(from * static_cast<double>(picture.width));
           x < static_cast<std::size_t>(to * static_cast<double>(picture.width)); ++x) {
        most = std::max(most, std::abs(picture.red(x, y)));
      }
    }
    return most;
  }

  ScratchFolder scratch_;
};

TEST_F(PlotPanelsFigure, ShowsTheSameValueInTheSameColour) {
  plot_panels({map_of("a.nc", 1.0f), map_of("b.nc", 0.2f)}, scratch_ / "p.png", {.dpi = 60});
  EXPECT_GT(strongest(0.0, 0.5), 2 * strongest(0.5, 1.0)) << "scales of their own would make them alike";
}

TEST_F(PlotPanelsFigure, IsNotSpoiltByAWildMap) {
  const std::vector<PanelMap> maps = {map_of("a.nc", 1.0f), map_of("b.nc", 1.0f), map_of("wild.nc", 1e6f)};
  plot_panels(maps, scratch_ / "p.png", {.dpi = 60});
  EXPECT_GT(strongest(0.0, 0.3), 90);
  plot_panels(maps, scratch_ / "p.png", {.sd = true, .dpi = 60});
  EXPECT_GT(strongest(0.0, 0.3), 20);
}

TEST_F(PlotPanelsFigure, TakesTheScaleOfATruth) {
  const std::vector<PanelMap> maps = {map_of("truth.nc", 0.2f), map_of("b.nc", 1.0f)};
  plot_panels(maps, scratch_ / "p.png", {.scale_of_first = true, .dpi = 60});
  const int by_truth = strongest(0.0, 0.5);
  plot_panels(maps, scratch_ / "p.png", {.dpi = 60});
  EXPECT_GT(by_truth, 2 * strongest(0.0, 0.5));
}

TEST_F(PlotPanelsFigure, DrawsEachMapAtItsOwnTime) {
  FieldHeader file = map_options(parse_grid("xy:0,0,40,30:1"), false);
  file.time_days = {25627.0, 25628.0};  // the second map is the first plus one
  write_map_file(scratch_ / "m.nc", file, [](double x, double) { return static_cast<float>(std::sin(x / 3.0)); });
  const auto strength = [&](const char* second) {
    plot_panels({{scratch_ / "m.nc", "a", "0"}, {scratch_ / "m.nc", "b", second}}, scratch_ / "p.png",
                {.scale_of_first = true, .dpi = 60});
    const Picture picture = read_picture(scratch_ / "p.png");
    long sum = 0;
    for (std::size_t y = 0; y < picture.height * 6 / 10; ++y) {
      for (std::size_t x = picture.width / 2; x < picture.width; ++x) sum += picture.red(x, y);
    }
    return sum;
  };
  EXPECT_GT(strength("2020-03-02"), strength("2020-03-01") + 10000);
  EXPECT_THROW(strength("2020-04-01"), UsageError);
}

TEST_F(PlotPanelsFigure, FillsRowsAndRefusesOtherGrids) {
  std::vector<PanelMap> maps;
  for (int i = 0; i < 5; ++i) maps.push_back(map_of(fmt::format("m{}.nc", i), 1.0f));
  plot_panels(maps, scratch_ / "p.png", {.dpi = 60});
  const Picture five = read_picture(scratch_ / "p.png");
  maps.resize(3);
  plot_panels(maps, scratch_ / "p.png", {.dpi = 60});
  EXPECT_GT(five.height, read_picture(scratch_ / "p.png").height * 4 / 3);
  try {
    plot_panels({map_of("a.nc", 1.0f), map_of("b.nc", 1.0f, "xy:0,0,40,30:2")}, scratch_ / "p.png");
    FAIL() << "two grids in one figure";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("different grids"));
  }
}

}  // namespace
}  // namespace drift
