#pragma once

#include <deque>

#include "drift/plot.h"
#include "output/gmt.h"
#include "output/plot_figure.h"
#include "output/plot_raster.h"
#include "output/plot_series.h"

namespace drift {

// The figures of a map: one of several times, or one for each. They share view and scales. A figure is valid until the next call.
class MapFigures {
 public:
  // Throws UsageError for colour maps that GMT has not.
  MapFigures(const GmtSession& gmt, MapSeries& series, const PlotOptions& options, const MapSurvey& survey);

  const PlotFigure& of_one_time(std::size_t index);  // mean and sd side by side, as far as they were read
  const PlotFigure& of_all_times();                  // a panel for each, of the mean or of the sd

  PlotReport report() const;  // on what was drawn so far

 private:
  const PlotSource& start(std::size_t index);
  void add_mean(const PlotSource& source, const PlotRaster& raster, const std::string& title);
  void add_sd(const PlotSource& source, const PlotRaster& raster, const std::string& title);
  void add_panel(const PlotRaster& raster, PlotPanel panel);

  MapSeries& series_;
  const PlotOptions& options_;
  PlotRegion region_;
  PlotView view_;
  PlotScale mean_, sd_;
  double fast_;
  PlotReport report_;
  std::deque<PlotRaster> rasters_;
  PlotFigure figure_;
};

}  // namespace drift
