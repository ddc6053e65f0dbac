// `drift bench baselines`: how fast the other methods are here, on observations simulated along tracks, beside the machine's own
// product of large matrices.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "bench_parts.h"
#include "drift/bench.h"
#include "drift/domain.h"
#include "drift/grouped.h"
#include "drift/interpolator.h"
#include "drift/parse_number.h"
#include "drift/simulate.h"
#include "drift/truth.h"
#include "number_checks.h"
#include "print.h"
#include "progress.h"

namespace {

struct BaselineOptions {
  std::vector<std::string> only = {"nngp", "experts", "svgp", "neural"};
  bool json = false;
  int threads = 0;
  std::size_t observations = 1000000, points = 200000, neighbours = 32;
  std::size_t experts = 1225, observations_each = 500;
  std::size_t inducing = 1000, batch = 1024, steps = 30;
  double seconds = 5.0;
  int matrix_size = 4096;
};

// Wall and processor time.
struct Times {
  double wall_s = 0.0, core_s = 0.0;
  Times operator-(const Times& other) const { return {wall_s - other.wall_s, core_s - other.core_s}; }
};
Times now() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec); };
  return {std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(),
          seconds(usage.ru_utime) + seconds(usage.ru_stime)};
}

// Observations of the synthetic field along nine days of tracks over the Arctic, as methods take them.
class Tracks {
 public:
  explicit Tracks(std::size_t count, int threads) {
    drift::SimulateOptions options;
    options.threads = threads;
    options.rate_hz = drift::rate_for(count, options);
    const drift::Observations seen = drift::simulate(drift::synthetic_truth().truth, options);
    domain = drift::fit_domain(drift::choose_domain(seen), seen);
    size = seen.size();
    coordinates_.resize(3 * size);
    drift::engine_rows(domain, seen.lon_deg, seen.lat_deg, seen.time_days,
                       drift::MatrixView<float>(coordinates_.data(), size, 3));
    for (const double value : seen.value) values_.push_back(static_cast<float>(domain.value.to_engine(value)));
  }

  drift::InterpolatorData data() const {
    return {.training = {.coordinates = coordinates(), .values = {values_.data(), size, 1}},
            .space = drift::Space::plane,
            .space_coordinates = 2};
  }
  drift::MatrixView<const float> coordinates() const { return {coordinates_.data(), size, 3}; }

  drift::Domain domain;
  std::size_t size = 0;

 private:
  std::vector<float> coordinates_, values_;
};

class Baselines {
 public:
  explicit Baselines(BaselineOptions options) : options_(std::move(options)) {
    if (options_.threads == 0) options_.threads = drift::default_threads();
  }

  void run() {
    gemm_ = drift::gemm_gflops(options_.threads, options_.matrix_size);
    for (const std::string& part : options_.only) {
      if (part == "nngp") nearest();
      if (part == "experts") experts();
      if (part == "svgp") inducing();
      if (part == "neural") neural();
    }
    json_["bench"] = "baselines";
    json_["threads"] = options_.threads;
    json_["gemm_gflops"] = gemm_;
    json_["gemm_library"] = drift::gemm_library_name();
    json_["peak_rss_mb"] = drift::peak_rss_mib();
    if (options_.json)
      print_json(json_);
    else
      print("{}On {} threads; this machine's best product: {:.1f} GFLOP/s by {}.\n", text_, options_.threads, gemm_,
            drift::gemm_library_name());
  }

 private:
  struct Fit {
    std::unique_ptr<drift::Interpolator> method;
    Times times;
  };
  Fit fit(const std::string& text, const Tracks& tracks) const {
    Fit out;
    out.method = drift::make_interpolator(text, tracks.domain);
    ProgressLine line(text);
    const Times begun = now();
    out.method->fit(tracks.data(), {.seed = 1, .threads = options_.threads},
                    {.progress = [&](double share, const std::string& what) { line.update(share, 1.0, what); }});
    out.times = now() - begun;
    return out;
  }

