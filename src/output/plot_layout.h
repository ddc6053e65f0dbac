#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "output/gmt.h"
#include "output/plot_figure.h"

namespace drift {

inline constexpr double kPlotOrigin = 3.0;      // the first map's corner from the page's, cm; the margin is cut off later
inline constexpr double kPlotBarHeight = 0.26;  // of a colour bar
inline constexpr double kPlotLine = 0.42;       // of text

// Positions of a figure's elements, in centimetres from the page's corner.
struct PlotLayout {
  std::size_t columns, rows;
  double map_width, map_height, gap;
  double row_height;       // from one row's maps to the next one's
  std::string projection;  // -J
  double beside;           // the map: room for the numbers of a plane's y
  double below;            // the map: room for its labels
  double histogram;        // height above the colour bar, 0: none
  double above;            // the map: before the panel's title

  double left(std::size_t panel) const { return kPlotOrigin + static_cast<double>(panel % columns) * (map_width + gap); }
  double bottom(std::size_t panel) const { return kPlotOrigin + static_cast<double>(rows - 1 - panel / columns) * row_height; }
  double middle(std::size_t panel) const { return left(panel) + 0.5 * map_width; }
  double width() const { return left(columns - 1) + map_width - kPlotOrigin; }
  double top() const { return bottom(0) + map_height + above; }

  // Of the last row's colour bars, or of the single one.
  double bar_width(bool one_bar) const;
  double bar_top() const { return kPlotOrigin - below - histogram; }
  double bar_label_top() const { return bar_top() - kPlotBarHeight - 0.52; }
};

PlotLayout lay_out(const GmtSession& gmt, const PlotFigure& figure);

// Three or four side by side, whichever leaves fewer places of the last row empty; four are a square, or round maps in a row.
std::size_t panel_columns(std::size_t maps, PlotShape shape);

// Arguments of GMT's basemap. Labels are as far apart as they are wide at least.
std::vector<std::string> frame_arguments(const PlotView& view, const PlotLayout& layout);
// Latitudes, without sign, that are labelled along a meridian of a round map, and on an oval one on both sides of the equator.
std::vector<double> polar_latitudes(const PlotView& view, const PlotLayout& layout);
std::vector<double> global_latitudes(const PlotLayout& layout);

// Of a colour bar so wide: "-Bxa0.5".
std::string bar_ticks(const PlotScale& scale, double width_cm);

// A font as GMT takes it, smaller where the text would be wider than its place.
std::string fitting_font(double points, const std::string& face, const std::string& text, double width_cm);

}  // namespace drift
