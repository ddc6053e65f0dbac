#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "output/plot_histogram.h"
#include "output/plot_locator.h"
#include "output/plot_raster.h"
#include "output/plot_scale.h"
#include "output/plot_text.h"
#include "output/plot_view.h"

namespace drift {
namespace {

TEST(GmtText, MakesEscapesHarmlessAndLettersLatin1) {
  EXPECT_EQ(gmt_text("a@b\\c"), "a@@b\\134c");
  EXPECT_EQ(gmt_text("Gr\xC3\xB6\xC3\x9F"
                     "e in \xC2\xB0"),
            "Gr\\366\\337e in \\260");
  EXPECT_EQ(gmt_text("\xE2\x88\x9E one\ntwo"), "? one two");
  EXPECT_EQ(gmt_text("cut short \xC3"), "cut short ?");
}

TEST(GmtText, RaisesExponentsOfUnits) {
  EXPECT_EQ(gmt_unit("m s-1"), "m s@+-1@+");
  EXPECT_EQ(gmt_unit("kg m**-3"), "kg m@+-3@+");
  EXPECT_EQ(gmt_unit("m2"), "m@+2@+");
  EXPECT_EQ(gmt_unit("degree_C"), "\\260C");
  EXPECT_EQ(gmt_unit("1"), "");
  EXPECT_EQ(gmt_unit("%"), "%");
}

std::vector<float> evenly(double low, double high) {
  std::vector<float> values;
  for (int i = 0; i <= 1000; ++i) values.push_back(static_cast<float>(low + (high - low) * i / 1000.0));
  return values;
}

constexpr double kHalfStep = 0.26;  // limits are rounded outwards to half the step of the bar's labels

QuantityColours of(const std::string& name, const std::string& long_name = "", const std::string& standard_name = "",
                   const std::string& unit = "m") {
  return colours_of({.name = name, .long_name = long_name, .standard_name = standard_name, .unit = unit});
}

TEST(QuantityColours, FollowStandardNameNamesAndUnit) {
  EXPECT_EQ(of("x", "", "sea_surface_height_above_sea_level").colours, "vik");
  EXPECT_EQ(of("sla_filtered").colours, "vik");
  EXPECT_EQ(of("island_height").colours, "batlow") << "'sla' is no word of it";
  EXPECT_EQ(of("adt", "Absolute dynamic topography", "sea_surface_height_above_geoid").colours, "batlow");
  EXPECT_EQ(of("VAVH", "", "sea_surface_wave_significant_height").colours, "batlow");
  EXPECT_EQ(of("t", "", "", "degree_C").colours, "thermal");
  EXPECT_EQ(of("t", "Temperature anomaly", "", "degree_C").colours, "vik") << "an anomaly before a temperature";
  EXPECT_EQ(of("u", "", "surface_geostrophic_eastward_sea_water_velocity", "m s-1").colours, "balance");
  EXPECT_EQ(of("wind_speed", "", "", "m s-1").colours, "speed");
  EXPECT_EQ(of("freeboard_20_ku").colours, "devon");
  EXPECT_EQ(of("err_sla", "Formal mapping error").colours, "lajolla");
  EXPECT_EQ(of("anything").colours, "batlow");
}

TEST(QuantityColours, OfDivergingOnesHaveAMiddle) {
  for (const char* name : {"sla", "vorticity", "slope", "ugos", "difference"}) {
    EXPECT_TRUE(of(name).diverging) << name;
    EXPECT_TRUE(is_diverging(of(name).colours)) << name;
  }
  for (const char* name : {"adt", "sst", "speed", "salinity", "sea_ice", "depth"}) {
    EXPECT_FALSE(of(name).diverging || is_diverging(of(name).colours)) << name;
  }
}

TEST(PlotScale, LeavesOutliersAside) {
  std::vector<float> values = evenly(2.0, 4.0);
  values.push_back(1e6f);
  values.push_back(std::nanf(""));
  const PlotScale scale = make_scale(values, of("wave"));
  EXPECT_EQ(scale.colours, "batlow");
  EXPECT_NEAR(scale.low, 2.0, kHalfStep);
  EXPECT_NEAR(scale.high, 4.0, kHalfStep);
  EXPECT_TRUE(scale.above);
  EXPECT_FALSE(scale.below);
}

TEST(PlotScale, OfAQuantityIsOfOneKindWhateverTheValues) {
  for (const auto& [low, high] : std::vector<std::pair<double, double>>{{-0.1, 0.3}, {0.1, 0.3}, {-0.3, -0.1}, {-0.3, 0.3}}) {
    const PlotScale anomaly = make_scale(evenly(low, high), of("x", "Sea level anomaly"));
    EXPECT_EQ(anomaly.colours, "vik") << low;
    EXPECT_EQ(anomaly.low, -anomaly.high) << low;
    EXPECT_GE(anomaly.high, 0.29) << low;
    const PlotScale height = make_scale(evenly(low, high), of("adt"));
    EXPECT_EQ(height.colours, "batlow") << low;
    EXPECT_NEAR(height.low, low, 0.06);
  }
}

TEST(PlotScale, FollowsColoursOfTheUsersOwn) {
  const PlotScale diverging = make_scale(evenly(-0.1, 0.3), of("adt"), "roma_r");
  EXPECT_EQ(diverging.colours, "roma");
  EXPECT_TRUE(diverging.reversed);
  EXPECT_EQ(diverging.low, -diverging.high) << "a colour map with a middle has it at zero";
  EXPECT_NEAR(make_scale(evenly(-0.1, 0.3), of("sla"), "viridis").low, -0.1, 0.06);
}

TEST(PlotScale, OfAStandardDeviationBeginsAtZero) {
  const PlotScale scale = make_scale(evenly(0.02, 0.05), sd_colours());
  EXPECT_EQ(scale.low, 0.0);
  EXPECT_NEAR(scale.high, 0.05, 0.006);
}

TEST(PlotScale, OfAConstantFieldIsStillAScale) {
  for (const char* name : {"height", "sla"}) {
    for (const double value : {0.0, 5.0, -3.0}) {
      const PlotScale scale = make_scale(std::vector<float>(10, static_cast<float>(value)), of(name));
      EXPECT_LT(scale.low, scale.high) << value;
      EXPECT_LE(scale.low, value);
      EXPECT_GE(scale.high, value);
    }
  }
  const PlotScale sd = make_scale({0.0f, 0.0f}, sd_colours());
  EXPECT_LT(sd.low, sd.high);
}

PlotSource box(double west, double south, double step, std::size_t columns, std::size_t rows) {
  PlotSource source;
  source.space = PlotSpace::geographic;
  for (std::size_t i = 0; i < columns; ++i) source.x.push_back(west + step * (static_cast<double>(i) + 0.5));
  for (std::size_t i = 0; i < rows; ++i) source.y.push_back(south + step * (static_cast<double>(i) + 0.5));
  source.mean.resize(columns * rows);
  std::iota(source.mean.begin(), source.mean.end(), 0.0f);
  return source;
}

TEST(PlotRaster, TakesEvenCellsAsTheyAre) {
  const PlotSource source = box(160.0, -10.0, 1.0, 40, 20);
  const PlotRegion region = region_with_values(source, "map.nc");
  EXPECT_DOUBLE_EQ(region.width(), 40.0);
  EXPECT_DOUBLE_EQ(region.west, 160.0);
  EXPECT_DOUBLE_EQ(region.north, 10.0);
  EXPECT_EQ(make_raster(source, region).mean, source.mean);
}

TEST(PlotRaster, LeavesOutWhatHasNoValue) {
  PlotSource source = box(-180.0, -90.0, 10.0, 36, 18);
  for (std::size_t i = 0; i < source.mean.size(); ++i) {
    const double lon = source.x[i % 36], lat = source.y[i / 36];
    if (std::abs(lon) < 150.0 || std::abs(lat) > 30.0) source.mean[i] = std::nanf("");
  }
  const PlotRegion region = region_with_values(source, "map.nc");
  EXPECT_DOUBLE_EQ(region.west, 150.0) << "across the date line, not around the world";
  EXPECT_DOUBLE_EQ(region.east, 210.0);
  EXPECT_DOUBLE_EQ(region.south, -30.0);
}

TEST(PlotRaster, FindsTheNearestCellOfACurvilinearGridThroughThePole) {
  PlotSource source;  // a square of 100 km cells about the pole, each with its position only
  source.space = PlotSpace::curvilinear;
  for (int i = 0; i < 21; ++i) source.x.push_back(i), source.y.push_back(i);
  for (int r = -10; r <= 10; ++r) {
    for (int c = -10; c <= 10; ++c) {
      source.lon.push_back(std::atan2(c, -r) * 57.29577951308232);
      source.lat.push_back(90.0 - std::hypot(c, r) * 0.9);
      source.mean.push_back(static_cast<float>(c + 100 * r));
    }
  }
  const auto locator = make_locator(source);
  std::vector<double> lon = source.lon, lat = source.lat;
  for (double& l : lon) l += 360.0;
  for (double& l : lat) l = std::min(90.0, l + 0.1);
  std::vector<std::size_t> cell(lon.size());
  locator->find(lon, lat, cell);
  for (std::size_t i = 0; i < cell.size(); ++i) EXPECT_EQ(cell[i], i);
  const std::vector<double> far_lon = {0.0}, far_lat = {70.0};
  locator->find(far_lon, far_lat, std::span(cell).first(1));
  EXPECT_EQ(cell[0], kNoCell);
}

TEST(PlotHistogram, CountsAreaAndLeavesOutWhatIsBeyondTheScale) {
  // Rows about the equator and 60 N: areas 1 and 1/2.
  const PlotRaster raster = {.region = {0.0, 2.0, -30.0, 90.0}, .columns = 2, .rows = 2, .mean = {}, .sd = {}};
  const std::vector<float> values = {0.0f, 1.0f, 0.0f, 7.0f};
  std::vector<double> bins;
  add_to_histogram(raster, values, {.colours = "batlow", .low = 0.0, .high = 1.0}, true, bins);
  EXPECT_NEAR(bins.front(), 1.5, 1e-12);
  EXPECT_NEAR(bins.back(), 1.0, 1e-12);
  EXPECT_NEAR(std::accumulate(bins.begin(), bins.end(), 0.0), 2.5, 1e-12);
  add_to_histogram(raster, values, {.colours = "batlow", .low = 0.0, .high = 1.0}, false, bins);
  EXPECT_NEAR(bins.front(), 1.5 + 2.0, 1e-12) << "cells of a plane are alike";
}

TEST(PlotView, SuitsTheRegion) {
  const PlotSource source = box(-180.0, -90.0, 10.0, 36, 18);
  EXPECT_EQ(choose_view(source, {-180, 180, 55, 90}).shape, PlotShape::polar);
  EXPECT_EQ(choose_view(source, {-180, 180, -90, -50}).projection, "-JA0/-90/");
  EXPECT_EQ(choose_view(source, {-180, 180, -80, 80}).shape, PlotShape::global);
  EXPECT_EQ(choose_view(source, {-180, 180, -40, 40}).words, "Mercator");
  EXPECT_EQ(choose_view(source, {-20, 40, 60, 80}).shape, PlotShape::fan);
  EXPECT_EQ(choose_view(source, {160, 200, -10, 10}).words, "Mercator");
  EXPECT_EQ(choose_view(source, {0, 100, -85, 85}).words, "equidistant cylindrical");
}

}  // namespace
}  // namespace drift
