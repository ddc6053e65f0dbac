#include "output/plot_map_figures.h"

#include <fmt/format.h>

#include <algorithm>

#include "drift/did_you_mean.h"
#include "drift/error.h"
#include "output/plot_dots.h"
#include "output/plot_histogram.h"
#include "output/plot_layout.h"
#include "output/plot_text.h"
#include "output/plot_words.h"

namespace drift {
namespace {

constexpr double kTwoPanelsCm = 17.0, kOnePanelCm = 12.0;  // a page's width between its margins, and most of it

// Names of the colour maps that GMT has.
std::vector<std::string> colour_maps(const GmtSession& gmt) {
  std::string folder = gmt.run({"--show-sharedir"});
  while (!folder.empty() && folder.back() == '\n') folder.pop_back();
  std::vector<std::string> names;
  std::error_code ignored;
  for (std::filesystem::recursive_directory_iterator entry(folder + "/cpt", ignored), end; entry != end;
       entry.increment(ignored)) {
    if (entry->path().extension() == ".cpt") names.push_back(entry->path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

void check_colours(const GmtSession& gmt, const PlotScale& scale) {
  const std::vector<std::string> known = colour_maps(gmt);
  if (known.empty() || std::binary_search(known.begin(), known.end(), scale.colours)) return;
  const std::vector<std::string_view> names(known.begin(), known.end());
  throw UsageError(
      fmt::format("GMT has no colour map '{}'{} (a suffix '_r' reverses it)", scale.colours, did_you_mean(scale.colours, names)));
}

}  // namespace

MapFigures::MapFigures(const GmtSession& gmt, MapSeries& series, const PlotOptions& options, const MapSurvey& survey)
    : series_(series), options_(options), fast_(survey.fast()) {
  const PlotSource& extent = survey.extent;
  region_ = region_with_values(extent, series.file().string());
  view_ = choose_view(extent, region_);
  mean_ = make_scale(survey.mean, colours_of(extent.info), options.colours);
  if (options.limits) set_limits(mean_, *options.limits, survey.mean);
  if (!options.colours.empty()) check_colours(gmt, mean_);
  sd_ = make_scale(survey.sd, sd_colours(), options.sd_colours);
  if (options.sd_limits) set_limits(sd_, *options.sd_limits, survey.sd);
  if (!options.sd_colours.empty()) check_colours(gmt, sd_);
  report_ = {.variable = extent.info.name,
             .sd_variable = extent.sd_info.name,
             .time = extent.time,
             .times = series.size(),
             .projection = view_.words};
  if (!extent.mean.empty()) report_.limits = {mean_.low, mean_.high};
  if (!extent.sd.empty()) report_.sd_limits = {sd_.low, sd_.high};
}

const PlotFigure& MapFigures::of_one_time(std::size_t index) {
  const PlotSource& source = start(index);
  if (!source.mean.empty()) add_mean(source, rasters_[0], "Mean");
  if (!source.sd.empty()) add_sd(source, rasters_[0], "Standard deviation");
  if (figure_.panels.size() == 1) figure_.panels[0].title.clear();
  if (figure_.panels.size() == 1 && options_.width_cm == 0.0) figure_.width_cm = kOnePanelCm;
  figure_.title = figure_title(source, options_.title, source.mean.empty());
  return figure_;
}

const PlotFigure& MapFigures::of_all_times() {
  for (std::size_t i = 0; i < series_.size(); ++i) {
    const PlotSource& source = i == 0 ? start(0) : series_.at(i);
    if (i > 0) rasters_.push_back(make_raster(source, region_));
    const std::string time = shown_time(source.time);
    if (source.mean.empty()) {
      add_sd(source, rasters_.back(), time);
    } else {
      add_mean(source, rasters_.back(), time);
    }
    std::vector<double>& all = figure_.panels[0].histogram;
    const std::vector<double>& own = figure_.panels[i].histogram;
    for (std::size_t bin = 0; i > 0 && bin < own.size(); ++bin) all[bin] += own[bin];
  }
  PlotSource untimed;
  untimed.info = series_.at(0).info;
  untimed.title = series_.at(0).title;
  figure_.title = figure_title(untimed, options_.title, series_.at(0).mean.empty());
  figure_.one_bar = true;
  figure_.columns = panel_columns(series_.size(), view_.shape);
  return figure_;
}

PlotReport MapFigures::report() const { return report_; }

const PlotSource& MapFigures::start(std::size_t index) {
  const PlotSource& source = series_.at(index);
  rasters_.clear();
  rasters_.push_back(make_raster(source, region_));
  figure_ = {.view = view_,
             .raster = &rasters_.front(),
             .panels = {},
             .title = {},
             .x_label = gmt_text(source.x_label),
             .y_label = gmt_text(source.y_label),
             .width_cm = options_.width_cm > 0.0 ? options_.width_cm : kTwoPanelsCm,
             .dpi = options_.dpi,
             .fast = fast_,
             .current_unit = gmt_unit(source.current_unit)};
  return source;
}

void MapFigures::add_mean(const PlotSource& source, const PlotRaster& raster, const std::string& title) {
  PlotPanel panel = {.title = title, .bar_label = bar_label(source.info), .values = &raster.mean, .scale = mean_};
  panel.dots = choose_dots(options_.observations, {source.time_days, options_.observations_days}, options_.most_observations);
  report_.observations += panel.dots.size() / 3;
  if (!source.u.empty()) panel.currents = &source;
  add_panel(raster, std::move(panel));
}

void MapFigures::add_sd(const PlotSource& source, const PlotRaster& raster, const std::string& title) {
  add_panel(
      raster,
      {.title = title, .bar_label = with_unit("Standard deviation", source.sd_info.unit), .values = &raster.sd, .scale = sd_});
}

void MapFigures::add_panel(const PlotRaster& raster, PlotPanel panel) {
  const bool earth = view_.shape != PlotShape::plane;
  if (options_.histogram) add_to_histogram(raster, *panel.values, panel.scale, earth, panel.histogram);
  figure_.panels.push_back(std::move(panel));
}

}  // namespace drift
