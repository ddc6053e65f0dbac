// The demonstration: everything a user would do with files of their own, on files it makes itself. Each step goes through the
// same calls as the verb it stands for, so that what is shown here is what those verbs do.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "commands.h"
#include "drift/bench.h"
#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/field_file.h"
#include "drift/files.h"
#include "drift/grouped.h"
#include "drift/plot.h"
#include "drift/predict.h"
#include "drift/simulate.h"
#include "drift/track_file.h"
#include "drift/truth.h"
#include "drift/tune_run.h"
#include "number_checks.h"
#include "print.h"
#include "run_options.h"
#include "scores_text.h"
#include "verb_control.h"

namespace {

// Sizes that let the demonstration end in about a minute on two cores, and those of the paper's first experiment.
constexpr std::size_t kObservations = 160000, kFullObservations = 1162655;
constexpr std::size_t kMembers = 4, kFullMembers = 10;
constexpr double kEpochs = 3.0, kFullEpochs = 1.0;
constexpr double kSouthDeg = 62.0, kNorthDeg = 88.0;  // no satellite sees further north: the pole is drawn, not scored
constexpr const char* kStart = "2020-03-01";
// Maps of two times, each two days from an end of the nine. Meanwhile the truth changes by about its standard deviation: its
// shape has a correlation of 0.7 over five days, and at 75 N it drifts 300 km, from trough to crest of its middle waves.
constexpr std::array<const char*, 2> kMapTimes = {"2020-03-03", "2020-03-08"};
constexpr double kEvolutionDays = 8.0;
constexpr drift::FieldVelocity kVelocity = {.east_km_per_day = 60.0, .at = {0.0, 75.0}};
constexpr const char* kMark =
    "# What drift demo did; repeat it with: drift fit run.toml";  // a folder of its making has run.toml with it
constexpr std::array<const char*, 8> kResults = {"run.toml", "observations.nc", "model.safetensors", "map.nc",
                                                 "truth.nc", "map.png",         "map_sd.png",        "scores.json"};
constexpr const char* kGrid = "EPSG:6931:25km:-3250,-3250,3250,3250";

const drift::VariableInfo& field_info() {
  static const drift::VariableInfo info = {"field", "Made-up field", "", "1"};
  return info;
}

double map_time(std::size_t i) {
  double time_days = 0.0;
  drift::parse_iso_time(kMapTimes.at(i), time_days);
  return time_days;
}

double root_mean_square(std::span<const double> numbers) {
  double squares = 0.0;
  for (const double number : numbers) squares += number * number;
  return std::sqrt(squares / static_cast<double>(numbers.size()));
}

// From one map's time to the other's, root mean square over the scored points.
struct Change {
  double truth = 0.0, map = 0.0;
  double error = 0.0;  // of the map's change less the truth's
};

struct DemoOptions {
  std::string command_line = {};
  std::filesystem::path out = "drift-demo";
  std::optional<std::size_t> observations;
  double noise_sd = 0.01;
  bool full = false, json = false, quiet = false;
};

class Demo {
 public:
  Demo(const DemoOptions& options, const RunOptions& flags)
      : options_(options), verb_(!options.quiet && !options.json, !options.quiet) {
    settings_.data.files = {"observations.nc"};
    settings_.data.roles.value = "field";
    settings_.output.model = "model.safetensors";
    flags.apply(settings_);
    const bool one_epoch = options.full || settings_.recipe == drift::RecipeName::paper;
    if (!settings_.model.members) settings_.model.members = options.full ? kFullMembers : kMembers;
    if (!settings_.train.epochs) settings_.train.epochs = one_epoch ? kFullEpochs : kEpochs;
    if (!settings_.train.batch) settings_.train.batch = 1024;
    field_ = {.seed = settings_.seed, .evolution_days = kEvolutionDays, .velocity = kVelocity};
    truth_ = drift::synthetic_truth(field_).truth;
  }

  void run() {
    make_folder();
    write_text("run.toml", std::string(kMark) + "\n" + drift::to_toml(settings_));  // first: it marks the folder
    simulate();
    fit();
    predict();
    score();
    plot();
    report();
  }

