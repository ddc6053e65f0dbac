#include "drift/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drift/did_you_mean.h"
#include "drift/error.h"
#include "drift/files.h"
#include "output/gmt.h"
#include "output/plot_figure.h"
#include "output/plot_source.h"
#include "output/plot_text.h"
#include "output/plot_words.h"

namespace drift {
namespace {

constexpr double kTwoPanelsCm = 17.0, kOnePanelCm = 12.0;  // a page's width between its margins, and most of it

void check(const std::filesystem::path& picture, const PlotOptions& options) {
  check_picture_name(picture);
  if (options.width_cm != 0.0 && !(options.width_cm >= 4.0 && options.width_cm <= 100.0)) {
    throw UsageError(fmt::format("the picture is {} cm wide but must be 4 to 100", options.width_cm));
  }
  if (options.dpi < 30 || options.dpi > 1200)
    throw UsageError(fmt::format("the resolution is {} dots per inch but must be 30 to 1200", options.dpi));
  const Observations& o = options.observations;
  if (o.lon_deg.size() != o.size() || o.lat_deg.size() != o.size()) {
    throw UsageError(fmt::format("observations to draw: {} longitudes and {} latitudes but {} values", o.lon_deg.size(),
                                 o.lat_deg.size(), o.size()));
  }
}

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

PlotPanel mean_panel(const GmtSession& gmt, const PlotSource& source, const PlotRaster& raster, const PlotOptions& options) {
  PlotPanel panel = {.title = "Mean",
                     .bar_label = bar_label(source.info),
                     .values = &raster.mean,
                     .scale = mean_scale(source.mean, source.info)};
  if (options.limits) set_limits(panel.scale, *options.limits, source.mean);
  if (!options.colours.empty()) {
    set_colours(panel.scale, options.colours);
    check_colours(gmt, panel.scale);
  }
  if (options.observations.size() > 0) {
    const std::size_t most = std::max<std::size_t>(1, options.most_observations);
    panel.observations = &options.observations;
    panel.every = (options.observations.size() + most - 1) / most;
  }
  return panel;
}

PlotPanel sd_panel(const GmtSession& gmt, const PlotSource& source, const PlotRaster& raster, const PlotOptions& options) {
  PlotPanel panel = {.title = "Standard deviation",
                     .bar_label = with_unit("Standard deviation", source.sd_info.unit),
                     .values = &raster.sd,
                     .scale = sd_scale(source.sd)};
  if (options.sd_limits) set_limits(panel.scale, *options.sd_limits, source.sd);
  if (!options.sd_colours.empty()) {
    set_colours(panel.scale, options.sd_colours);
    check_colours(gmt, panel.scale);
  }
  return panel;
}

}  // namespace

PlotReport plot_map(const std::filesystem::path& map, const std::filesystem::path& picture, const PlotOptions& options,
                    const Control& control) {
  check(picture, options);
  check_outputs({{"the map", map}}, {{"the picture", picture}});
  const GmtSession gmt("drift plot draws", control);
  check_ghostscript();
  const PlotSource source = read_plot_source(map, options);
  const PlotRegion region = region_with_values(source, map.string());
  const PlotRaster raster = make_raster(source, region);

  PlotFigure figure = {.view = choose_view(source, region),
                       .raster = &raster,
                       .panels = {},
                       .title = {},
                       .x_label = gmt_text(source.x_label),
                       .y_label = gmt_text(source.y_label),
                       .width_cm = options.width_cm > 0.0 ? options.width_cm : kTwoPanelsCm,
                       .dpi = options.dpi};
  PlotReport report = {
      .variable = source.info.name, .sd_variable = source.sd_info.name, .time = source.time, .projection = figure.view.words};
  if (!raster.mean.empty()) {
    figure.panels.push_back(mean_panel(gmt, source, raster, options));
    const PlotPanel& panel = figure.panels.back();
    report.limits = {panel.scale.low, panel.scale.high};
    if (panel.observations != nullptr) report.observations = (options.observations.size() + panel.every - 1) / panel.every;
  }
  if (!raster.sd.empty()) {
    figure.panels.push_back(sd_panel(gmt, source, raster, options));
    report.sd_limits = {figure.panels.back().scale.low, figure.panels.back().scale.high};
  }
  if (figure.panels.size() == 1) {
    figure.panels[0].title.clear();
    if (options.width_cm == 0.0) figure.width_cm = kOnePanelCm;
  }
  figure.title = figure_title(source, options.title, raster.mean.empty());
  publish_picture(draw_figure(gmt, figure, picture_format(picture)), picture);
  return report;
}

}  // namespace drift
