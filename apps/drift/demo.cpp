// The demonstration: everything a user would do with files of their own, on files it makes itself. Each step goes through the
// same calls as the verb it stands for, so that what is shown here is what those verbs do.

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "commands.h"
#include "drift/bench.h"
#include "drift/calendar.h"
#include "drift/error.h"
#include "drift/fit.h"
#include "drift/grouped.h"
#include "drift/plot.h"
#include "drift/predict.h"
#include "drift/simulate.h"
#include "drift/track_file.h"
#include "drift/truth.h"
#include "number_checks.h"
#include "progress.h"
#include "run_options.h"
#include "scores_text.h"

namespace {

// Sizes that let the demonstration end in about a minute on two cores, and those of the paper's first experiment.
constexpr std::size_t kObservations = 160000, kFullObservations = 1162655;
constexpr std::size_t kMembers = 4, kFullMembers = 10;
constexpr double kEpochs = 3.0, kFullEpochs = 1.0;
constexpr double kSouthDeg = 62.0, kNorthDeg = 88.0;  // no satellite sees further north: the pole is drawn, not scored
constexpr const char* kStart = "2020-03-01";
constexpr const char* kMapTime = "2020-03-05T12:00:00Z";
constexpr const char* kGrid = "EPSG:6931:25km:-3250,-3250,3250,3250";

struct DemoOptions {
  std::filesystem::path out = "drift-demo";
  std::optional<std::size_t> observations;
  double noise_sd = 0.01;
  bool full = false, json = false, quiet = false;
};

class Demo {
 public:
  Demo(const DemoOptions& options, const RunOptions& flags) : options_(options) {
    settings_.data.files = {"observations.nc"};
    settings_.data.roles.value = "field";
    settings_.output.model = "model.safetensors";
    flags.apply(settings_);
    const bool one_epoch = options.full || settings_.recipe == drift::RecipeName::paper;
    if (!settings_.model.members) settings_.model.members = options.full ? kFullMembers : kMembers;
    if (!settings_.train.epochs) settings_.train.epochs = one_epoch ? kFullEpochs : kEpochs;
    if (!settings_.train.batch) settings_.train.batch = 1024;
    truth_ = drift::synthetic_truth({.seed = settings_.seed}).truth;
  }

  void run() {
    make_folder();
    simulate();
    write_text("run.toml", "# What drift demo did; repeat it with: drift fit run.toml\n" + drift::to_toml(settings_));
    fit();
    predict();
    score();
    plot();
    report();
  }

 private:
  std::filesystem::path file(const char* name) const { return options_.out / name; }

  void say(const std::string& text) const {
    if (options_.json || options_.quiet) return;
    fmt::print("{}\n", text);
    std::fflush(stdout);
  }

  void make_folder() const {
    std::error_code error;
    std::filesystem::create_directories(options_.out, error);
    if (error)
      throw drift::Error(
          fmt::format("{}: the folder for the results cannot be made: {}", options_.out.string(), error.message()));
  }

  void write_text(const char* name, const std::string& text) const {
    std::ofstream stream(file(name));
    stream << text;
    stream.close();
    if (!stream) throw drift::Error(fmt::format("{}: cannot be written; is the disk full?", file(name).string()));
  }

  void simulate() {
    drift::SimulateOptions simulation;
    drift::parse_iso_time(kStart, simulation.start_days);
    simulation.south_deg = kSouthDeg;
    simulation.noise_sd = options_.noise_sd;
    simulation.seed = settings_.seed;
    simulation.threads = settings_.threads;
    simulation.rate_hz =
        drift::rate_for(options_.observations.value_or(options_.full ? kFullObservations : kObservations), simulation);
    const drift::Observations observations = drift::simulate(truth_, simulation);
    drift::write_track_file(file("observations.nc"), observations, {"field", "Made-up field", "", "1"},
                            {.attributes = {{"title", "Simulated observations of a made-up field"}}});
    say(fmt::format("Simulated {} observations: nine days of Sentinel-3A, Sentinel-3B and CryoSat-2 over the Arctic.",
                    drift::grouped(static_cast<double>(observations.size()))));
  }

  void fit() {
    drift::RunSettings settings = settings_;
    settings.data.files = {file("observations.nc").string()};
    const drift::Reading reading = drift::read_observations(settings.data.files, drift::read_options(settings));
    plan_ = drift::plan_fit(settings, reading);
    plan_.settings = settings_;  // as the run file has them
    for (const std::string& choice : plan_.choices) say(choice);
    tracks_ = reading.report.tracks;
    std::unique_ptr<ProgressLine> line;
    if (!options_.quiet) line = std::make_unique<ProgressLine>("Training");
    drift::FitControl control;
    const double batch = static_cast<double>(plan_.recipe.batch);
    control.progress = [&](const drift::Progress& progress) {
      if (!line) return;
      const double done = static_cast<double>(progress.step);
      line->update(
          done, static_cast<double>(progress.steps),
          fmt::format("{} observations/s, loss {:.4f}", drift::grouped(done * batch / line->elapsed_s()), progress.loss));
    };
    result_ = drift::fit(plan_, reading, control);
    line.reset();
    drift::save_field_model(file("model.safetensors"), result_.model);
    const double seen =
        static_cast<double>(plan_.split.training.size()) * plan_.recipe.epochs * static_cast<double>(plan_.members);
    say(fmt::format("Trained in {:.1f} s ({} observations/s).", result_.train_s, drift::grouped(seen / result_.train_s)));
  }