 private:
  std::filesystem::path file(const char* name) const { return options_.out / name; }

  void say(const std::string& text) const { verb_.say(text); }

  void make_folder() const {
    std::error_code error;
    std::filesystem::create_directories(options_.out, error);
    if (error)
      throw drift::Error(fmt::format("cannot create the folder {} for the results: {}", options_.out.string(), error.message()));
    std::string first;
    std::getline(std::ifstream(file("run.toml")), first);
    if (first == kMark) return;
    for (const char* name : kResults) {
      if (std::filesystem::exists(file(name), error))
        throw drift::UsageError(
            fmt::format("{} is not of drift demo's making, which would overwrite it; move it away, or choose another --out",
                        file(name).string()));
    }
  }

  void write_text(const char* name, const std::string& text) const { drift::write_text_file(file(name), text); }

  void simulate() {
    drift::SimulateOptions simulation;
    drift::parse_iso_time(kStart, simulation.start_days);
    simulation.south_deg = kSouthDeg;
    simulation.noise_sd = options_.noise_sd;
    simulation.seed = settings_.seed;
    simulation.threads = settings_.threads;
    simulation.rate_hz =
        drift::rate_for(options_.observations.value_or(options_.full ? kFullObservations : kObservations), simulation);
    const drift::Observations observations = drift::simulate(truth_, simulation, nullptr, verb_.quiet_job());
    drift::write_track_file(file("observations.nc"), observations, field_info(),
                            {.attributes = {{"title", "Simulated observations of a synthetic field"},
                                            {"summary", fmt::format("truth: {}", drift::to_text(field_))}}});
    say(fmt::format(
        "Simulated {} observations: nine days of Sentinel-3A, Sentinel-3B and CryoSat-2 over the Arctic.\n"
        "The field moves: its correlation in time falls to 1/e in {:g} days, and it drifts east by {:g} km per day at {:g} N.",
        drift::grouped(static_cast<double>(observations.size())), field_.evolution_days, field_.velocity.east_km_per_day,
        field_.velocity.at.lat_deg));
  }

  void fit() {
    drift::RunSettings settings = settings_;
    settings.data.files = {file("observations.nc").string()};
    settings.output.model = file("model.safetensors").string();
    const drift::Reading reading =
        drift::read_observations(settings.data.files, drift::read_options(settings), verb_.quiet_job());
    tracks_ = reading.tracks;
    drift::Control control = verb_.job("Training");
    control.fresh = true;  // a demonstration begins at the beginning
    drift::FittedRun run = drift::run_fit(settings, reading, control, {.planned = [this](const drift::FitPlan& plan) {
                                            for (const std::string& choice : plan.choices) say(choice);
                                          }});
    verb_.end_job();
    plan_ = std::move(run.plan);
    result_ = std::move(run.result);
    for (const std::string& warning : result_.warnings) verb_.warn(warning);
    const double seen =
        static_cast<double>(plan_.split.training.size()) * plan_.recipe.epochs * static_cast<double>(plan_.members);
    say(fmt::format("Trained in {:.1f} s ({} observations/s).", result_.train_s, drift::grouped(seen / result_.train_s)));
  }

  void predict() {
    engine_ = drift::make_engine(settings_);
    drift::MapOptions map;
    map.grid = drift::parse_grid(kGrid);
    for (std::size_t i = 0; i < kMapTimes.size(); ++i) map.time_days.push_back(map_time(i));
    map.masks = drift::parse_masks("data:100km");  // the edges, and the pole that no satellite sees
    map.command = options_.command_line;
    drift::predict_map(*engine_, result_.model, map, drift::netcdf_sink(file("map.nc")), verb_.job("Predicting"));
    verb_.end_job();
    write_truth(map);
  }

  std::vector<double> truth_at(const std::vector<drift::UnitVector>& points, double time_days) const {
    std::vector<double> values(points.size());
    truth_(points, std::vector<double>(points.size(), time_days), values);
    return values;
  }

