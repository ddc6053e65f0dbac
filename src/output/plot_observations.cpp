#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/files.h"
#include "drift/grouped.h"
#include "drift/plot.h"
#include "geo/longitude_extent.h"
#include "output/gmt.h"
#include "output/plot_dots.h"
#include "output/plot_figure.h"
#include "output/plot_publish.h"
#include "output/plot_source.h"
#include "output/plot_text.h"
#include "output/plot_words.h"

namespace drift {
namespace {

// The observations' own rectangle and a little more on each side.
PlotRegion region_of(const Dataset& data) {
  const Observations& o = data.observations;
  const auto [south, north] = std::minmax_element(o.lat_deg.begin(), o.lat_deg.end());
  PlotRegion region = {0.0, 0.0, *south, *north};
  if (data.on_plane) {
    const auto [west, east] = std::minmax_element(o.lon_deg.begin(), o.lon_deg.end());
    region.west = *west, region.east = *east;
  } else {
    LongitudeExtent extent;
    for (const double lon : o.lon_deg) extent.add(lon);
    const Arc arc = extent.arc();
    region.west = wrapped_longitude(arc.west_deg), region.east = region.west + arc.span_deg;
  }
  const double margin = std::max({0.03 * region.width(), 0.03 * region.height(), data.on_plane ? 1e-9 : 0.1});
  region = {region.west - margin, region.east + margin, region.south - margin, region.north + margin};
  if (data.on_plane) return region;
  region.south = std::max(region.south, -90.0), region.north = std::min(region.north, 90.0);
  if (region.width() > 360.0) region.west = -180.0, region.east = 180.0;
  return region;
}

// ", 2020-03-01 to 2020-03-09"; empty without dates.
std::string span_of_times(const Dataset& data) {
  const std::vector<double>& times = data.observations.time_days;
  if (times.empty() || !data.calendar_time) return {};
  const auto [first, last] = std::minmax_element(times.begin(), times.end());
  const std::string from = iso_time(std::floor(*first)), to = iso_time(std::floor(*last));
  return from == to ? ", " + from : fmt::format(", {} to {}", from, to);
}

}  // namespace

void plot_observations(const Dataset& data, const std::filesystem::path& picture, const Control& control, std::size_t most) {
  check_picture_name(picture);
  check_outputs({}, {{"the picture", picture}});
  const Observations& o = data.observations;
  if (o.size() == 0) throw Error("there are no observations to draw");
  const GmtSession gmt("drift inspect --png draws", control);
  check_picture_programs(picture);
  const PlotRegion region = region_of(data);
  PlotSource source;
  source.space = data.on_plane ? PlotSpace::plane : PlotSpace::geographic;
  source.x = {region.west, region.east};
  source.y = {region.south, region.north};
  source.info = data.value;
  const std::vector<float> values(o.value.begin(), o.value.end());
  const PlotPanel panel = {.title = {},
                           .bar_label = bar_label(data.value),
                           .scale = make_scale(values, colours_of(data.value)),
                           .dots = choose_dots(o, {}, most)};
  PlotFigure figure;
  figure.view = choose_view(source, region);
  figure.panels = {panel};
  figure.title = gmt_text(fmt::format("{} observations{}", grouped(static_cast<double>(o.size())), span_of_times(data)));
  if (data.on_plane) {
    figure.x_label = gmt_text(data.plane_unit.empty() ? "x" : fmt::format("x [{}]", data.plane_unit));
    figure.y_label = gmt_text(data.plane_unit.empty() ? "y" : fmt::format("y [{}]", data.plane_unit));
  }
  figure.width_cm = 14.0;
  figure.dpi = 200;
  draw_picture(gmt, figure, picture);
}

}  // namespace drift
