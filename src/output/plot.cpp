#include "drift/plot.h"

#include <fmt/format.h>

#include "drift/error.h"
#include "drift/files.h"
#include "output/gmt.h"
#include "output/plot_animation.h"
#include "output/plot_map_figures.h"
#include "output/plot_publish.h"
#include "output/plot_series.h"

namespace drift {
namespace {

constexpr std::size_t kMostPanels = 40;
constexpr int kPictureDpi = 300, kAnimationDpi = 120;

void check(const std::filesystem::path& picture, const PlotOptions& options) {
  check_map_picture_name(picture);
  if (options.width_cm != 0.0 && !(options.width_cm >= 4.0 && options.width_cm <= 100.0)) {
    throw UsageError(fmt::format("the picture is {} cm wide but must be 4 to 100", options.width_cm));
  }
  if (options.dpi != 0 && (options.dpi < 30 || options.dpi > 1200))
    throw UsageError(fmt::format("the resolution is {} dots per inch but must be 30 to 1200", options.dpi));
  if (!(options.frames_per_second >= 0.1 && options.frames_per_second <= 50.0))
    throw UsageError(fmt::format("{} frames per second; it must be 0.1 to 50", options.frames_per_second));
  if (!options.minus.empty() && (options.panels == PlotPanels::sd || options.panels == PlotPanels::both))
    throw UsageError("a difference of maps has no standard deviation of its own; leave the panels out");
  const Observations& o = options.observations;
  if (o.lon_deg.size() != o.size() || o.lat_deg.size() != o.size()) {
    throw UsageError(fmt::format("observations to draw: {} longitudes and {} latitudes but {} values", o.lon_deg.size(),
                                 o.lat_deg.size(), o.size()));
  }
}

// The options as they apply to this picture.
PlotOptions settle(PlotOptions options, bool moving) {
  if (moving && options.time.empty()) options.time = "all";
  if (options.dpi == 0) options.dpi = moving ? kAnimationDpi : kPictureDpi;
  if (!options.minus.empty()) options.panels = PlotPanels::mean;
  const bool several = options.time == "all" || options.time.find(',') != std::string::npos;
  if (moving || !several) return options;
  if (options.panels == PlotPanels::both)
    throw UsageError("several times are panels of the mean or of the standard deviation, not of both");
  if (options.panels == PlotPanels::automatic) options.panels = PlotPanels::mean;
  return options;
}

}  // namespace

PlotReport plot_map(const std::filesystem::path& map, const std::filesystem::path& picture, const PlotOptions& options,
                    const Control& control) {
  check(picture, options);
  check_outputs({{"the map", map}, {"the other map", options.minus}}, {{"the picture", picture}});
  const GmtSession gmt("drift plot draws", control);
  check_picture_programs(picture);
  const bool moving = is_animation_name(picture);
  const PlotOptions settled = settle(options, moving);
  MapSeries series(map, settled, !moving);
  if (moving && series.size() < 2) {
    throw UsageError(fmt::format("{}: an animation takes several times, and {} gives one", picture.string(), map.string()));
  }
  if (!moving && series.size() > kMostPanels) {
    throw UsageError(
        fmt::format("{} times are more than the {} panels that a figure holds; name some of them, or write an "
                    "animation (.gif or .mp4)",
                    series.size(), kMostPanels));
  }
  MapFigures figures(gmt, series, settled, survey_of(series, control.part(0.0, moving ? 0.1 : 0.5)));
  if (moving) {
    draw_animation(
        gmt, series.size(), [&](std::size_t frame) -> const PlotFigure& { return figures.of_one_time(frame); },
        settled.frames_per_second, picture, control.part(0.1, 1.0));
  } else {
    draw_picture(gmt, series.size() > 1 ? figures.of_all_times() : figures.of_one_time(0), picture);
  }
  return figures.report();
}

}  // namespace drift
