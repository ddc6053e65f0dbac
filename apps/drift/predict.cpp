#include "drift/predict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.h"
#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/field.h"
#include "drift/files.h"
#include "drift/grouped.h"
#include "number_checks.h"
#include "print.h"
#include "verb_control.h"
#include "warnings.h"

namespace {

struct PredictOptions {
  std::string model, grid, at, out, mask = "none";
  std::vector<std::string> times;
  std::string lon, lat, time_column;
  bool members = false, gradient = false, json = false, quiet = false;
  std::optional<double> gradient_scale;  // none: from the model
  int threads = 0;
  std::string backend = "auto";
  std::vector<std::string> attributes;  // KEY=VALUE
  std::string command_line;
};

std::map<std::string, std::string> parse_attributes(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> attributes;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
      throw drift::UsageError(fmt::format("--attr {}: must be KEY=VALUE, such as license=CC-BY-4.0", text));
    const std::string key = text.substr(0, equals);
    if (!attributes.emplace(key, text.substr(equals + 1)).second)
      throw drift::UsageError(fmt::format("--attr {}: '{}' is given twice", text, key));
  }
  return attributes;
}

std::string time_text(const drift::FieldInfo& info, double time) {
  return info.calendar_time ? drift::iso_time(time) : fmt::format("{:g}", time);
}

class Predict {
 public:
  explicit Predict(const PredictOptions& options) : options_(options), verb_(!options.quiet && !options.json, !options.quiet) {}

  void run() {
    const bool of_maps = !options_.grid.empty() || options_.mask != "none" || !options_.attributes.empty();
    if (!options_.at.empty() && of_maps) {
      throw drift::UsageError("--grid, --mask and --attr are for maps; leave them out with --at");
    }
    if (options_.at.empty()) drift::sink_for(options_.out);  // refuses a name that no map may have
    drift::NamedPaths inputs = drift::named_file("the grid", options_.grid);
    inputs.insert(inputs.end(), {{"the model", options_.model}, {"the points", options_.at}});
    masks_ = drift::parse_masks(options_.mask);
    for (const drift::MapMask& mask : masks_) inputs.push_back({"the mask", mask.file});
    drift::check_outputs(inputs, {{options_.at.empty() ? "the map" : "the table", options_.out}});
    model_ = drift::load_field_model(options_.model);
    engine_ = drift::make_engine(drift::enum_named<drift::Backend>("--backend", options_.backend), {.threads = options_.threads});
    settle_times();
    try {
      if (options_.at.empty())
        map();
      else
        points();
    } catch (const drift::Stopped&) {
      throw drift::Stopped(fmt::format("stopped; {} was not written", options_.out));
    }
  }

 private:
  void say(const std::string& text) const { verb_.say(text); }

  void warn_outside(double time) const {
    const drift::FieldInfo& info = model_.info;
    const double outside = drift::days_outside(info, time);
    if (outside == 0.0) return;
    verb_.warn(fmt::format("{} lies {:.3g} days {} the {} observation ({}); the field there is an extrapolation",
                           time_text(info, time), std::abs(outside), outside < 0.0 ? "before" : "after",
                           outside < 0.0 ? "first" : "last",
                           time_text(info, outside < 0.0 ? info.first_time_days : info.last_time_days)));
  }

  void settle_times() {
    const drift::FieldInfo& info = model_.info;
    if (!info.has_time && !options_.times.empty())
      throw drift::UsageError("--time: the model does not vary in time; leave --time out");
    for (const std::string& text : options_.times) {
      const std::vector<double> times = drift::map_times(info, text);
      times_.insert(times_.end(), times.begin(), times.end());
    }
    for (std::size_t i = 1; i < times_.size(); ++i) {
      if (!(times_[i] > times_[i - 1])) throw drift::UsageError("--time: times must be in ascending order, without repeats");
    }
    if (!info.has_time || !options_.at.empty()) return;
    if (times_.empty()) {
      times_ = {0.5 * (info.first_time_days + info.last_time_days)};
      say(fmt::format("Time: {}, the middle of the observation period (set --time to change it).", time_text(info, times_[0])));
    }
    warn_outside(times_.front());
    if (times_.size() > 1 && drift::days_outside(info, times_.back()) > 0.0) warn_outside(times_.back());
  }

  drift::PredictWants wants() const {
    return {.members = options_.members, .gradient = options_.gradient, .gradient_scale = options_.gradient_scale};
  }

  void map() {
    drift::MapOptions map;
    map.grid = drift::grid_for(model_, options_.grid);
    if (options_.grid.empty()) say(fmt::format("Grid: {} (set --grid to change it).", map.grid.name));
    map.time_days = times_;
    map.wants = wants();
    map.masks = masks_;
    map.command = options_.command_line;
    map.attributes = parse_attributes(options_.attributes);
    const drift::SinkMaker sink = drift::sink_for(options_.out);
    const drift::MapReport report = drift::predict_map(*engine_, model_, map, sink, verb_.job("Predicting"));
    const double seconds = verb_.end_job();
    warn_of_far_points(
        verb_, model_, report.far, report.filled,
        fmt::format(" (--mask data:{:.3g}{} leaves them empty)", report.far.distance, model_.domain.unit == "km" ? "km" : ""));
    if (options_.json) {
      nlohmann::ordered_json result = {{"map", options_.out},           {"grid", map.grid.name},
                                       {"points", report.points},       {"filled", report.filled},
                                       {"times", times_.size()},        {"variables", report.variables},
                                       {"predict_s", report.predict_s}, {"predict_core_s", report.predict_core_s}};
      add_lacks(result, report.lacks);
      print_json(result);
      return;
    }
    say(fmt::format("{}  {} by {} points{}, {} of them filled, in {:.1f} s: {}", options_.out, map.grid.x.count, map.grid.y.count,
                    times_.size() > 1 ? fmt::format(" at {} times", times_.size()) : "",
                    drift::grouped(static_cast<double>(report.filled)), seconds, fmt::join(report.variables, ", ")));
    say_lacks(report.lacks);
    if (options_.out.ends_with(".nc")) say(fmt::format("Next: drift plot {}", options_.out));
  }

