#include "output/plot_arrows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/scratch_folder.h"
#include "drift/plot.h"
#include "output/plot_layout.h"
#include "output/plot_picture_testing.h"
#include "output/plot_source.h"

namespace drift {
namespace {

class PlotArrows : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("gmt").empty()) GTEST_SKIP() << "GMT is not installed: apt-get install gmt gmt-gshhg-low ghostscript";
  }

  // A map of zero with one current everywhere.
  std::filesystem::path map_of(const std::string& grid, double u, double v) const {
    FieldHeader header = map_options(parse_grid(grid), false);
    for (const char* name : {"ugos", "vgos"})
      header.layers.push_back({.info = {.name = name, .long_name = name, .standard_name = "", .unit = "m s-1"}});
    FieldFileWriter writer(scratch_ / "map.nc", header);
    for (std::size_t layer = 0; layer < 3; ++layer)
      writer.write(layer, 0, 0, std::vector<double>(header.grid.size(), layer == 0 ? 0.0 : layer == 1 ? u : v));
    writer.finish();
    return scratch_ / "map.nc";
  }

  std::vector<Arrow> arrows_of(const std::filesystem::path& map, double width_cm) const {
    PlotOptions options;
    options.variable = "sla";
    options.arrows = true;
    const PlotSource source = read_plot_source(map, options);
    PlotFigure figure;
    figure.view = choose_view(source, region_with_values(source, "map"));
    figure.panels.resize(1);
    figure.width_cm = width_cm;
    const GmtSession gmt("the test draws");
    return choose_arrows(gmt, source, figure.view, lay_out(gmt, figure));
  }

  // Dark pixels that have dark ones on both sides, in a row and in a column: lines along x and along y.
  std::array<double, 2> lines(const std::filesystem::path& map) const {
    PlotOptions options;
    options.variable = "sla", options.arrows = true, options.width_cm = 4.0, options.dpi = 150;
    options.limits = {-1.0, 1.0}, options.colours = "polar";
    plot_map(map, scratch_ / "p.png", options);
    const Picture picture = read_picture(scratch_ / "p.png");
    const auto dark = [&](std::size_t x, std::size_t y) { return picture.at(x, y)[0] < 40 && picture.at(x, y)[2] < 40; };
    std::array<double, 2> count = {};
    for (std::size_t y = picture.height / 4; y < picture.height / 2; ++y) {
      for (std::size_t x = picture.width / 4; x < picture.width * 3 / 4; ++x) {
        if (!dark(x, y)) continue;
        count[0] += dark(x - 3, y) && dark(x + 3, y) ? 1.0 : 0.0;
        count[1] += dark(x, y - 3) && dark(x, y + 3) ? 1.0 : 0.0;
      }
    }
    return count;
  }

  ScratchFolder scratch_;
};

TEST_F(PlotArrows, PointAlongTheCurrentOnAPlaneAndOnTheEarth) {
  const std::array<double, 2> east = lines(map_of("xy:0,0,40,40:1", 1.0, 0.0));
  const std::array<double, 2> north = lines(map_of("bbox:-40,20,-20,40:1", 0.0, 1.0));
  EXPECT_GT(east[0], 4.0 * east[1]);
  EXPECT_GT(north[1], 4.0 * north[0]);
  EXPECT_GT(north[1], 100.0);
}

TEST_F(PlotArrows, LieAsDenselyOnAFineGridAsOnACoarseOne) {
  const std::size_t fine = arrows_of(map_of("bbox:-40,20,-20,40:0.1", 1.0, 0.0), 8.0).size();
  const std::size_t coarse = arrows_of(map_of("bbox:-40,20,-20,40:0.5", 1.0, 0.0), 8.0).size();
  EXPECT_NEAR(static_cast<double>(fine), static_cast<double>(coarse), 0.1 * static_cast<double>(fine));
  EXPECT_LT(fine, 1500u) << "of 40,000 cells";
}

TEST_F(PlotArrows, DrawEveryCellOfAVeryCoarseGridOnce) {
  EXPECT_EQ(arrows_of(map_of("bbox:-40,20,-20,40:5", 1.0, 0.0), 8.0).size(), 16u);
}

// On the page, so that they do not crowd where meridians meet.
TEST_F(PlotArrows, DoNotCrowdAtThePole) {
  const std::vector<Arrow> arrows = arrows_of(map_of("bbox:-180,60,180,90:0.5", 1.0, 0.0), 8.0);
  double near_pole = 0.0;
  for (const Arrow& arrow : arrows) near_pole += arrow.lat > 75.0 ? 1.0 : 0.0;
  // Equal areas on the page: the caps' shares of the sphere.
  const double expected = (1.0 - std::sin(75.0 * std::numbers::pi / 180.0)) / (1.0 - std::sin(60.0 * std::numbers::pi / 180.0));
  EXPECT_NEAR(near_pole / static_cast<double>(arrows.size()), expected, 0.05);
}

TEST_F(PlotArrows, StayOutsideTheOvalOfTheGlobe) {
  const std::vector<Arrow> arrows = arrows_of(map_of("global:2", 1.0, 0.0), 12.0);
  EXPECT_GT(arrows.size(), 200u);
  for (const Arrow& arrow : arrows) EXPECT_LE(std::abs(arrow.lon), 180.0);
}

TEST_F(PlotArrows, NeedCurrents) {
  write_map_file(scratch_ / "plain.nc", map_options(parse_grid("global:10"), false), [](double, double) { return 1.0; });
  EXPECT_THROW(arrows_of(scratch_ / "plain.nc", 8.0), UsageError);
}

TEST(ArrowKey, HasARoundSpeedThatIsNotMuchLessThanTheFastCurrents) {
  EXPECT_DOUBLE_EQ(key_speed(0.73), 0.5);
  EXPECT_DOUBLE_EQ(key_speed(1.0), 1.0);
  EXPECT_DOUBLE_EQ(key_speed(0.49), 0.2);
  EXPECT_DOUBLE_EQ(key_speed(19.0), 10.0);
}

}  // namespace
}  // namespace drift