  static nlohmann::ordered_json found(const Fit& fit, const drift::Domain& domain) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for (const auto& [name, value] : fit.method->findings(domain)) json[name] = value;
    return json;
  }

  // Points between the tracks: the middle of two observations far from each other in the list.
  static std::vector<float> between(const Tracks& tracks, std::size_t count) {
    std::vector<float> points(3 * count);
    const drift::MatrixView<const float> all = tracks.coordinates();
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t a = (i * 7919) % all.rows, b = (i * 104729 + 12345) % all.rows;
      for (std::size_t c = 0; c < 3; ++c) points[3 * i + c] = 0.5f * (all(a, c) + all(b, c));
    }
    return points;
  }

  Times predict(const Fit& fit, const Tracks& tracks, std::size_t count) const {
    const std::vector<float> points = between(tracks, count);
    std::vector<double> mean(count), sd(count), total(count);
    const Times begun = now();
    fit.method->predict({points.data(), count, 3}, {.mean = mean, .sd_epistemic = sd, .sd_total = total});
    return now() - begun;
  }

  void nearest() {
    const Tracks tracks(options_.observations, options_.threads);
    const Fit one = fit(fmt::format("nngp:neighbours={}", options_.neighbours), tracks);
    const Times prediction = predict(one, tracks, options_.points);
    const double rate = static_cast<double>(options_.points) / prediction.wall_s;
    json_["nngp"] = {{"observations", tracks.size},
                     {"neighbours", options_.neighbours},
                     {"fit_s", one.times.wall_s},
                     {"fit_core_s", one.times.core_s},
                     {"points", options_.points},
                     {"predict_s", prediction.wall_s},
                     {"points_per_s", rate},
                     {"points_per_core_s", static_cast<double>(options_.points) / prediction.core_s},
                     {"findings", found(one, tracks.domain)}};
    text_ += fmt::format("nngp, {} observations, {} neighbours: fitted in {:.1f} s ({:.1f} core-s), {} points/s\n",
                         drift::grouped(static_cast<double>(tracks.size)), options_.neighbours, one.times.wall_s,
                         one.times.core_s, drift::grouped(rate));
  }

  // Places of a square lattice over the tracks' round region, so that about as many hold observations as were asked for. Within
  // its radius of 1.5 spacings an expert has 7 observations for each one that falls to it alone; twice as many leave few places
  // short.
  void experts() {
    const auto wanted = static_cast<double>(options_.experts), each = static_cast<double>(options_.observations_each);
    const Tracks tracks(static_cast<std::size_t>(std::max(1000.0, 2.0 * wanted * each / 7.0)), options_.threads);
    float least = INFINITY, most = -INFINITY;
    for (std::size_t i = 0; i < tracks.size; ++i) {
      least = std::min(least, tracks.coordinates()(i, 0));
      most = std::max(most, tracks.coordinates()(i, 0));
    }
    const double side = drift::lengthscale_from_engine(tracks.domain, static_cast<double>(most) - static_cast<double>(least));
    const double spacing = side * std::sqrt(0.25 * std::numbers::pi / wanted);
    const Fit one = fit(fmt::format("experts:spacing={:.6g},max_observations={}", spacing, options_.observations_each), tracks);
    const nlohmann::ordered_json findings = found(one, tracks.domain);
    std::string count = findings.value("experts", "0");
    std::erase(count, ',');
    const double there = drift::parse_number<double>(count).value_or(0.0);
    json_["experts"] = {{"experts", there},
                        {"observations_each_at_most", options_.observations_each},
                        {"observations", tracks.size},
                        {"spacing_km", spacing},
                        {"fit_s", one.times.wall_s},
                        {"fit_core_s", one.times.core_s},
                        {"core_s_per_expert", one.times.core_s / there},
                        {"findings", findings}};
    text_ += fmt::format("experts, {:.0f} of at most {} observations: fitted in {:.1f} s ({:.1f} core-s, {:.2f} per expert)\n",
                         there, options_.observations_each, one.times.wall_s, one.times.core_s, one.times.core_s / there);
  }

  // Steps by the difference of a long and a short fit: what both begin and end with falls out.
  void inducing() {
    const std::size_t count = options_.batch * 20;
    const Tracks tracks(count, options_.threads);
    const auto text = [&](std::size_t steps) {
      return fmt::format("svgp:inducing={},batch={},steps={},epochs=0.01", options_.inducing, options_.batch, steps);
    };
    const auto steps = static_cast<double>(options_.steps);
    const Fit few = fit(text(2), tracks), many = fit(text(2 + options_.steps), tracks);
    const Times difference = many.times - few.times;
    json_["svgp"] = {{"inducing", options_.inducing},
                     {"batch", options_.batch},
                     {"steps", options_.steps},
                     {"step_ms", 1e3 * difference.wall_s / steps},
                     {"step_core_ms", 1e3 * difference.core_s / steps},
                     {"findings", found(many, tracks.domain)}};
    text_ += fmt::format(
        "svgp, {} inducing points, batch {}: {:.1f} ms per step ({:.1f} core-ms), from two fits {} steps apart\n",
        options_.inducing, options_.batch, 1e3 * difference.wall_s / steps, 1e3 * difference.core_s / steps, options_.steps);
  }

  // The paper's sizes.
  void neural() {
    const drift::DenseSpec relu = {.layers = 6, .width = 1024, .activation = drift::Activation::relu};
    const drift::DenseSpec sine = {.layers = 4, .width = 512, .activation = drift::Activation::sine};
    for (const auto& [name, dense] : {std::pair("mlp", relu), std::pair("siren", sine)}) {
      const drift::NetworkSpec spec = drift::dense_spec(drift::Space::plane, 2, true, dense);
      drift::Recipe recipe = drift::paper_recipe();
      recipe.rate = 1e-5;  // values are random: nothing is to be learnt, nothing must diverge
      const auto engine = drift::make_cpu_engine({.threads = options_.threads});
      const auto members = static_cast<std::size_t>(options_.threads);
      const Measurement m = measure_training(*engine, {options_.threads, options_.matrix_size, options_.seconds, {}}, spec,
                                             recipe, members, 100000);
      const double product = m.product->gflops;
      gemm_ = std::max(gemm_, product);
      json_[name] = {{"layers", dense.layers},
                     {"width", dense.width},
                     {"members", members},
                     {"batch", recipe.batch},
                     {"member_samples_per_s", m.rows_per_s},
                     {"gflops", m.gflops},
                     {"gemm_gflops", product},
                     {"fraction_of_gemm", m.gflops / product}};
      text_ += fmt::format("{}, {} layers of {}: {} observations per second in training, {:.0f} % of the product's speed\n", name,
                           dense.layers, dense.width, drift::grouped(m.rows_per_s), 100.0 * m.gflops / product);
    }
  }

  BaselineOptions options_;
  double gemm_ = 0.0;
  nlohmann::ordered_json json_;
  std::string text_;
};

