#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "output/gmt.h"
#include "output/plot_raster.h"
#include "output/plot_scale.h"
#include "output/plot_view.h"

namespace drift {

// A map of a figure with its colour bar. Texts are GMT's, see plot_text.h.
struct PlotPanel {
  std::string title;  // above the map; empty: none
  std::string bar_label;
  const std::vector<float>* values = nullptr;  // of the raster; null: observations alone
  PlotScale scale = {};
  std::vector<double> dots = {};         // longitude, latitude, value of each observation, drawn in the scale's colours
  const PlotSource* currents = nullptr;  // drawn as arrows; null: none
  std::vector<double> histogram = {};    // of the values along the scale, see plot_histogram.h; empty: none
};

struct PlotFigure {
  PlotView view;
  const PlotRaster* raster = nullptr;
  std::vector<PlotPanel> panels;  // side by side
  std::size_t columns = 0;        // of them, in as many rows as it takes; 0: all in one row
  bool one_bar = false;           // a single colour bar below all of them, the first panel's
  std::string title;
  std::string x_label, y_label;  // plane
  double width_cm = 17.0;
  int dpi = 300;
  double fast = 0.0;              // currents of this speed are the longest arrows but few
  std::string current_unit = {};  // of the arrows' key
};

// Draws it in the session's folder and returns the picture's path there; format "png", "pdf", or "ppm", which keeps the margin so
// that figures of one layout are equally large.
std::filesystem::path draw_figure(const GmtSession& gmt, const PlotFigure& figure, const std::string& format);

}  // namespace drift
