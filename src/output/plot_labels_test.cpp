// Labels do not lie on each other: where poppler finds the words of a PDF.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "core/scratch_folder.h"
#include "drift/plot.h"
#include "output/gmt.h"
#include "output/plot_picture_testing.h"

namespace drift {
namespace {

struct Word {
  std::string text;
  double left, top, right, bottom;  // points
};

// A box of a word is as high as its font's lines; letters take about two thirds of it.
constexpr double kLetters = 0.66;

bool collide(const Word& a, const Word& b) {
  const auto overlap = [](double low_a, double high_a, double low_b, double high_b) {
    return std::min(high_a, high_b) - std::max(low_a, low_b);
  };
  const double height = std::min(a.bottom - a.top, b.bottom - b.top);
  return overlap(a.left, a.right, b.left, b.right) > 0.3 && overlap(a.top, a.bottom, b.top, b.bottom) > (1.0 - kLetters) * height;
}

class PlotLabels : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("gmt").empty()) GTEST_SKIP() << "GMT is not installed: apt-get install gmt gmt-gshhg-low ghostscript";
    if (find_program("pdftotext").empty()) GTEST_SKIP() << "pdftotext is not installed: apt-get install poppler-utils";
  }

  std::vector<Word> words(const std::string& pdf) const {
    const std::vector<std::string> environment = {"LC_ALL=C.UTF-8"};
    run_child({"pdftotext", find_program("pdftotext"), environment}, {"-bbox", pdf, "words.html"}, scratch_ / "", {});
    const std::string html = read_bytes(scratch_ / "words.html");
    const std::regex word("<word xMin=\"([-0-9.]+)\" yMin=\"([-0-9.]+)\" xMax=\"([-0-9.]+)\" yMax=\"([-0-9.]+)\">([^<]*)<");
    std::vector<Word> found;
    for (std::sregex_iterator i(html.begin(), html.end(), word), end; i != end; ++i) {
      found.push_back({(*i)[5], std::stod((*i)[1]), std::stod((*i)[2]), std::stod((*i)[3]), std::stod((*i)[4])});
    }
    return found;
  }

  // Returns how many words there are. Outlined letters are drawn twice, in one place.
  std::size_t expect_clear(const std::string& grid, const PlotOptions& options, double amplitude = 0.3) const {
    const FieldOf field = [=](double x, double y) { return amplitude * std::sin(0.1 * x + 0.2 * y); };
    const FieldOf spread = [=](double, double) { return 0.3 * amplitude; };
    FieldHeader header = map_options(parse_grid(grid), true);
    for (const char* current : {"ugos", "vgos"}) {
      if (options.arrows) header.layers.push_back({.info = {current, "current", "", "m s-1"}});
    }
    write_map_file(scratch_ / "map.nc", header, field, spread);
    plot_map(scratch_ / "map.nc", scratch_ / "p.pdf", options);
    const std::vector<Word> all = words("p.pdf");
    const std::string what = fmt::format("{} at {} cm", grid, options.width_cm);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_GE(all[i].left, 0.0) << what << ": " << all[i].text << " leaves the page";
      for (std::size_t j = 0; j < i; ++j) {
        if (all[i].text == all[j].text && std::abs(all[i].left - all[j].left) < 0.5) continue;
        EXPECT_FALSE(collide(all[i], all[j])) << what << ": " << all[i].text << " lies on " << all[j].text;
      }
    }
    return all.size();
  }

  ScratchFolder scratch_;
};

TEST_F(PlotLabels, OfRoundMapsDoNotCollide) {
  EXPECT_GT(expect_clear("bbox:-180,60,180,90:5", {.panels = PlotPanels::mean, .width_cm = 8.0}), 12u);
  expect_clear("bbox:-180,-90,180,-50:5", {.width_cm = 6.0});
  expect_clear("bbox:-180,60,180,90:5", {.width_cm = 4.0});
}

TEST_F(PlotLabels, OfOvalMapsDoNotCollide) {
  EXPECT_GT(expect_clear("global:10", {.width_cm = 12.0}), 12u);
  expect_clear("global:10", {.width_cm = 4.0});
}

TEST_F(PlotLabels, OfRegionsDoNotCollide) {
  EXPECT_GT(expect_clear("bbox:-6,30,36,46:2", {.width_cm = 10.0}), 12u);
  expect_clear("bbox:-6,30,36,46:2", {.width_cm = 5.0});
  expect_clear("bbox:-20,62,30,80:2", {.panels = PlotPanels::mean, .width_cm = 5.0});
}

TEST_F(PlotLabels, OfProjectedGridsDoNotCollide) {
  EXPECT_GT(expect_clear("EPSG:3035:200km:1000,0,8000,5400", {.variable = "sla", .width_cm = 12.0}), 12u);  // a conic
  expect_clear("EPSG:3035:200km:1000,0,8000,5400", {.variable = "sla", .width_cm = 6.0});
  expect_clear("EPSG:3035:25km:2300,1500,2700,4000", {.variable = "sla", .width_cm = 6.0});
  expect_clear("EPSG:32629:10km:200,4000,700,4200", {.variable = "sla", .width_cm = 6.0});
  EXPECT_GT(expect_clear("EPSG:6931:200km:-4000,-4000,4000,4000", {.variable = "sla", .width_cm = 6.0}), 12u);
}

// Speed and unit stand below the label of the bar.
TEST_F(PlotLabels, OfTheKeyOfArrowsDoNotCollide) {
  for (const char* grid : {"bbox:-6,30,36,46:2", "EPSG:6931:200km:-4000,-4000,4000,4000", "EPSG:3035:25km:2300,1500,2700,4000"}) {
    for (const double width : {4.0, 12.0}) {
      const PlotOptions plain = {.variable = "sla", .histogram = true, .width_cm = width};
      PlotOptions arrows = plain;
      arrows.arrows = true;
      EXPECT_GT(expect_clear(grid, arrows), expect_clear(grid, plain)) << grid << ": no key";
    }
  }
}

// Numbers of a scale that take many letters, and of a plane.
TEST_F(PlotLabels, OfColourBarsDoNotCollide) {
  for (const double amplitude : {1e-5, 0.00123, 98765.0}) {
    EXPECT_GT(expect_clear("xy:0,0,40,30:1", {.histogram = true, .width_cm = 8.0}, amplitude), 8u);
  }
}

}  // namespace
}  // namespace drift