template <class Value>
CLI::Option* add(CLI::App* verb, const char* name, Value& value, const char* help) {
  return verb->add_option(name, value, help)->type_name("")->capture_default_str();
}

}  // namespace

void add_bench_baselines(CLI::App& bench) {
  const std::uint64_t many = std::uint64_t{1} << 40;
  auto options = std::make_shared<BaselineOptions>();
  CLI::App* verb = bench.add_subcommand("baselines", "Measure the other methods on simulated tracks");
  verb->add_flag("--json", options->json, "Print one JSON object");
  verb->add_option("--only", options->only, "Measure only this: nngp, experts, svgp or neural [all of them]")
      ->type_name("")
      ->check(one_of({"nngp", "experts", "svgp", "neural"}));
  add(verb, "--observations", options->observations, "Observations for nngp")->check(whole_number(1000, many));
  add(verb, "--points", options->points, "Points predicted by nngp")->check(whole_number(1, many));
  add(verb, "--neighbours", options->neighbours, "Neighbours per prediction of nngp")->check(whole_number(1, 1000));
  add(verb, "--experts", options->experts, "Approximate number of local experts")->check(whole_number(1, 1000000));
  add(verb, "--observations-each", options->observations_each, "Approximate number of observations per expert")
      ->check(whole_number(10, 100000));
  add(verb, "--inducing", options->inducing, "Inducing points of svgp")->check(whole_number(2, 20000));
  add(verb, "--batch", options->batch, "Observations per step of svgp")->check(whole_number(1, 1000000));
  add(verb, "--steps", options->steps, "Steps of svgp to measure")->check(whole_number(1, 100000));
  add(verb, "--threads", options->threads, "Threads; 0 = one per core")->check(whole_number(0, 4096));
  add(verb, "--seconds", options->seconds, "Minimum duration of each measurement of networks, seconds")->check(positive_number());
  add(verb, "--matrix-size", options->matrix_size, "Rows and columns of the reference product")->check(whole_number(16, 32768));
  verb->callback([options] { Baselines(*options).run(); });
}