  void points() {
    if (times_.size() > 1) throw drift::UsageError("--at takes a single --time, or the times in the table");
    const drift::Roles roles = {.lon = options_.lon, .lat = options_.lat, .time = options_.time_column};
    const drift::PointsReport report =
        drift::predict_points(*engine_, model_, options_.at, options_.out, roles,
                              times_.empty() ? std::nullopt : std::optional(times_[0]), wants(), verb_.quiet_job());
    warn_of_times(verb_, report.furthest_days);
    warn_of_far_points(verb_, model_, report.far, report.rows);
    if (options_.json) {
      nlohmann::ordered_json result = {{"table", options_.out},
                                       {"rows", report.rows},
                                       {"missing", report.missing},
                                       {"columns", report.columns},
                                       {"predict_s", report.predict_s}};
      add_lacks(result, report.lacks);
      print_json(result);
      return;
    }
    say(fmt::format("{}  {} rows{}: {}", options_.out, drift::grouped(static_cast<double>(report.rows)),
                    report.missing == 0
                        ? ""
                        : fmt::format(", {} without a position or time", drift::grouped(static_cast<double>(report.missing))),
                    fmt::join(report.columns, ", ")));
    say_lacks(report.lacks);
  }

  void say_lacks(const drift::GradientLacks& lacks) const {
    if (!lacks.currents.empty()) say(fmt::format("No geostrophic currents: {}.", lacks.currents));
    if (!lacks.sd.empty()) say(fmt::format("No standard deviations of gradients: {}.", lacks.sd));
  }

  static void add_lacks(nlohmann::ordered_json& result, const drift::GradientLacks& lacks) {
    if (!lacks.currents.empty()) result["no_currents"] = lacks.currents;
    if (!lacks.sd.empty()) result["no_gradient_sd"] = lacks.sd;
  }

  const PredictOptions& options_;
  VerbControl verb_;
  drift::FieldModel model_;
  std::unique_ptr<drift::Engine> engine_;
  std::vector<double> times_;
  std::vector<drift::MapMask> masks_;
};

}  // namespace

void add_predict(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<PredictOptions>();
  options->command_line = command_line;
  CLI::App* verb = app.add_subcommand("predict", "Predict a map, or the field at given points");
  verb->footer(
      "drift predict model.safetensors --grid global:0.25 --time 2020-03-01/2020-03-09/1 --out map.nc\n"
      "drift predict model.safetensors --at points.csv --out predicted.csv");
  verb->add_option("MODEL", options->model, "Model written by drift fit")->type_name("")->required();
  verb->add_option("--out", options->out,
                   "The map: .nc (NetCDF), .tif (cloud-optimised GeoTIFF) or .csv (a table); with --at, the table (CSV)")
      ->type_name("")
      ->required();
  verb->add_option("--grid", options->grid,
                   "global:STEP, bbox:LON0,LAT0,LON1,LAT1:STEP in degrees; CRS:25km[:XMIN,YMIN,XMAX,YMAX]; xy:X0,Y0,X1,Y1:STEP; "
                   "or a NetCDF file whose grid is used [from the model]")
      ->type_name("");
  verb->add_option(
          "--time", options->times,
          "Times (ISO 8601); FROM/TO/STEP with the step in days; or daily, hourly, 6-hourly, monthly over the observation "
          "period [its middle]")
      ->type_name("")
      ->delimiter(',');
  verb->add_option(
          "--mask", options->mask,
          "Masks, joined by commas; each leaves points empty: ocean (land); data:100km (farther than that from any observation); "
          "FILE.nc:CONDITION (where the nearest cell does not meet it, as ice.nc:conc>0.15); FILE.nc:VARIABLE (where it has no "
          "value); FILE.geojson (outside its polygons) [none]")
      ->type_name("");
  verb->add_flag("--members", options->members, "Also write every member of the ensemble");
  verb->add_flag("--gradient", options->gradient,
                 "Also write the horizontal gradient and, for heights above the geoid or mean sea level, geostrophic velocity");
  verb->add_option(
          "--gradient-scale", options->gradient_scale,
          "Distance over which gradients and currents are taken, km (xy: its unit); 0 = slope of the mean itself, without "
          "standard deviations [from the model's lengthscale]")
      ->type_name("");
  verb->add_option("--attr", options->attributes,
                   "KEY=VALUE: global attribute of the map, such as institution, license or id; may be repeated")
      ->type_name("")
      ->allow_extra_args(false);
  verb->add_option("--at", options->at, "Predict at the points of this table (CSV, also .gz)")->type_name("");
  verb->add_option("--lon", options->lon, "Column of the table with the longitudes (or x)")->type_name("");
  verb->add_option("--lat", options->lat, "Column of the table with the latitudes (or y)")->type_name("");
  verb->add_option("--time-column", options->time_column, "Column of the table with the times")->type_name("");
  verb->add_option("--backend", options->backend,
                   "Where networks are evaluated: cpu, cuda, or auto (a GPU if there is one) [auto]")
      ->type_name("")
      ->check(one_of_words<drift::Backend>());
  verb->add_option("--threads", options->threads, "Threads; 0 = one per core [0]")->type_name("")->check(whole_number(0, 4096));
  verb->add_flag("--json", options->json, "Print the result as JSON");
  add_quiet(*verb, options->quiet);
  verb->callback([options] { Predict(*options).run(); });
}
