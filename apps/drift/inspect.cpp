#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "drift/calendar.h"
#include "drift/files.h"
#include "drift/grouped.h"
#include "drift/plot.h"
#include "drift/summary.h"
#include "print.h"
#include "run_options.h"
#include "verb_control.h"

namespace {

struct InspectOptions {
  std::vector<std::string> files;
  std::string picture;
  bool json = false;
};

std::string count_text(std::size_t count) { return drift::grouped(static_cast<double>(count)); }

const std::vector<std::pair<const char*, std::string drift::Roles::*>>& role_names() {
  static const std::vector<std::pair<const char*, std::string drift::Roles::*>> names = {
      {"longitude", &drift::Roles::lon}, {"latitude", &drift::Roles::lat}, {"x", &drift::Roles::x},
      {"y", &drift::Roles::y},           {"time", &drift::Roles::time},    {"value", &drift::Roles::value},
      {"sigma", &drift::Roles::sigma},   {"track", &drift::Roles::track},  {"platform", &drift::Roles::platform}};
  return names;
}

void print_roles(const drift::Reading& reading) {
  const drift::ReadReport& report = reading.report;
  print("Roles{}\n", report.preset.empty() ? "" : fmt::format(" (preset {})", report.preset));
  for (const auto& [name, role] : role_names()) {
    const std::string& variable = report.roles.*role;
    if (variable.empty()) continue;
    std::string detail;
    if (role == &drift::Roles::value) {
      detail = unit_text(variable, reading.value.unit, " [", "]");
      if (!reading.value.long_name.empty()) detail += "  " + reading.value.long_name;
    }
    print("  {:10} {}{}\n", name, variable, detail);
  }
}

void print_rows(const drift::Reading& reading) {
  const drift::ReadReport& report = reading.report;
  print("\nRows\n  {:>14}  read\n  {:>14}  kept\n", count_text(report.rows), count_text(reading.observations.size()));
  for (const drift::Rejected& rejected : report.rejected)
    print("  {:>14}  left out: {}\n", count_text(rejected.count), rejected.reason);
  if (const std::string quality = quality_text(report); !quality.empty()) print("  {}\n", quality);
}

std::string span_text(double days) {
  constexpr double kMany = 2.0;
  if (days >= kMany) return fmt::format("{:.4g} days", days);
  if (24.0 * days >= kMany) return fmt::format("{:.3g} hours", 24.0 * days);
  if (1440.0 * days >= kMany) return fmt::format("{:.3g} minutes", 1440.0 * days);
  return fmt::format("{:.3g} seconds", 86400.0 * days);
}

void print_extent(const drift::Reading& reading, const drift::Summary& summary) {
  const char* const x = reading.on_plane ? "x" : "longitude";
  const char* const y = reading.on_plane ? "y" : "latitude";
  print("\nExtent\n  {:10} {:.4f} to {:.4f}\n  {:10} {:.4f} to {:.4f}\n", x, summary.lon.least, summary.lon.most, y,
        summary.lat.least, summary.lat.most);
  const auto [first, last] = summary.time;
  if (!summary.has_time) {
    print("  time       none: the field does not vary in time\n");
  } else if (!reading.calendar_time) {
    print("  time       {:g} to {:g} (plain numbers, not dates)\n", first, last);
  } else if (first == last) {
    print("  time       {} (all)\n", drift::iso_time(first));
  } else {
    print("  time       {} to {} ({})\n", drift::iso_time(first), drift::iso_time(last), span_text(last - first));
  }
  for (const drift::Summary::Platform& platform : summary.platforms) {
    print("  platform   {} ({} observations)\n", platform.name, count_text(platform.count));
  }
  if (reading.tracks > 0) print("  tracks     {} (from {})\n", count_text(reading.tracks), reading.tracks_from);
}

void print_values(const drift::Summary& summary) {
  const auto& q = summary.quantiles;
  print("\nValues\n  mean {:.4g}, standard deviation {:.4g}\n", summary.mean, summary.sd);
  print("  min {:.4g}, 1 % {:.4g}, 25 % {:.4g}, median {:.4g}, 75 % {:.4g}, 99 % {:.4g}, max {:.4g}\n", q[0], q[1], q[2], q[3],
        q[4], q[5], q[6]);
  std::size_t most = 1;
  for (const drift::Summary::Bin& bin : summary.histogram) most = std::max(most, bin.count);
  for (const drift::Summary::Bin& bin : summary.histogram) {
    constexpr double kWidth = 50.0;
    const auto length =
        static_cast<std::size_t>(std::lround(kWidth * static_cast<double>(bin.count) / static_cast<double>(most)));
    print("  {:>10.4g} .. {:<10.4g} {:>12}  {}\n", bin.low, bin.high, count_text(bin.count), std::string(length, '#'));
  }
}

void print_tails(const drift::Summary& summary) {
  const auto list = [](const std::vector<double>& values) {
    std::string text;
    for (const double value : values) text += fmt::format(" {:.4g}", value);
    return text;
  };
  print("  lowest {}\n  highest{}\n", list(summary.lowest), list(summary.highest));
}

std::string tails_warning(const drift::Summary& summary) {
  if (!summary.tails) return {};
  const drift::Summary::Tails& tails = *summary.tails;
  return fmt::format(
      "the standard deviation, {:.4g}, is far above that implied by the quartiles, {:.4g}: {} value{} far "
      "off; --valid {:g}:{:g} leaves {} out.",
      summary.sd, tails.robust_sd, count_text(tails.beyond), tails.beyond == 1 ? " lies" : "s lie", tails.valid.low,
      tails.valid.high, tails.beyond == 1 ? "it" : "them");
}

// 30.9 E; a plain number on a plane.
std::string coordinate_text(double number, bool on_plane, const char* positive, const char* negative) {
  if (on_plane) return fmt::format("{:.6g}", number);
  const double turned = std::remainder(number, 360.0);  // a map over 180 E ends beyond it, one of most of the globe beyond 360
  return fmt::format("{:.4g} {}", std::abs(turned), turned < 0.0 ? negative : positive);
}

// Left and right, above or below so many characters.
void print_ends(const std::string& left, const std::string& right, std::size_t columns) {
  print("   {}{:>{}}\n", left, right, columns - std::min(columns, left.size()));
}

// A small map and a time line, to be seen at a glance.
void print_sketches(const drift::Reading& reading, const drift::Summary& summary) {
  const drift::Sketch map = drift::sketch_map(reading);
  const std::size_t columns = map.rows.front().size();
  const bool plane = reading.on_plane;
  print("\nWhere\n");
  print_ends(coordinate_text(map.west, plane, "E", "W"), coordinate_text(map.east, plane, "E", "W"), columns);
  for (std::size_t i = 0; i < map.rows.size(); ++i) {
    std::string latitude = i == 0 ? coordinate_text(map.north, plane, "N", "S") : "";
    if (i > 0 && i + 1 == map.rows.size()) latitude = coordinate_text(map.south, plane, "N", "S");
    print("  |{}|{}{}\n", map.rows[i], latitude.empty() ? "" : " ", latitude);
  }
  if (const std::string times = drift::sketch_times(reading); !times.empty()) {
    print("When\n  |{}|\n", times);
    const double first = summary.time.least, last = summary.time.most;
    constexpr double kDays = 5.0;  // over which the hour is of no interest
    const auto text = [&](double time) {
      if (!reading.calendar_time) return fmt::format("{:g}", time);
      return drift::iso_time(last - first > kDays ? std::floor(time) : time);
    };
    print_ends(text(first), text(last), columns);
  }
  print("  . below 5 %, : below 25 %, o below 60 %, # from 60 % of the most in one character ({} on the map)\n",
        count_text(map.most));
}

void print_reading_json(const drift::Reading& reading, const drift::Summary& summary) {
  const drift::ReadReport& report = reading.report;
  nlohmann::ordered_json json = {{"format", report.format},
                                 {"preset", report.preset},
                                 {"files", nlohmann::json::array()},
                                 {"roles", nlohmann::json::object()}};
  for (const auto& file : report.files) json["files"].push_back(file.string());
  for (const auto& [name, role] : role_names()) {
    if (!(report.roles.*role).empty()) json["roles"][name] = report.roles.*role;
  }
  json["unit"] = reading.value.unit;
  json["standard_name"] = reading.value.standard_name;
  json["rows"] = report.rows;
  json["kept"] = summary.count;
  json["rejected"] = nlohmann::json::object();
  for (const drift::Rejected& rejected : report.rejected) json["rejected"][rejected.reason] = rejected.count;
  json["quality_control"] = report.quality;
  json["quality_left_out"] = report.quality_left_out;
  json["on_plane"] = reading.on_plane;
  json["extent"] = {summary.lon.least, summary.lat.least, summary.lon.most, summary.lat.most};
  if (summary.has_time) json["time"] = {summary.time.least, summary.time.most};
  json["calendar_time"] = reading.calendar_time;
  json["platforms"] = nlohmann::json::object();
  for (const auto& platform : summary.platforms) json["platforms"][platform.name] = platform.count;
  json["tracks"] = reading.tracks;
  json["mean"] = summary.mean;
  json["sd"] = summary.sd;
  json["quantiles"] = summary.quantiles;
  json["lowest"] = summary.lowest;
  json["highest"] = summary.highest;
  if (summary.tails) json["proposed_valid"] = {summary.tails->valid.low, summary.tails->valid.high};
  json["warnings"] = report.warnings;
  print_json(json);
}

void run(const InspectOptions& options, const RunOptions& flags) {
  drift::RunSettings settings;
  flags.apply(settings);
  const VerbControl verb(false, false);
  if (!options.picture.empty()) {
    drift::check_picture_name(options.picture);
    drift::check_outputs(drift::named_files("the observations", options.files), {{"the picture", options.picture}});
  }
  const drift::Reading reading = drift::read_observations(options.files, drift::read_options(settings), verb.quiet_job());
  const drift::Summary summary = drift::summarise(reading);
  if (!options.picture.empty()) drift::plot_observations(reading, options.picture, verb.quiet_job());
  if (options.json) {
    print_reading_json(reading, summary);
    return;
  }
  const auto& files = reading.report.files;
  print("{} {} file{}: {}{}\n\n", files.size(), reading.report.format, files.size() == 1 ? "" : "s", files.front().string(),
        files.size() == 1 ? "" : fmt::format(" ... {}", files.back().string()));
  print_roles(reading);
  print_rows(reading);
  print_extent(reading, summary);
  print_values(summary);
  print_tails(summary);
  print_sketches(reading, summary);
  for (const std::string& warning : reading.report.warnings) print("\nwarning: {}\n", warning);
  if (const std::string warning = tails_warning(summary); !warning.empty()) print("\nwarning: {}\n", warning);
  if (!options.picture.empty()) print("\n{}  the observations on a map\n", options.picture);
}

}  // namespace

void add_inspect(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* verb = app.add_subcommand("inspect", "Show the contents of files of observations");
  verb->footer("drift inspect 'tracks/*.nc' --value sla_filtered");
  verb->add_option("FILES", options->files, "Observations: paths or globs, NetCDF or CSV")->type_name("")->required();
  auto flags = std::make_shared<RunOptions>(*verb);
  verb->add_option("--png", options->picture, "Draw the observations on a map: a picture, .png or .pdf")
      ->type_name("FILE")
      ->group("Run");
  verb->add_flag("--json", options->json, "Print the result as JSON")->group("Run");
  verb->callback([options, flags] { run(*options, *flags); });
}