  void predict() {
    engine_ = drift::make_engine(settings_);
    drift::MapOptions map;
    map.grid = drift::parse_grid(kGrid);
    double time = 0.0;
    drift::parse_iso_time(kMapTime, time);
    map.time_days = {time};
    map.mask = drift::parse_mask("data:100km");  // the edges, and the pole that no satellite sees
    map.command = "drift demo";
    drift::predict_map(*engine_, result_.model, map, file("map.nc"));
  }

  // Against the truth that the observations were made from, on the map's own points.
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
    std::vector<double> truth(points.size());
    truth_(points, {}, truth);  // it stands still
    double time = 0.0;
    drift::parse_iso_time(kMapTime, time);
    const drift::FieldPrediction field = drift::predict_field(*engine_, result_.model, lon, lat, std::span(&time, 1));
    const std::vector<double> mean(field.mean.begin(), field.mean.end()),
        sd(field.sd_epistemic.begin(), field.sd_epistemic.end());
    truth_scores_ = drift::score_forecast(truth, mean, sd);
    write_text("scores.json", scores_json().dump(2) + "\n");
  }

  nlohmann::ordered_json scores_json() const {
    return {{"truth", nlohmann::ordered_json::parse(drift::to_json(truth_scores_))},
            {"held_out", nlohmann::ordered_json::parse(drift::to_json(*result_.held_out))},
            {"noise_sd", result_.model.info.noise_sd}};
  }

  void plot() const {
    drift::plot_map(file("map.nc"), file("map.png"), {.panels = drift::PlotPanels::mean});
    if (result_.model.has_spread()) drift::plot_map(file("map.nc"), file("map_sd.png"), {.panels = drift::PlotPanels::sd});
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
      fmt::print("{}\n", json.dump(2));
      return;
    }
    say("\nAgainst the truth that the observations were made from (whose standard deviation is 1):\n" +
        scores_text(truth_scores_, ""));
    say("Observations kept aside, noise included:\n" + scores_text(*result_.held_out, ""));
    for (const auto& [name, what] : {std::pair{"map.png", "the mean field"},
                                     {"map_sd.png", "its standard deviation: wide where the tracks leave gaps"},
                                     {"map.nc", "both, for xarray, GMT, Panoply, ncview"},
                                     {"observations.nc", "what the satellites saw"},
                                     {"run.toml", "the settings: change them and run drift fit run.toml"},
                                     {"model.safetensors", "the trained networks: drift predict, drift score"},
                                     {"scores.json", "the scores above"}}) {
      if (std::filesystem::exists(file(name))) say(fmt::format("{:32} {}", file(name).string(), what));
    }
  }

  const DemoOptions& options_;
  drift::Truth truth_;
  drift::RunSettings settings_;
  std::unique_ptr<drift::Engine> engine_;
  drift::FitPlan plan_;
  drift::FitResult result_;
  drift::Scores truth_scores_;
  std::size_t tracks_ = 0;
};

}  // namespace

void add_demo(CLI::App& app) {
  auto options = std::make_shared<DemoOptions>();
  CLI::App* verb =
      app.add_subcommand("demo", "The whole story on data it makes itself: simulate tracks, fit, predict, score, map");
  verb->add_option("--out", options->out, "Folder for the results [drift-demo]")->type_name("");
  verb->add_option("--observations", options->observations, "How many to simulate, about [160,000; with --full 1,162,655]")
      ->type_name("")
      ->check(whole_number(200, std::uint64_t{1} << 40));
  verb->add_option("--noise", options->noise_sd, "Standard deviation of the simulated noise; the field's is 1 [0.01]")
      ->type_name("")
      ->check(non_negative_number());
  verb->add_flag("--full", options->full,
                 "The size of the paper's first experiment: 1.16 million observations, ten members, one epoch");
  verb->add_flag("--json", options->json, "Print one JSON object instead of the story");
  verb->add_flag("--quiet", options->quiet, "Print errors only");
  auto flags = std::make_shared<RunOptions>(*verb, std::vector<std::string>{"", "model", "train"});
  verb->callback([options, flags] { Demo(*options, *flags).run(); });
}
