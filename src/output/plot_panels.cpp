// Many maps of one grid in one figure.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "drift/error.h"
#include "drift/files.h"
#include "drift/plot.h"
#include "output/gmt.h"
#include "output/plot_figure.h"
#include "output/plot_layout.h"
#include "output/plot_publish.h"
#include "output/plot_source.h"
#include "output/plot_text.h"
#include "output/plot_words.h"

namespace drift {
namespace {

std::vector<PlotSource> read_sources(const std::vector<PanelMap>& maps, const PanelOptions& options) {
  PlotOptions wanted;
  wanted.variable = options.variable;
  wanted.panels = options.sd ? PlotPanels::sd : PlotPanels::mean;
  std::vector<PlotSource> sources;
  for (const PanelMap& map : maps) {
    wanted.time = map.time;
    sources.push_back(read_plot_source(map.map, wanted));
    check_same_grid(sources.front(), sources.back(), maps.front().map, map.map);
  }
  return sources;
}

PlotScale own_scale(const PlotSource& source, bool sd) {
  return sd ? make_scale(source.sd, sd_colours()) : make_scale(source.mean, colours_of(source.info));
}

// A scale for all of them: of the maps' own limits the middle ones by their width, so that a wild map does not hide the others.
PlotScale common_scale(const std::vector<PlotSource>& sources, const PanelOptions& options) {
  std::vector<std::array<double, 2>> own;
  for (const PlotSource& source : sources) {
    const PlotScale one = own_scale(source, options.sd);
    own.push_back({one.low, one.high});
  }
  if (options.scale_of_first) own.resize(1);
  std::sort(own.begin(), own.end(), [](const auto& a, const auto& b) { return a[1] - a[0] < b[1] - b[0]; });
  const std::array<double, 2> limits = own[own.size() / 2];
  PlotScale scale = own_scale(sources[0], options.sd);
  bool below = false, above = false;
  for (const PlotSource& source : sources) {
    set_limits(scale, limits, options.sd ? source.sd : source.mean);
    below = below || scale.below, above = above || scale.above;
  }
  scale.below = below, scale.above = above;
  return scale;
}

}  // namespace

void plot_panels(const std::vector<PanelMap>& maps, const std::filesystem::path& picture, const PanelOptions& options,
                 const Control& control) {
  check_picture_name(picture);
  NamedPaths inputs;
  for (const PanelMap& panel : maps) inputs.push_back({"the map", panel.map});
  check_outputs(inputs, {{"the picture", picture}});
  if (maps.empty()) throw UsageError("a figure of maps needs at least one");
  const GmtSession gmt("drift draws maps", control);
  check_picture_programs(picture);
  const std::vector<PlotSource> sources = read_sources(maps, options);
  // The last: a truth comes first, and may have fewer values than what methods make of it.
  const PlotRegion region = region_with_values(sources.back(), maps.back().map.string());
  std::vector<PlotRaster> rasters;
  for (const PlotSource& source : sources) rasters.push_back(make_raster(source, region));
  const PlotView view = choose_view(sources.back(), region);
  const PlotScale scale = common_scale(sources, options);
  const VariableInfo& info = sources.back().info;

  PlotFigure figure = {.view = view,
                       .raster = &rasters.back(),
                       .panels = {},
                       .columns = panel_columns(maps.size(), view.shape),
                       .one_bar = true,
                       .title = figure_title(sources.back(), options.title, options.sd),
                       .x_label = gmt_text(sources.back().x_label),
                       .y_label = gmt_text(sources.back().y_label),
                       .width_cm = options.width_cm,
                       .dpi = options.dpi};
  const std::string label = options.sd ? with_unit("Standard deviation", sources.back().sd_info.unit) : bar_label(info);
  for (std::size_t i = 0; i < maps.size(); ++i) {
    figure.panels.push_back({.title = gmt_text(maps[i].title),
                             .bar_label = label,
                             .values = options.sd ? &rasters[i].sd : &rasters[i].mean,
                             .scale = scale});
  }
  draw_picture(gmt, figure, picture);
}

}  // namespace drift
