#include "drift/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <iterator>
#include <span>

#include "core/atomic_file.h"
#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/nearest_name.h"
#include "output/gmt.h"
#include "output/plot_figure.h"
#include "output/plot_source.h"
#include "output/plot_text.h"

namespace drift {
namespace {

constexpr std::size_t kLongName = 48;                      // letters
constexpr double kTwoPanelsCm = 17.0, kOnePanelCm = 12.0;  // a page's width between its margins, and most of it

std::string format_of(const std::filesystem::path& picture) {
  std::string extension = picture.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), [](unsigned char c) { return std::tolower(c); });
  return extension.empty() ? "" : extension.substr(1);
}

void check(const std::filesystem::path& picture, const PlotOptions& options) {
  check_picture_name(picture);
  if (options.width_cm != 0.0 && !(options.width_cm >= 4.0 && options.width_cm <= 100.0)) {
    throw UsageError(fmt::format("a picture {} cm wide; it must be 4 to 100", options.width_cm));
  }
  if (options.dpi < 30 || options.dpi > 1200)
    throw UsageError(fmt::format("{} dots per inch; it must be 30 to 1200", options.dpi));
  const Observations& o = options.observations;
  if (o.lon_deg.size() != o.size() || o.lat_deg.size() != o.size()) {
    throw UsageError(fmt::format("observations to draw: {} longitudes and {} latitudes but {} values", o.lon_deg.size(),
                                 o.lat_deg.size(), o.size()));
  }
  std::error_code ignored;
  const std::filesystem::path folder = picture.has_parent_path() ? picture.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw Error(fmt::format("cannot write {}: there is no folder {}", picture.string(), folder.string()));
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
  throw UsageError(fmt::format("GMT has no colours '{}'; did you mean '{}'? ('_r' at the end turns them round)", scale.colours,
                               nearest_name(scale.colours, names)));
}

std::string shown_name(const VariableInfo& info) {
  std::string name = info.long_name.empty() ? info.standard_name.empty() ? info.name : info.standard_name : info.long_name;
  if (name == info.standard_name) std::replace(name.begin(), name.end(), '_', ' ');
  if (name.size() > 1 && name != info.name) name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
  return gmt_text(name);
}

std::string with_unit(const std::string& name, const std::string& unit) {
  const std::string shown = gmt_unit(unit);
  return shown.empty() ? name : fmt::format("{} [{}]", name, shown);
}

// A name that is a sentence stands in the title; beside the colours the variable's own is enough.
std::string bar_label(const VariableInfo& info) {
  const std::string name = shown_name(info);
  return with_unit(name.size() > kLongName ? gmt_text(info.name) : name, info.unit);
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

// "2020-03-01T06:00:00Z" as "2020-03-01 06:00 UTC"; dates and plain numbers as they are.
std::string shown_time(std::string time) {
  double days = 0.0;
  if (time.size() != 20 || !parse_iso_time(time, days)) return gmt_text(time);
  time[10] = ' ';
  const std::size_t length = time.substr(16, 3) == ":00" ? 16 : 19;
  return fmt::format("{} UTC", time.substr(0, length));
}

std::string title_of(const PlotSource& source, const PlotOptions& options, bool sd_alone) {
  if (!options.title.empty()) return gmt_text(options.title);
  const std::string name = shown_name(source.info) + (sd_alone ? ": standard deviation" : "");
  return source.time.empty() ? name : name + ", " + shown_time(source.time);
}

void publish(const std::filesystem::path& drawn, const std::filesystem::path& picture) {
  std::ifstream file(drawn, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  AtomicFile out(picture);
  out.write(std::as_bytes(std::span(bytes)));
  out.commit();
}

}  // namespace

void check_picture_name(const std::filesystem::path& picture) {
  const std::string format = format_of(picture);
  if (format != "png" && format != "pdf") {
    throw UsageError(fmt::format("{}: a picture is .png or .pdf, not '{}'", picture.string(), picture.extension().string()));
  }
}

PlotReport plot_map(const std::filesystem::path& map, const std::filesystem::path& picture, const PlotOptions& options) {
  check(picture, options);
  const GmtSession gmt("drift plot draws");
  if (find_program("gs").empty()) {
    throw Error("GMT makes PNG and PDF files with Ghostscript, which is not installed: apt-get install ghostscript");
  }
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
  figure.title = title_of(source, options, raster.mean.empty());
  publish(draw_figure(gmt, figure, format_of(picture)), picture);
  return report;
}

}  // namespace drift
