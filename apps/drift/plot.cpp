// `drift plot`: a map as a figure or an animation, or several maps side by side.

#include "drift/plot.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.h"
#include "drift/error.h"
#include "drift/files.h"
#include "drift/grouped.h"
#include "drift/parse_number.h"
#include "drift/read_observations.h"
#include "number_checks.h"
#include "print.h"
#include "verb_control.h"

namespace {

struct PlotRun {
  std::vector<std::string> maps;
  std::vector<std::string> names;  // of the panels of several maps
  std::filesystem::path map;       // the only one
  std::filesystem::path out;
  std::string panels = "auto";
  std::string limits, sd_limits;  // "LOW:HIGH"
  std::vector<std::string> observations;
  std::string value;  // of the observations
  bool separate = false, scale_of_first = false;
  bool quiet = false;
  bool json = false;
  drift::PlotOptions plot;
};

// "-0.4:0.4". Which is the smaller is the library's to check.
std::optional<std::array<double, 2>> parse_limits(const std::string& option, const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto limits = drift::parse_numbers<double>(text, ':', 2);
  if (!limits || !((*limits)[0] < (*limits)[1])) {
    throw drift::UsageError(fmt::format("{}: '{}' is not LOW:HIGH, two numbers in ascending order", option, text));
  }
  return std::array{(*limits)[0], (*limits)[1]};
}

// "map.png" becomes "map_sd.png".
std::filesystem::path sd_name(const std::filesystem::path& picture) {
  std::filesystem::path name = picture;
  name.replace_filename(picture.stem().string() + "_sd" + picture.extension().string());
  return name;
}

void read_overlay(PlotRun& run) {
  if (run.observations.empty()) {
    if (!run.value.empty()) throw drift::UsageError("--value names a variable of --observations, which is not given");
    return;
  }
  drift::ReadOptions options;
  options.roles.value = run.value;
  drift::Dataset data = drift::read_observations(run.observations, options);
  if (!data.calendar_time) data.observations.time_days.clear();  // plain numbers: no telling how far they are from the map's time
  run.plot.observations = std::move(data.observations);
}

nlohmann::ordered_json to_json(const PlotRun& run, const std::filesystem::path& picture, const drift::PlotReport& report) {
  nlohmann::ordered_json json = {
      {"picture", picture.string()}, {"map", run.map.string()}, {"variable", report.variable}, {"projection", report.projection}};
  if (!report.time.empty()) json["time"] = report.time;
  if (report.times > 1) json["times"] = report.times;
  if (report.limits[0] < report.limits[1]) json["limits"] = report.limits;
  if (!report.sd_variable.empty()) {
    json["sd_variable"] = report.sd_variable;
    json["sd_limits"] = report.sd_limits;
  }
  if (run.plot.observations.size() > 0) json["observations_drawn"] = report.observations;
  return json;
}

std::string to_text(const PlotRun& run, const std::filesystem::path& picture, const drift::PlotReport& report) {
  std::string text = fmt::format("{}: {}", picture.string(), report.variable);
  if (!report.time.empty()) text += fmt::format(" at {}", report.time);
  if (report.times > 1) text += fmt::format(" and {} other {}", report.times - 1, report.times == 2 ? "time" : "times");
  text += fmt::format(", {}", report.projection);
  if (report.limits[0] < report.limits[1]) text += fmt::format(", colours from {:g} to {:g}", report.limits[0], report.limits[1]);
  if (!report.sd_variable.empty()) text += fmt::format(", sd to {:g}", report.sd_limits[1]);
  if (report.observations > 0) text += fmt::format(", {} observations", drift::grouped(static_cast<double>(report.observations)));
  if (report.observations == 0 && run.plot.observations.size() > 0)
    text += fmt::format(", no observations: none within {:g} days (see --observations-days)", run.plot.observations_days);
  return text;
}

// Several maps of one grid in one figure, the first with the colours of the others unless it sets them.
void run_panels(const PlotRun& run) {
  const bool other = run.separate || !run.limits.empty() || !run.sd_limits.empty() || !run.observations.empty() ||
                     !run.plot.colours.empty() || !run.plot.sd_colours.empty() || run.panels == "both";
  if (other)
    throw drift::UsageError(
        "several maps share one scale that follows them: of their options only --out, --name, --variable, --time, --panels mean "
        "or sd, --scale-of-first, --title, --width and --dpi apply");
  if (run.out.empty()) throw drift::UsageError("several maps need an --out for their picture");
  if (!run.names.empty() && run.names.size() != run.maps.size())
    throw drift::UsageError(fmt::format("{} maps but {} names: give --name once per map", run.maps.size(), run.names.size()));
  drift::check_picture_name(run.out);
  drift::check_outputs(drift::named_files("the map", run.maps), {{"the picture", run.out}});
  std::vector<drift::PanelMap> panels;
  for (std::size_t i = 0; i < run.maps.size(); ++i) {
    const std::filesystem::path map = run.maps[i];
    panels.push_back({map, run.names.empty() ? map.stem().string() : run.names[i], run.plot.time});
  }
  drift::PanelOptions options = {.variable = run.plot.variable,
                                 .sd = run.panels == "sd",
                                 .title = run.plot.title,
                                 .scale_of_first = run.scale_of_first,
                                 .dpi = run.plot.dpi};
  if (run.plot.width_cm > 0.0) options.width_cm = run.plot.width_cm;
  const VerbControl verb(false, false);
  drift::plot_panels(panels, run.out, options, verb.quiet_job());
  if (run.json) print_json({{"pictures", {{{"picture", run.out.string()}, {"maps", run.maps}}}}});
  if (!run.json && !run.quiet) print("{}: {} maps\n", run.out.string(), run.maps.size());
}

void run_plot(PlotRun run) {
  if (run.maps.size() > 1) return run_panels(run);
  if (!run.names.empty() || run.scale_of_first)
    throw drift::UsageError("--name and --scale-of-first are for several maps; --title is the title of one");
  run.map = run.maps.front();
  if (run.out.empty()) run.out = std::filesystem::path(run.map).replace_extension(".png");
  drift::check_map_picture_name(run.out);
  run.plot.limits = parse_limits("--limits", run.limits);
  run.plot.sd_limits = parse_limits("--sd-limits", run.sd_limits);
  run.plot.panels = drift::enum_named<drift::PlotPanels>("--panels", run.panels);
  if (run.separate && run.panels != "auto" && run.panels != "both") {
    throw drift::UsageError("--separate draws mean and sd as separate pictures; leave --panels out");
  }
  drift::NamedPaths inputs = drift::named_files("the observations", run.observations), outputs = {{"the picture", run.out}};
  inputs.push_back({"the map", run.map});
  inputs.push_back({"the other map", run.plot.minus});
  if (run.separate) outputs.push_back({"the picture of the sd", sd_name(run.out)});
  drift::check_outputs(inputs, outputs);
  read_overlay(run);

  VerbControl verb(false, !run.quiet && !run.json && drift::is_animation_name(run.out));
  nlohmann::ordered_json pictures = nlohmann::ordered_json::array();
  const auto draw = [&](const std::filesystem::path& picture) {
    const drift::PlotReport report = drift::plot_map(run.map, picture, run.plot, verb.job("drawing"));
    verb.end_job();
    pictures.push_back(to_json(run, picture, report));
    if (!run.json && !run.quiet) print("{}\n", to_text(run, picture, report));
  };
  if (run.separate) {
    run.plot.panels = drift::PlotPanels::mean;
    draw(run.out);
    run.plot.panels = drift::PlotPanels::sd;
    draw(sd_name(run.out));
  } else {
    draw(run.out);
  }
  if (run.json) print_json({{"pictures", pictures}});
}

}  // namespace

