// `drift bench`: how fast this machine trains and predicts, beside its own best product of large matrices, measured in the
// same run: product, work, product, the better of the two products.

#include "drift/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench_parts.h"
#include "commands.h"
#include "drift/engine.h"
#include "drift/error.h"
#include "drift/grouped.h"
#include "drift/run_settings.h"
#include "number_checks.h"
#include "print.h"

namespace {

constexpr double kMeanDegree = 200.0;    // of the spherical network's first layer
constexpr std::size_t kGpuMembers = 10;  // the paper's ensemble
constexpr std::size_t kPoints = 20000, kGpuPoints = 8000000;
constexpr int kMatrixSize = 4096, kGpuMatrixSize = 8192;

struct BenchOptions {
  bool json = false;
  bool spherical = false;
  int threads = 0;
  std::size_t members = 0;  // 0: as many as threads
  std::size_t observations = 1160000;
  std::size_t batch = 1024;  // observations a step; of prediction, points at a time, 0: 20,000, on a GPU 8 million
  double seconds = 5.0;
  int matrix_size = 0;  // 0: 4096, on a GPU 8192
  std::string recipe = "paper";
  std::string frequencies = "structured";
  std::string backend = "cpu";
  std::string precision = "tf32";

  bool cuda() const { return backend == "cuda"; }
};

drift::NetworkSpec bench_spec(const BenchOptions& options) {
  drift::NetworkSpec spec = options.spherical ? drift::spherical_bench_spec(kMeanDegree) : drift::paper_spec(1.0, 1.0, 1.0);
  spec.frequencies = drift::enum_named<drift::Frequencies>("--frequencies", options.frequencies);
  return spec;
}

std::string statistic(const BenchOptions& options, const Measurement& m) {
  if (m.steps) return fmt::format("median of {} differences of a long and a short call", m.steps->pairs);
  return options.cuda() ? "total over the run, including copies to and from the GPU" : "total over the run";
}

nlohmann::ordered_json common_json(const BenchOptions& options, const Measurement& m, const std::string& backend) {
  nlohmann::ordered_json json = {{"gflops", m.gflops}};
  for (const char* key : {"gemm_gflops", "fraction_of_gemm", "gemm_library"}) json[key] = nullptr;
  if (m.product) {
    json.update({{"gemm_gflops", m.product->gflops},
                 {"fraction_of_gemm", m.gflops / m.product->gflops},
                 {"gemm_library", m.product->library}});
  }
  json["flops_counted"] = "dense method, including products that algebra makes unnecessary";
  json["gemm_size"] = options.matrix_size;
  if (options.cuda()) json["precision"] = options.precision;
  json.update({{"backend", backend},
               {"network", options.spherical ? "spherical" : "paper"},
               {"frequencies", options.frequencies},
               {"threads", options.threads},
               {"members", options.members},
               {"batch", options.batch},
               {"recipe", options.recipe},
               {"seconds", m.seconds},
               {"statistic", statistic(options, m)},
               {"peak_rss_mb", m.peak_rss_mib}});
  return json;
}

std::string common_text(const BenchOptions& options, const Measurement& m) {
  const std::string precision = options.cuda() ? fmt::format(" in {}", options.precision) : "";
  const std::string beside =
      m.product ? fmt::format("{:.0f} % of this {}'s best product{} ({:.1f} GFLOP/s by {})", 100.0 * m.gflops / m.product->gflops,
                              options.cuda() ? "card" : "machine", precision, m.product->gflops, m.product->library)
                : fmt::format("factors{}; cuBLAS was not found, so the card's own product is not measured", precision);
  return fmt::format(
      "  {:.1f} GFLOP/s of the dense method (including products that algebra makes unnecessary), {}\n  {:.0f} MiB peak memory; "
      "{}, {:.1f} s\n",
      m.gflops, beside, m.peak_rss_mib, statistic(options, m), m.seconds);
}

std::string network_text(const BenchOptions& options, const drift::NetworkSpec& spec) {
  return fmt::format("{} network of {} spatial and {} temporal layers, H = {}, B = {}, {} frequencies; {} {} on {} {}",
                     options.spherical ? "Spherical" : "The paper's", spec.spatial.layers, spec.temporal.layers, spec.features,
                     spec.bottleneck, options.frequencies, options.members, options.members == 1 ? "member" : "members",
                     options.cuda() ? "one" : std::to_string(options.threads),
                     options.cuda()         ? "GPU"
                     : options.threads == 1 ? "thread"
                                            : "threads");
}

// Nanoseconds that one member's first layer, features and bottleneck, takes for a point: a network of this layer alone.
double first_layer_ns(drift::Engine& engine, const BenchOptions& options, drift::NetworkSpec spec) {
  spec.spatial.layers = 1;
  spec.temporal.layers = 0;
  spec.outputs = spec.bottleneck;
  const drift::Ensemble ensemble = drift::draw_ensemble(spec, 1, options.members, options.threads);
  const RandomData data(spec, 8192);
  const std::size_t outputs = static_cast<std::size_t>(spec.outputs) * options.members;
  std::vector<float> members(data.rows * outputs);
  const auto work = [&](std::size_t amount) {
    for (std::size_t i = 0; i < amount; ++i)
      engine.predict(ensemble, data.coordinate_view(),
                     {.mean = {}, .variance = {}, .members = {members.data(), data.rows, outputs}});
    return static_cast<double>(amount * data.rows * options.members);
  };
  work(1);
  const Total total = repeat_for(std::min(1.0, options.seconds), work);
  // Threads work side by side: this is the time of one of them.
  return 1e9 * total.seconds * options.threads / total.done;
}

void add_first_layers(drift::Engine& engine, const BenchOptions& options, const drift::NetworkSpec& spec,
                      nlohmann::ordered_json& json, std::string& text) {
  if (!options.spherical || options.cuda()) return;  // one layer on a GPU would be copies above all
  const double sphere = first_layer_ns(engine, options, spec),
               plane = first_layer_ns(engine, options, drift::paper_spec(1.0, 1.0, 1.0));
  json["first_layer_sphere_ns"] = sphere;
  json["first_layer_plane_ns"] = plane;
  json["first_layer_sphere_over_plane"] = sphere / plane;
  json["mean_degree"] = kMeanDegree;
  text +=
      fmt::format("  first layer: {:.0f} ns per point on the sphere (mean degree {:.0f}), {:.0f} ns on the plane: {:.1f} times\n",
                  sphere, kMeanDegree, plane, sphere / plane);
}

void print_report(const BenchOptions& options, const nlohmann::ordered_json& json, std::string text) {
  if (!options.json) text.pop_back();
  if (options.json)
    print_json(json);
  else
    print("{}\n", text);
}

void settle(BenchOptions& options) {
  if (options.threads == 0) options.threads = drift::default_threads();
  if (options.members == 0) options.members = options.cuda() ? kGpuMembers : static_cast<std::size_t>(options.threads);
  if (options.batch == 0) options.batch = options.cuda() ? kGpuPoints : kPoints;
  if (options.matrix_size == 0) options.matrix_size = options.cuda() ? kGpuMatrixSize : kMatrixSize;
}

std::unique_ptr<drift::Engine> make_engine(const BenchOptions& options) {
  return drift::make_engine(drift::enum_named<drift::Backend>("--backend", options.backend),
                            {.threads = options.threads,
                             .precision = drift::enum_named<drift::Precision>("--precision", options.precision),
                             .gpus = 1});  // as the product beside it
}

MeasureOptions measure_options(const BenchOptions& options) {
  MeasureOptions result = {options.threads, options.matrix_size, options.seconds, {}};
  if (options.cuda()) result.card = drift::enum_named<drift::Precision>("--precision", options.precision);
  return result;
}

void bench_train(BenchOptions options) {
  settle(options);
  const drift::NetworkSpec spec = bench_spec(options);
  drift::Recipe recipe = drift::enum_named<drift::RecipeName>("--recipe", options.recipe) == drift::RecipeName::paper
                             ? drift::paper_recipe()
                             : drift::default_recipe();
  recipe.batch = options.batch;
  const auto engine = make_engine(options);
  const Measurement m = measure_training(*engine, measure_options(options), spec, recipe, options.members, options.observations);
  const double step_ms =
      1e3 * static_cast<double>(std::min(options.batch, options.observations) * options.members) / m.rows_per_s;

  nlohmann::ordered_json json = {
      {"bench", "train"}, {"member_samples_per_s", m.rows_per_s}, {"flops_per_member_sample", drift::training_flops(spec)}};
  json.update(common_json(options, m, engine->name()));
  json["observations"] = options.observations;
  json["step_ms"] = step_ms;
  if (m.steps) json.update({{"copies_s", m.steps->copies_s}, {"steps_timed", m.steps->steps}, {"pairs", m.steps->pairs}});
  std::string text = fmt::format("{}, batch {}, {} recipe, {} observations\n", network_text(options, spec), options.batch,
                                 options.recipe, drift::grouped(static_cast<double>(options.observations)));
  text += fmt::format("  {} observations per second in training, all members together; {:.3g} ms per step\n",
                      drift::grouped(m.rows_per_s), step_ms);
  if (m.steps) {
    text +=
        fmt::format("  excluded: {:.3g} s per call to copy weights and observations to and from the GPU\n", m.steps->copies_s);
  }
  text += common_text(options, m);
  add_first_layers(*engine, options, spec, json, text);
  print_report(options, json, text);
}

void bench_predict(BenchOptions options) {
  settle(options);
  const drift::NetworkSpec spec = bench_spec(options);
  const auto engine = make_engine(options);
  const RandomData data(spec, options.batch);
  const drift::Ensemble ensemble = drift::draw_ensemble(spec, 1, options.members, options.threads);
  std::vector<float> mean(data.rows), variance(data.rows);
  const drift::PredictionViews views = {
      .mean = {mean.data(), data.rows, 1}, .variance = {variance.data(), data.rows, 1}, .members = {}};
  const auto work = [&](std::size_t repeats) {
    for (std::size_t i = 0; i < repeats; ++i) engine->predict(ensemble, data.coordinate_view(), views);
    return static_cast<double>(repeats * data.rows * options.members);
  };
  const Measurement m = measure(measure_options(options), drift::prediction_flops(spec), work);

  const double points = m.rows_per_s / static_cast<double>(options.members);
  nlohmann::ordered_json json = {{"bench", "predict"},
                                 {"points_per_s", points},
                                 {"member_points_per_s", m.rows_per_s},
                                 {"flops_per_member_point", drift::prediction_flops(spec)}};
  json.update(common_json(options, m, engine->name()));
  std::string text =
      fmt::format("{}, {} points at a time\n", network_text(options, spec), drift::grouped(static_cast<double>(options.batch)));
  text +=
      fmt::format("  {} points per second, predicted by the whole ensemble\n", drift::grouped(points)) + common_text(options, m);
  add_first_layers(*engine, options, spec, json, text);
  print_report(options, json, text);
}

template <class Value>
CLI::Option* add(CLI::App* verb, const char* name, Value& value, const char* type, const char* help) {
  return verb->add_option(name, value, help)->type_name(type)->capture_default_str();
}

std::shared_ptr<BenchOptions> add_common(CLI::App* verb) {
  auto options = std::make_shared<BenchOptions>();
  verb->add_flag("--json", options->json, "Print one JSON object");
  verb->add_flag("--spherical", options->spherical,
                 fmt::format("The spherical network, its first layer at mean degree {:.0f}", kMeanDegree));
  add(verb, "--members", options->members, "N", "Networks in the ensemble; 0 = one per thread, or ten on a GPU")
      ->check(whole_number(0, 10000));
  add(verb, "--threads", options->threads, "N", "Threads; 0 = one per core")->check(whole_number(0, 4096));
  add(verb, "--backend", options->backend, "NAME", "Backend: cpu, or cuda for a GPU")->check(one_of({"cpu", "cuda"}));
  add(verb, "--precision", options->precision, "NAME", "Precision of matrix products on a GPU: float32, tf32 or bf16")
      ->check(one_of_words<drift::Precision>());
  add(verb, "--frequencies", options->frequencies, "NAME",
      "Frequencies of the hidden layers: structured (fast transforms), orthogonal or independent (dense products)")
      ->check(one_of_words<drift::Frequencies>());
  add(verb, "--seconds", options->seconds, "S", "Minimum duration of the measurement, seconds")->check(positive_number());
  add(verb, "--matrix-size", options->matrix_size, "N", "Rows and columns of the reference product; 0 = 4096, or 8192 on a GPU")
      ->check(whole_number(0, 32768));
  return options;
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* bench = app.add_subcommand("bench", "Measure speed on this machine against the machine's limits");
  bench->require_subcommand(1);
  const std::uint64_t many = std::uint64_t{1} << 40;

  CLI::App* train = bench->add_subcommand("train", "Training of the paper's experiment-1 network on random observations");
  const auto training = add_common(train);
  add(train, "--batch", training->batch, "N", "Observations per step")->check(whole_number(1, many));
  add(train, "--observations", training->observations, "N", "Observations held in memory")->check(whole_number(1, many));
  add(train, "--recipe", training->recipe, "NAME", "Optimiser: the paper's Adam (paper) or drift's own (default)")
      ->check(one_of_words<drift::RecipeName>());
  train->callback([training] { bench_train(*training); });

  CLI::App* predict = bench->add_subcommand("predict", "Prediction by an ensemble of the same network");
  const auto predicting = add_common(predict);
  predicting->batch = 0;
  add(predict, "--points", predicting->batch, "N", "Points per prediction; 0 = 20,000, or 8 million on a GPU")
      ->check(whole_number(0, many));
  predict->callback([predicting] { bench_predict(*predicting); });

  add_bench_baselines(*bench);
}
