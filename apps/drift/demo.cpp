#include "demo.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <system_error>

#include "commands.h"
#include "drift/bench.h"
#include "drift/engine.h"
#include "drift/error.h"
#include "drift/score.h"
#include "drift/simulate.h"
#include "drift/split.h"
#include "drift/synthetic_field.h"
#include "progress.h"

namespace {

using drift::MatrixView;

constexpr std::size_t kCoordinates = 3;  // x, y, time
constexpr double kSouthDeg = 62.0;
constexpr double kNorthDeg = 88.0;  // no satellite sees further: the pole is drawn, not scored
constexpr double kGridKm = 25.0;
constexpr double kHeldOutShare = 0.2;

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

drift::Truth truth_of(const drift::SyntheticField& field) {
  return [&field](auto points, auto times, auto values) { field.evaluate(points, times, values); };
}

DemoField make_grid(const drift::SyntheticField& truth) {
  DemoField field;
  field.spacing_km = kGridKm;
  const double edge_km = parallel_radius_km(kSouthDeg) + 1.5 * kGridKm;
  const auto half = static_cast<int>(std::ceil(edge_km / kGridKm));
  field.side = static_cast<std::size_t>(2 * half + 1);
  std::vector<drift::UnitVector> points;
  for (int row = -half; row <= half; ++row) {
    for (int column = -half; column <= half; ++column) {
      const PlanePosition plane = {column * kGridKm, -row * kGridKm};
      if (std::hypot(plane.x_km, plane.y_km) > edge_km) continue;
      field.cell.push_back(static_cast<std::size_t>(row + half) * field.side + static_cast<std::size_t>(column + half));
      field.plane.push_back(plane);
      field.position.push_back(from_plane(plane));
      points.push_back(drift::unit_vector(field.position.back()));
    }
  }
  field.truth.resize(points.size());
  truth.evaluate(points, {}, field.truth);
  return field;
}

struct Forecast {
  std::vector<double> mean, sd;  // in the values' own unit; sd is empty for one member
};

Forecast predict(drift::Engine& engine, const drift::Ensemble& ensemble, const DemoDomain& domain,
                 const std::vector<float>& coordinates) {
  const std::size_t count = coordinates.size() / kCoordinates;
  std::vector<float> mean(count), variance(count);
  engine.predict(ensemble, MatrixView<const float>(coordinates.data(), count, kCoordinates),
                 {.mean = MatrixView<float>(mean.data(), count, 1),
                  .variance = MatrixView<float>(variance.data(), count, 1),
                  .members = {}});
  Forecast forecast;
  for (float m : mean) forecast.mean.push_back(domain.value().mean + domain.value().sd * m);
  if (ensemble.members.size() > 1) {
    for (float v : variance) forecast.sd.push_back(domain.value().sd * std::sqrt(v));
  }
  return forecast;
}

DemoScores score_field(const DemoField& field) {
  std::vector<double> truth, mean, sd;
  for (std::size_t i = 0; i < field.truth.size(); ++i) {
    if (field.position[i].lat_deg < kSouthDeg || field.position[i].lat_deg > kNorthDeg) continue;
    truth.push_back(field.truth[i]);
    mean.push_back(field.mean[i]);
    if (!field.sd.empty()) sd.push_back(field.sd[i]);
  }
  DemoScores scores = {
      .points = truth.size(), .rmse = drift::rmse(truth, mean), .held_out_rmse = 0.0, .crps = {}, .nll = {}, .coverage90 = {}};
  if (!sd.empty()) {
    scores.crps = drift::mean_crps(truth, mean, sd);
    scores.nll = drift::mean_nll(truth, mean, sd);
    scores.coverage90 = drift::coverage(truth, mean, sd, 0.9);
  }
  return scores;
}

void train_with_progress(drift::Engine& engine, drift::Ensemble& ensemble, const drift::TrainingSet& data,
                         const drift::Recipe& recipe) {
  ProgressLine line("Training");
  drift::TrainOptions options;
  const auto batch = static_cast<double>(std::min(recipe.batch, data.values.rows));
  options.control.progress = [&](const drift::Progress& progress) {
    const double done = static_cast<double>(progress.step);
    line.update(done, static_cast<double>(progress.steps),
                fmt::format("{} observations/s, loss {:.4f}", grouped(done * batch / line.elapsed_s()), progress.loss));
  };
  drift::TrainingState state;
  drift::train(engine, ensemble, state, data, recipe, options);
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw drift::Error(fmt::format("{}: the folder for the results cannot be made: {}", folder.string(), error.message()));
}

drift::Observations simulate_tracks(const drift::SyntheticField& truth, const DemoOptions& options, std::size_t count) {
  drift::SimulateOptions simulation;
  simulation.south_deg = kSouthDeg;
  simulation.noise_sd = options.noise_sd;
  simulation.seed = options.seed;
  simulation.threads = options.threads;
  simulation.rate_hz = drift::rate_for(count, simulation);
  return drift::simulate(truth_of(truth), simulation);
}

std::size_t count_tracks(const drift::Observations& observations) {
  return observations.size() == 0 ? 0 : static_cast<std::size_t>(observations.track.back()) + 1;
}

void say(const DemoOptions& options, const std::string& text) {
  if (options.json) return;
  fmt::print("{}\n", text);
  std::fflush(stdout);
}

void run_demo(const DemoOptions& options) {
  DemoReport report = {};
  report.settings = settle(options);
  make_folder(options.out);
  const auto engine = drift::make_cpu_engine({.threads = options.threads});

  const Stopwatch simulating;
  const drift::SyntheticField truth({.seed = options.seed});
  const drift::Observations observations = simulate_tracks(truth, options, report.settings.observations);
  const drift::Split split = drift::split_at_random(observations.size(), kHeldOutShare, options.seed);
  if (split.training.empty() || split.held_out.empty()) {
    throw drift::UsageError(fmt::format("--observations: {} came out, too few to fit and to hold some out", observations.size()));
  }
  const DemoDomain domain(observations, split.training);
  const std::vector<float> coordinates = domain.coordinates(observations, split.training),
                           values = domain.values(observations, split.training);
  report.training = split.training.size();
  report.held_out = split.held_out.size();
  report.tracks = count_tracks(observations);
  report.km_per_unit = domain.km_per_unit();
  report.days_per_unit = domain.days_per_unit();
  report.simulate_s = simulating.seconds();
  say(options,
      fmt::format("Simulated {} observations on {} passes of Sentinel-3A, Sentinel-3B and CryoSat-2 in nine days ({:.1f} s).",
                  grouped(static_cast<double>(observations.size())), report.tracks, report.simulate_s));

  drift::Recipe& recipe = report.settings.recipe;
  recipe.noise_sd = options.noise_sd / domain.value().sd;
  report.steps = drift::total_steps(recipe, report.training);
  say(options, fmt::format("Training {} {} of {} spatial layers, {} features each, on four fifths of them: {} steps of {}.",
                           report.settings.members, report.settings.members == 1 ? "network" : "networks",
                           report.settings.spec.spatial.layers, report.settings.spec.features,
                           grouped(static_cast<double>(report.steps)), std::min(recipe.batch, report.training)));
  const Stopwatch training;
  drift::Ensemble ensemble = drift::draw_ensemble(report.settings.spec, options.seed, report.settings.members);
  const drift::TrainingSet data = {.coordinates = MatrixView<const float>(coordinates.data(), report.training, kCoordinates),
                                   .values = MatrixView<const float>(values.data(), report.training, 1)};
  train_with_progress(*engine, ensemble, data, recipe);
  report.train_s = training.seconds();

  const Stopwatch predicting;
  DemoField field = make_grid(truth);
  Forecast forecast = predict(*engine, ensemble, domain, domain.coordinates(field.plane));
  field.mean = std::move(forecast.mean);
  field.sd = std::move(forecast.sd);
  report.predict_s = predicting.seconds();
  report.peak_rss_mib = drift::peak_rss_mib();
  report.scores = score_field(field);
  std::vector<double> held_out_values;
  for (std::size_t row : split.held_out) held_out_values.push_back(observations.value[row]);
  report.scores.held_out_rmse =
      drift::rmse(held_out_values, predict(*engine, ensemble, domain, domain.coordinates(observations, split.held_out)).mean);

  drift::save_model(options.out / "model.safetensors", ensemble,
                    {{"domain", domain.to_json()}, {"recipe", drift::to_json(recipe)}});
  write_field_csv(options.out / "field.csv", field);
  write_map(options.out / "map.png", observations, field, report);
  fmt::print("{}\n", options.json ? report_json(options, report) : report_text(options, report));
}

}  // namespace