  // The truth on the map's grid and at its times, where the satellites were simulated.
  void write_truth(const drift::MapOptions& map) const {
    std::vector<double> lon(map.grid.size()), lat(map.grid.size());
    drift::grid_positions(map.grid, 0, lon, lat);
    std::vector<drift::UnitVector> points;
    for (std::size_t i = 0; i < lon.size(); ++i) points.push_back(drift::unit_vector({lon[i], lat[i]}));
    drift::FieldFileWriter writer(
        file("truth.nc"), {.grid = map.grid,
                           .time_days = map.time_days,
                           .layers = {{.info = field_info()}},
                           .attributes = {{"title", "The synthetic field without noise"}, {"summary", drift::to_text(field_)}}});
    for (std::size_t t = 0; t < map.time_days.size(); ++t) {
      std::vector<double> values = truth_at(points, map.time_days[t]);
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!(lat[i] >= kSouthDeg)) values[i] = std::nan("");
      }
      writer.write(0, t, 0, values);
    }
    writer.finish();
  }

  // Against the truth that the observations were made from, on the map's own points, at both times.
  void score() {
    const drift::Grid grid = drift::parse_grid(kGrid);
    std::vector<double> all_lon(grid.size()), all_lat(grid.size()), lon, lat;
    drift::grid_positions(grid, 0, all_lon, all_lat);
    std::vector<drift::UnitVector> points;
    for (std::size_t i = 0; i < all_lon.size(); ++i) {
      if (!(all_lat[i] >= kSouthDeg && all_lat[i] <= kNorthDeg)) continue;
      lon.push_back(all_lon[i]);
      lat.push_back(all_lat[i]);
      points.push_back(drift::unit_vector({lon.back(), lat.back()}));
    }
    std::vector<double> truth, mean, sd;  // [time, point]
    for (std::size_t t = 0; t < kMapTimes.size(); ++t) {
      const double time = map_time(t);
      const std::vector<double> true_values = truth_at(points, time);
      truth.insert(truth.end(), true_values.begin(), true_values.end());
      const drift::FieldPrediction field = drift::predict_field(*engine_, result_.model, lon, lat, std::span(&time, 1));
      mean.insert(mean.end(), field.mean.begin(), field.mean.end());
      sd.insert(sd.end(), field.sd_epistemic.begin(), field.sd_epistemic.end());
    }
    truth_scores_ = drift::score_forecast(truth, mean, sd);
    change_ = change_between(truth, mean, points.size());
    write_text("scores.json", scores_json().dump(2) + "\n");
  }

  static Change change_between(std::span<const double> truth, std::span<const double> mean, std::size_t points) {  // [2, points]
    std::vector<double> of_truth(points), of_map(points), error(points);
    for (std::size_t i = 0; i < points; ++i) {
      of_truth[i] = truth[points + i] - truth[i];
      of_map[i] = mean[points + i] - mean[i];
      error[i] = of_map[i] - of_truth[i];
    }
    return {root_mean_square(of_truth), root_mean_square(of_map), root_mean_square(error)};
  }

  nlohmann::ordered_json scores_json() const {
    return {{"truth_field", drift::to_text(field_)},
            {"map_times", kMapTimes},
            {"truth", nlohmann::ordered_json::parse(drift::to_json(truth_scores_))},
            {"change", {{"truth_rms", change_.truth}, {"map_rms", change_.map}, {"error_rms", change_.error}}},
            {"held_out", nlohmann::ordered_json::parse(drift::to_json(*result_.held_out))},
            {"noise_sd", result_.model.info.noise_sd}};
  }

  // Truth and map at the first time, then at the second.
  void plot() const {
    std::vector<drift::PanelMap> means, sds;
    for (const char* const time : kMapTimes) {
      means.push_back({file("truth.nc"), fmt::format("Truth, {}", time), time});
      means.push_back({file("map.nc"), fmt::format("Map, {}", time), time});
      sds.push_back({file("map.nc"), time, time});
    }
    drift::plot_panels(means, file("map.png"), {.title = field_info().long_name, .scale_of_first = true, .width_cm = 28.0},
                       verb_.quiet_job());
    if (!result_.model.has_spread()) return;
    drift::plot_panels(sds, file("map_sd.png"), {.sd = true, .title = "Standard deviation of the map"}, verb_.quiet_job());
  }

  void report() const {
    if (options_.json) {
      nlohmann::ordered_json json = {{"recipe", settings_.recipe},
                                     {"seed", settings_.seed},
                                     {"training_observations", plan_.split.training.size()},
                                     {"held_out_observations", plan_.split.held_out.size()},
                                     {"tracks", tracks_},
                                     {"members", plan_.members},
                                     {"steps", result_.steps},
                                     {"spec", nlohmann::ordered_json::parse(drift::to_json(plan_.spec))},
                                     {"training", nlohmann::ordered_json::parse(drift::to_json(plan_.recipe))},
                                     {"domain", nlohmann::ordered_json::parse(drift::to_json(plan_.domain))},
                                     {"train_s", result_.train_s},
                                     {"peak_rss_mb", drift::peak_rss_mib()}};
      json.update(scores_json());
      print_json(json);
      return;
    }
    say(fmt::format("\nScores against the truth, whose standard deviation is about 1, on {} and {}:", kMapTimes[0],
                    kMapTimes[1]));
    say(scores_text(truth_scores_, ""));
    say(fmt::format(
        "Between these times the truth changes by {:.2f} and the map by {:.2f} (RMS); the two changes differ by {:.2f} "
        "(RMS).\n",
        change_.truth, change_.map, change_.error));
    say(std::string(plan_.out_of_fold ? "Out-of-fold forecasts of observations, noise included:\n"
                                      : "Held-out observations, noise included:\n") +
        scores_text(*result_.held_out, ""));
    for (const auto& [name, what] : {std::pair{"map.png", "truth and map at the two times"},
                                     {"map_sd.png", "the map's standard deviation at those times"},
                                     {"map.nc", "the map at those times, for xarray, GMT, Panoply, ncview"},
                                     {"truth.nc", "the truth on the same grid"},
                                     {"observations.nc", "the simulated observations"},
                                     {"run.toml", "the settings: change them and run drift fit run.toml"},
                                     {"model.safetensors", "the model: drift predict, drift score"},
                                     {"scores.json", "the scores above"}}) {
      if (std::filesystem::exists(file(name))) say(fmt::format("{:32} {}", file(name).string(), what));
    }
  }

  const DemoOptions& options_;
  VerbControl verb_;
  drift::SyntheticFieldOptions field_;
  drift::Truth truth_;
  drift::RunSettings settings_;
  std::unique_ptr<drift::Engine> engine_;
  drift::FitPlan plan_;
  drift::FitResult result_;
  drift::Scores truth_scores_;
  Change change_;
  std::size_t tracks_ = 0;
};

}  // namespace

void add_demo(CLI::App& app, const std::string& command_line) {
  auto options = std::make_shared<DemoOptions>();
  options->command_line = command_line;
  CLI::App* verb =
      app.add_subcommand("demo", "End-to-end demonstration on simulated data: simulate tracks, fit, predict, score, map");
  verb->add_option("--out", options->out, "Folder for the results [drift-demo]")->type_name("");
  verb->add_option("--observations", options->observations,
                   "Approximate number of observations to simulate [160,000; with --full 1,162,655]")
      ->type_name("")
      ->check(whole_number(200, std::uint64_t{1} << 40));
  verb->add_option("--noise", options->noise_sd, "Standard deviation of the simulated noise; the field's is 1 [0.01]")
      ->type_name("")
      ->check(non_negative_number());
  verb->add_flag("--full", options->full,
                 "Use the size of the paper's first experiment: 1.16 million observations, ten members, one epoch");
  verb->add_flag("--json", options->json, "Print one JSON object instead of text");
  add_quiet(*verb, options->quiet);
  auto flags = std::make_shared<RunOptions>(*verb);
  verb->callback([options, flags] { Demo(*options, *flags).run(); });
}