void add_plot(CLI::App& app) {
  CLI::App* verb = app.add_subcommand("plot", "Draw a map as a figure: mean and sd, polar, global or regional, with coastlines");
  auto run = std::make_shared<PlotRun>();
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    return verb->add_option(name, value, help)->type_name(type);
  };
  add("map", run->maps, "MAP.nc",
      "A map in NetCDF, as 'drift predict' writes it or any CF grid; several of one grid: side by side")
      ->required();
  add("--out", run->out, "FILE",
      "The picture, .png, .pdf or .svg, or an animation, .gif or .mp4 (default: the map's name with .png)");
  add("--variable", run->plot.variable, "NAME", "Variable to draw (default: the one with an uncertainty, or the only one)");
  add("--time", run->plot.time, "T",
      "Index from 0, or a time such as 2020-03-01T06:00; several with commas, or all: panels (default: the first)");
  add("--minus", run->plot.minus, "MAP.nc", "Another map on the same grid, to be subtracted");
  add("--panels", run->panels, "NAME", "mean, sd, both side by side, or auto: both if the map has an sd")
      ->capture_default_str()
      ->check(one_of_words<drift::PlotPanels>());
  verb->add_flag("--separate", run->separate, "Separate pictures: FILE for the mean, and FILE with _sd in its name");
  verb->add_option("--name", run->names, "Title of a panel, once per map, if there are several (default: file names)")
      ->type_name("TEXT")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_flag("--scale-of-first", run->scale_of_first, "Colours of several maps follow the first one, such as a truth");
  add("--limits", run->limits, "LOW:HIGH", "Colour limits of the mean (default: the middle 99 % of its values)");
  add("--sd-limits", run->sd_limits, "LOW:HIGH", "Colour limits of the sd (default: from 0)");
  add("--colours", run->plot.colours, "NAME", "GMT colour map of the mean: batlow, vik, roma_r (_r reverses it)");
  add("--sd-colours", run->plot.sd_colours, "NAME", "GMT colour map of the sd");
  verb->add_flag("--arrows", run->plot.arrows, "Currents as arrows over the mean: ugos and vgos, or other components");
  verb->add_flag("--histogram", run->plot.histogram, "Histogram of the values, by area, above the colour bar");
  add("--observations", run->observations, "FILES", "Observations to draw over the mean in its colours");
  add("--observations-days", run->plot.observations_days, "DAYS", "Draw those within so many days of the map's time")
      ->capture_default_str()
      ->check(positive_number());
  add("--value", run->value, "NAME", "Variable or column of the observations (default: guessed)");
  add("--title", run->plot.title, "TEXT", "Title (default: the variable's long name and the time)");
  add("--width", run->plot.width_cm, "CM", "Total width of the panels, 4 to 100 (default 17 for two, 12 for one)")
      ->check(positive_number());
  add("--dpi", run->plot.dpi, "N", "Resolution, dots per inch, 30 to 1200 (default 300, of animations 120)")
      ->check(whole_number(30, 1200));
  add("--frames-per-second", run->plot.frames_per_second, "N", "Of an animation, 0.1 to 50")
      ->capture_default_str()
      ->check(positive_number());
  add_quiet(*verb, run->quiet);
  verb->add_flag("--json", run->json, "Print one JSON object");
  verb->callback([run] { run_plot(*run); });
}