void add_demo(CLI::App& app) {
  CLI::App* verb =
      app.add_subcommand("demo", "The whole story on data it makes itself: simulate tracks, fit, predict, score, map");
  auto options = std::make_shared<DemoOptions>();
  const auto add = [&](const char* name, auto& value, const char* help) { return verb->add_option(name, value, help); };
  const CLI::Range whole(std::size_t{1}, std::size_t{1} << 40);
  add("--out", options->out, "Folder for the model, the field and the map")->capture_default_str()->type_name("DIR");
  add("--observations", options->observations, "How many to simulate, about (default 160,000; with --full 1,162,655)")
      ->check(whole)
      ->type_name("N");
  add("--members", options->members, "Networks in the ensemble (default 4; with --full 10)")
      ->check(CLI::Range(1, 10000))
      ->type_name("N");
  add("--seed", options->seed, "Of everything random: same seed, same result")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->type_name("S");
  add("--threads", options->threads, "0: one for each core")->capture_default_str()->check(CLI::Range(0, 4096))->type_name("N");
  verb->add_flag("--full", options->full,
                 "The size of the paper's first experiment: 1.16 million observations, ten members, one epoch");
  verb->add_flag("--json", options->json, "Print one JSON object instead of the story");

  const auto trial = [&](const char* name, auto& value, const char* help) { return add(name, value, help)->group("For trials"); };
  trial("--recipe", options->recipe, "Network and training: drift's own or the paper's")
      ->capture_default_str()
      ->check(CLI::IsMember({"default", "paper"}));
  trial("--epochs", options->epochs, "Times through the observations")->check(CLI::PositiveNumber)->type_name("X");
  trial("--batch", options->batch, "Observations a step")->check(whole)->type_name("N");
  trial("--rate", options->rate, "Adam's learning rate")->check(CLI::PositiveNumber)->type_name("X");
  trial("--muon-rate", options->muon_rate, "Rate of the orthogonalised momentum")->check(CLI::PositiveNumber)->type_name("X");
  trial("--space-lengthscale", options->space_lengthscale, "In standard deviations of the coordinates")
      ->check(CLI::PositiveNumber)
      ->type_name("X");
  trial("--time-lengthscale", options->time_lengthscale, "In standard deviations of time")
      ->check(CLI::PositiveNumber)
      ->type_name("X");
  trial("--amplitude", options->amplitude, "Of every layer's features")->check(CLI::PositiveNumber)->type_name("X");
  trial("--layers", options->layers, "Spatial layers")->check(CLI::Range(1, 1000))->type_name("L");
  trial("--features", options->features, "Random features a layer")->check(CLI::Range(1, 1000000))->type_name("H");
  trial("--bottleneck", options->bottleneck, "Numbers between layers")->check(CLI::Range(1, 1000000))->type_name("B");
  trial("--noise", options->noise_sd, "Standard deviation of the noise; the field's is 1")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber)
      ->type_name("X");
  verb->callback([options] { run_demo(*options); });
}
