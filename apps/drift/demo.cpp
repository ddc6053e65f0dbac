#include "demo.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <system_error>

#include "commands.h"
#include "drift/bench.h"
#include "drift/engine.h"
#include "drift/error.h"
#include "drift/score.h"
#include "drift/simulate.h"
#include "drift/split.h"
#include "drift/synthetic_field.h"
#include "number_checks.h"
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
  field.side = 2 * static_cast<std::size_t>(half) + 1;
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

// What the networks are trained on.
struct DemoData {
  drift::Observations observations;
  drift::Split split;
  DemoDomain domain;
  std::vector<float> coordinates;  // [training, 3]
  std::vector<float> values;       // [training]
};

DemoData make_data(const drift::SyntheticField& truth, const DemoOptions& options, DemoReport& report) {
  const Stopwatch watch;
  drift::Observations observations = simulate_tracks(truth, options, report.settings.observations);
  drift::Split split = drift::split_at_random(observations.size(), kHeldOutShare, options.seed);
  if (split.training.empty() || split.held_out.empty()) {
    throw drift::UsageError(fmt::format("--observations: {} came out, too few to fit and to hold some out", observations.size()));
  }
  const DemoDomain domain(observations, split.training);
  report.training = split.training.size();
  report.held_out = split.held_out.size();
  report.tracks = count_tracks(observations);
  report.km_per_unit = domain.km_per_unit();
  report.days_per_unit = domain.days_per_unit();
  report.settings.recipe.noise_sd = options.noise_sd / domain.value().sd;
  std::vector<float> coordinates = domain.coordinates(observations, split.training),
                     values = domain.values(observations, split.training);
  report.simulate_s = watch.seconds();
  say(options,
      fmt::format("Simulated {} observations on {} passes of Sentinel-3A, Sentinel-3B and CryoSat-2 in nine days ({:.1f} s).",
                  grouped(static_cast<double>(observations.size())), report.tracks, report.simulate_s));
  return {std::move(observations), std::move(split), domain, std::move(coordinates), std::move(values)};
}

drift::Ensemble fit(drift::Engine& engine, const DemoData& data, const DemoOptions& options, DemoReport& report) {
  const DemoSettings& settings = report.settings;
  report.steps = drift::total_steps(settings.recipe, report.training);
  say(options, fmt::format("Training {} {} of {} spatial layers, {} features each, on four fifths of them: {} steps of {}.",
                           settings.members, settings.members == 1 ? "network" : "networks", settings.spec.spatial.layers,
                           settings.spec.features, grouped(static_cast<double>(report.steps)),
                           std::min(settings.recipe.batch, report.training)));
  const Stopwatch watch;
  drift::Ensemble ensemble = drift::draw_ensemble(settings.spec, options.seed, settings.members);
  const drift::TrainingSet set = {.coordinates = MatrixView<const float>(data.coordinates.data(), report.training, kCoordinates),
                                  .values = MatrixView<const float>(data.values.data(), report.training, 1)};
  train_with_progress(engine, ensemble, set, settings.recipe);
  report.train_s = watch.seconds();
  return ensemble;
}

DemoField predict_and_score(drift::Engine& engine, const drift::Ensemble& ensemble, const drift::SyntheticField& truth,
                            const DemoData& data, DemoReport& report) {
  const Stopwatch watch;
  DemoField field = make_grid(truth);
  Forecast forecast = predict(engine, ensemble, data.domain, data.domain.coordinates(field.plane));
  field.mean = std::move(forecast.mean);
  field.sd = std::move(forecast.sd);
  report.predict_s = watch.seconds();
  report.peak_rss_mib = drift::peak_rss_mib();
  report.scores = score_field(field);
  std::vector<double> held_out;
  for (std::size_t row : data.split.held_out) held_out.push_back(data.observations.value[row]);
  const std::vector<float> coordinates = data.domain.coordinates(data.observations, data.split.held_out);
  report.scores.held_out_rmse = drift::rmse(held_out, predict(engine, ensemble, data.domain, coordinates).mean);
  return field;
}

void run_demo(const DemoOptions& options) {
  DemoReport report = {};
  report.settings = settle(options);
  make_folder(options.out);
  const auto engine = drift::make_cpu_engine({.threads = options.threads});
  const drift::SyntheticField truth({.seed = options.seed});
  const DemoData data = make_data(truth, options, report);
  const drift::Ensemble ensemble = fit(*engine, data, options, report);
  const DemoField field = predict_and_score(*engine, ensemble, truth, data, report);
  drift::save_model(options.out / "model.safetensors", ensemble,
                    {{"domain", data.domain.to_json()}, {"recipe", drift::to_json(report.settings.recipe)}});
  write_field_csv(options.out / "field.csv", field);
  write_map(options.out / "map.png", data.observations, field, report);
  fmt::print("{}\n", options.json ? report_json(options, report) : report_text(options, report));
}

}  // namespace

void add_demo(CLI::App& app) {
  CLI::App* verb =
      app.add_subcommand("demo", "The whole story on data it makes itself: simulate tracks, fit, predict, score, map");
  auto options = std::make_shared<DemoOptions>();
  const auto add = [&](const char* name, auto& value, const char* type, const char* help) {
    return verb->add_option(name, value, help)->type_name(type);
  };
  const std::uint64_t many = std::uint64_t{1} << 40;
  add("--out", options->out, "DIR", "Folder for the model, the field and the map")->capture_default_str();
  add("--observations", options->observations, "N", "How many to simulate, about (default 160,000; with --full 1,162,655)")
      ->check(whole_number(1, many));
  add("--members", options->members, "N", "Networks in the ensemble (default 4; with --full 10)")->check(whole_number(1, 10000));
  add("--seed", options->seed, "S", "Of everything random: same seed, same result")
      ->capture_default_str()
      ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()));
  add("--threads", options->threads, "N", "0: one for each core")->capture_default_str()->check(whole_number(0, 4096));
  verb->add_flag("--full", options->full,
                 "The size of the paper's first experiment: 1.16 million observations, ten members, one epoch");
  verb->add_flag("--json", options->json, "Print one JSON object instead of the story");

  const auto trial = [&](const char* name, auto& value, const char* type, const char* help, const CLI::Validator& check) {
    return add(name, value, type, help)->check(check)->group("For trials");
  };
  trial("--recipe", options->recipe, "NAME", "Network and training: drift's own (default) or the paper's (paper)",
        CLI::IsMember({"default", "paper"}).description(""))
      ->capture_default_str();
  trial("--epochs", options->epochs, "X", "Times through the observations (default 3; with --full or paper 1)",
        positive_number());
  trial("--batch", options->batch, "N", "Observations a step", whole_number(1, many));
  trial("--rate", options->rate, "X", "Adam's learning rate", positive_number());
  trial("--muon-rate", options->muon_rate, "X", "Rate of the orthogonalised momentum", positive_number());
  trial("--space-lengthscale", options->space_lengthscale, "X", "In standard deviations of the coordinates", positive_number());
  trial("--time-lengthscale", options->time_lengthscale, "X", "In standard deviations of time", positive_number());
  trial("--amplitude", options->amplitude, "X", "Of every layer's features", positive_number());
  trial("--layers", options->layers, "L", "Spatial layers", whole_number(1, 1000));
  trial("--features", options->features, "H", "Random features a layer", whole_number(1, 1000000));
  trial("--bottleneck", options->bottleneck, "B", "Numbers between layers", whole_number(1, 1000000));
  trial("--noise", options->noise_sd, "X", "Standard deviation of the noise; the field's is 1", non_negative_number())
      ->capture_default_str();
  verb->callback([options] { run_demo(*options); });
}
