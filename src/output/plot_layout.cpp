#include "output/plot_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "drift/error.h"
#include "output/ticks.h"

namespace drift {
namespace {

constexpr double kFlattest = 0.2, kTallest = 3.0;  // height over width; beyond it a map is stretched
constexpr double kTall = 1.4;
constexpr double kHistogramCm = 0.75;
constexpr double kLetterCm = 0.14;    // width of a letter of 7 points
constexpr double kLongitudeCm = 1.0;  // between labels of meridians around a circle: "150 W" and a blank
constexpr double kLatitudeCm = 0.55;  // between labels of parallels: their height and as much again

double lower_space(PlotShape shape) {
  switch (shape) {
    case PlotShape::polar:
      return 0.65;
    case PlotShape::global:
      return 0.25;
    case PlotShape::plane:
      return 1.0;
    default:
      return 0.62;
  }
}

double ratio_of(const PlotRegion& region) { return region.height() / region.width(); }

// Height over width of a map in its projection.
double natural_ratio(const GmtSession& gmt, const PlotView& view) {
  if (view.shape == PlotShape::plane) return ratio_of(view.region);
  const std::string size =
      gmt.run({"mapproject", region_argument(view.region), view.projection + "10c", "-W", "--PROJ_LENGTH_UNIT=c"});
  std::istringstream numbers(size);
  double width = 0.0, height = 0.0;
  numbers >> width >> height;
  if (!numbers || !(width > 0.0 && height > 0.0)) throw Error(fmt::format("GMT gave no size for the map: '{}'", size));
  return height / width;
}

std::size_t longest_label(const std::vector<Tick>& ticks) {
  std::size_t longest = 0;
  for (const Tick& tick : ticks) longest = std::max(longest, tick.label.size());
  return longest;
}

// Centimetres that the numbers along a plane's y take.
double width_of_numbers(const PlotRegion& region) {
  return 0.32 + kLetterCm * static_cast<double>(longest_label(nice_ticks(region.south, region.north, 6)));
}

// Degrees, or minutes where they are less than one.
std::string label_step(double step) { return step < 1.0 ? fmt::format("{:g}m", 60.0 * step) : fmt::format("{:g}", step); }

// Between labelled meridians of a round map.
double polar_longitude_step(const PlotLayout& layout) {
  const double around = std::numbers::pi * layout.map_width;
  for (const double step : {30.0, 45.0, 60.0, 90.0}) {
    if (around * step / 360.0 >= kLongitudeCm) return step;
  }
  return 180.0;
}

double polar_latitude_step(const PlotView& view, const PlotLayout& layout) {
  const double edge = std::min(std::abs(view.region.south), std::abs(view.region.north));
  return degrees_between(90.0 - edge, std::clamp(static_cast<int>(0.5 * layout.map_width / kLatitudeCm), 1, 4));
}

}  // namespace

double PlotLayout::bar_width(bool one_bar) const {
  if (one_bar) return std::min(10.0, 0.7 * width());
  return std::max(0.8 * map_width, std::min(3.0, map_width + 0.5 * gap));
}

PlotLayout lay_out(const GmtSession& gmt, const PlotFigure& figure) {
  PlotLayout layout = {};
  const PlotView& view = figure.view;
  layout.columns = figure.columns > 0 ? std::min(figure.columns, figure.panels.size()) : figure.panels.size();
  layout.rows = (figure.panels.size() + layout.columns - 1) / layout.columns;
  const auto count = static_cast<double>(layout.columns);
  layout.gap = view.shape == PlotShape::polar ? 1.25 : view.shape == PlotShape::global ? 0.6 : 1.35;
  if (view.shape == PlotShape::plane) {
    layout.beside = width_of_numbers(view.region);
    layout.gap = std::max(layout.gap, layout.beside + 0.5);
  }
  layout.map_width = std::max(0.5, (figure.width_cm - layout.gap * (count - 1.0)) / count);
  // A strip is stretched, so that its colours can be seen; a tall map becomes narrower.
  const double natural = natural_ratio(gmt, view), ratio = std::clamp(natural, kFlattest, kTallest);
  if (ratio > kTall) layout.map_width *= kTall / ratio;
  layout.map_height = ratio * layout.map_width;
  if (view.shape == PlotShape::plane) {
    layout.projection = fmt::format("-JX{}c/{}c", layout.map_width, layout.map_height);
  } else if (ratio != natural) {
    layout.projection = fmt::format("-JX{}cd/{}cd", layout.map_width, layout.map_height);
  } else {
    layout.projection = fmt::format("{}{}c", view.projection, layout.map_width);
  }
  layout.below = lower_space(view.shape);
  for (const PlotPanel& panel : figure.panels) layout.histogram = panel.histogram.empty() ? layout.histogram : kHistogramCm;
  layout.above = view.shape == PlotShape::polar ? 0.58 : view.shape == PlotShape::fan ? 0.42 : 0.18;
  layout.row_height = layout.map_height + layout.above + kPlotLine + layout.below;
  return layout;
}

std::size_t panel_columns(std::size_t maps, PlotShape shape) {
  if (maps <= 3) return maps;
  if (maps == 4) return shape == PlotShape::polar ? 4 : 2;
  const auto empty = [&](std::size_t columns) { return (columns - maps % columns) % columns; };
  return empty(4) < empty(3) ? 4 : 3;
}

std::vector<std::string> frame_arguments(const PlotView& view, const PlotLayout& layout) {
  double lon_step = view.lon_step, lat_step = view.lat_step;
  if (view.shape == PlotShape::rectangle || view.shape == PlotShape::fan) {
    lon_step = degrees_between(view.region.width(), std::clamp(static_cast<int>(layout.map_width / 1.5), 2, 6));
    lat_step = degrees_between(view.region.height(), std::clamp(static_cast<int>(layout.map_height / 0.9), 2, 6));
  }
  if (view.shape == PlotShape::polar) {
    lon_step = polar_longitude_step(layout);
    lat_step = polar_latitude_step(view, layout);
  }
  const std::string lon = label_step(lon_step), lat = label_step(lat_step);
  switch (view.shape) {
    case PlotShape::polar:
      return {"-Bxa" + lon + "g" + lon, "-Byg" + lat, "--MAP_POLAR_CAP=none"};
    case PlotShape::global:
      return {"-Bxg" + lon, "-Byg" + lat};
    case PlotShape::plane:
      return {"-Baf", "-BWSne"};
    default:
      return {"-Bxa" + lon + "g" + lon, "-Bya" + lat + "g" + lat, "-BWSne",
              std::min(lon_step, lat_step) < 1.0 ? "--FORMAT_GEO_MAP=ddd:mmF" : "--FORMAT_GEO_MAP=dddF"};
  }
}

std::vector<double> polar_latitudes(const PlotView& view, const PlotLayout& layout) {
  const double edge = std::min(std::abs(view.region.south), std::abs(view.region.north));
  const double step = polar_latitude_step(view, layout);
  std::vector<double> latitudes;
  for (double lat = step; lat < 89.9; lat += step) {
    if (lat >= edge + 0.3 * step) latitudes.push_back(lat);
  }
  return latitudes;
}

std::vector<double> global_latitudes(const PlotLayout& layout) {
  const double between_30 = layout.map_height / 6.0;
  if (between_30 >= 0.5 * kLatitudeCm) return {0.0, 30.0, 60.0};
  if (2.0 * between_30 >= 0.5 * kLatitudeCm) return {0.0, 60.0};
  return {0.0};
}

std::string bar_ticks(const PlotScale& scale, double width_cm) {
  for (int most = 7; most >= 2; --most) {
    const std::vector<Tick> ticks = nice_ticks(scale.low, scale.high, most);
    if (ticks.size() < 2) break;
    const double step = ticks[1].value - ticks[0].value;
    const double apart = width_cm * step / (scale.high - scale.low);
    if (apart >= kLetterCm * (static_cast<double>(longest_label(ticks)) + 1.5)) return fmt::format("-Bxa{:.6g}", step);
  }
  // The ends alone would still say what the colours mean.
  return fmt::format("-Bxa{:.6g}+{:.6g}", scale.high - scale.low, scale.low);
}

std::string fitting_font(double points, const std::string& face, const std::string& text, double width_cm) {
  std::size_t letters = 0;
  for (std::size_t i = 0; i < text.size(); ++i, ++letters) {
    if (text[i] == '\\') i += 3;  // an octal number stands for one
  }
  // Letters are about 0.55 of their size wide.
  const double cm_a_point = 0.55 * static_cast<double>(std::max<std::size_t>(1, letters)) * 2.54 / 72.0;
  return fmt::format("{:.2f}p,{},black", std::clamp(width_cm / cm_a_point, 4.0, points), face);
}

}  // namespace drift
