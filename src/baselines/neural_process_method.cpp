// The conditional neural process (neural_process.h) as an interpolator. Its sd is of an observation, noise and ignorance
// together: it has no other, so that sd_epistemic is the same number and says too much.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>

#include "baselines/ensemble_interpolator.h"
#include "baselines/gp_adapter.h"
#include "baselines/methods.h"
#include "baselines/neural_process.h"
#include "core/random.h"
#include "core/threads.h"
#include "drift/error.h"
#include "drift/grouped.h"
#include "drift/state.h"
#include "engine/cpu/kernels.h"
#include "gp/variational_layer_tasks.h"
#include "network/draw.h"
#include "train/batches.h"
#include "train/schedule.h"

namespace drift {
namespace {

constexpr std::uint32_t kEncoder = 0, kDecoder = 1;  // their places among members, for random keys

// A network's weights and Adam's moments.
struct Trained {
  struct Part {
    std::size_t first, size;
  };

  std::vector<TensorInfo> tensors;
  std::vector<float> parameters, moment1, moment2;

  Trained() = default;
  Trained(const NetworkSpec& spec, std::uint64_t seed, std::uint32_t index) {
    const Plan plan = make_plan(spec);
    tensors = plan.parameter_tensors;
    parameters = draw_member(plan, seed, index).parameters;
    moment1.resize(parameters.size());
    moment2.resize(parameters.size());
  }

  std::size_t weights() const {
    std::size_t sum = 0;
    for (const TensorInfo& tensor : tensors) sum += tensor.size();
    return sum;
  }

  // Parts of the tensors, as tasks.
  std::vector<Part> parts() const {
    constexpr std::size_t kMost = 16384;
    std::vector<Part> out;
    for (const TensorInfo& tensor : tensors) {
      for (std::size_t first = 0; first < tensor.size(); first += kMost) {
        out.push_back({tensor.offset + first, std::min(kMost, tensor.size() - first)});
      }
    }
    return out;
  }

  void step(const cpu::AdamStep& step, const Part& part, std::vector<const float*> gradients) {
    for (const float*& gradient : gradients) gradient += part.first;
    const auto of = [&](std::vector<float>& numbers) { return std::span(numbers.data() + part.first, part.size); };
    cpu::adam_step(step, gradients, of(parameters), of(moment1), of(moment2));
  }
};

cpu::AdamStep adam_of(const Recipe& recipe, std::uint64_t step, std::uint64_t steps) {
  const double t = static_cast<double>(step + 1);
  return {.rate = static_cast<float>(recipe.rate * rate_multiplier(recipe, step, steps)),
          .beta1 = static_cast<float>(recipe.adam_beta1),
          .beta2 = static_cast<float>(recipe.adam_beta2),
          .epsilon = static_cast<float>(recipe.adam_epsilon),
          .correction1 = static_cast<float>(1.0 - std::pow(recipe.adam_beta1, t)),
          .correction2 = static_cast<float>(1.0 - std::pow(recipe.adam_beta2, t)),
          .decay = 0.0F};
}

struct ProcessSettings {
  int depth = 4;
  int width = 256;
  Recipe recipe;
  std::size_t least_steps = 2000;
  std::size_t context = 20000;
};

class NeuralProcessInterpolator : public Interpolator {
 public:
  explicit NeuralProcessInterpolator(const ProcessSettings& settings) : settings_(settings) {}

  void fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) override {
    rows_ = usable_rows(data);
    threads_ = threads_or_all(options.threads);
    coordinates_ = data.training.coordinates.cols;
    specs_ = process_specs(static_cast<int>(coordinates_), settings_.depth, settings_.width);
    recipe_ = fitted_recipe(settings_.recipe, rows_.size(), settings_.least_steps);
    require_memory("cnp", rows_.size(), bytes(), "lower width or batch");
    encoder_ = Trained(specs_.encoder, options.seed, kEncoder);
    decoder_ = Trained(specs_.decoder, options.seed, kDecoder);
    train(data, options.seed, control);
    const std::vector<std::size_t> context = context_rows(options.seed);
    context_ = context.size();
    code_ = encode_context(specs_, encoder_.parameters, data.training.coordinates, data.training.values, context, threads_);
  }

  using Interpolator::predict;
  void predict(MatrixView<const float> points, const PointForecast& out, const Workers& workers) const override {
    if (code_.empty()) throw UsageError("method cnp: fit it before predicting");
    if (points.cols != coordinates_) {
      throw UsageError(
          fmt::format("method cnp: the points have {} coordinates, but the observations had {}", points.cols, coordinates_));
    }
    const std::span<double> sd = out.sd_total.empty() ? out.sd_epistemic : out.sd_total;
    decode_points(specs_, decoder_.parameters, code_, points, out.mean, sd, workers.threads > 0 ? workers.threads : threads_);
    if (!out.sd_total.empty() && !out.sd_epistemic.empty()) std::copy(sd.begin(), sd.end(), out.sd_epistemic.begin());
  }

  // Of the context its code alone is needed.
  void save(State& state) const override {
    if (code_.empty()) throw UsageError("method cnp: fit it before saving it");
    state.put("coordinates", static_cast<double>(coordinates_));
    state.put("context", static_cast<double>(context_));
    state.put("epochs", recipe_.epochs);
    state.put("batch", static_cast<double>(recipe_.batch));
    state.put("nll", last_loss_);
    state.put("code", {code_.size()}, code_);
    state.put("encoder", {encoder_.parameters.size()}, encoder_.parameters);
    state.put("decoder", {decoder_.parameters.size()}, decoder_.parameters);
  }

  void restore(const State& state, const Domain& domain) override {
    coordinates_ = state.count("coordinates", 2, 4);
    const auto space = static_cast<std::size_t>(space_coordinates(domain));
    if (coordinates_ != space && coordinates_ != space + 1)
      throw Error(fmt::format("the method's state has {} coordinates but its domain {}", coordinates_, space));
    specs_ = process_specs(static_cast<int>(coordinates_), settings_.depth, settings_.width);
    threads_ = available_threads();
    const auto read = [&](const char* name, const NetworkSpec& spec) {
      Trained part;
      const Plan plan = make_plan(spec);
      const std::span<const float> numbers = state.tensor<float>(name, {plan.parameter_size});
      part.tensors = plan.parameter_tensors;
      part.parameters.assign(numbers.begin(), numbers.end());
      return part;
    };
    encoder_ = read("encoder", specs_.encoder);
    decoder_ = read("decoder", specs_.decoder);
    const std::span<const float> code = state.tensor<float>("code", {static_cast<std::size_t>(specs_.encoder.outputs)});
    code_.assign(code.begin(), code.end());
    context_ = state.count("context", 1, std::size_t{1} << 53U);
    recipe_ = settings_.recipe;
    recipe_.epochs = state.number("epochs", 0.0, 1e9);
    recipe_.batch = state.count("batch", 1, 1'000'000'000);
    last_loss_ = state.number("nll", -1e300, 1e300);
  }

  bool knows_noise() const override { return true; }

  std::vector<std::pair<std::string, std::string>> findings(const Domain&) const override {
    return {{"weights", grouped(static_cast<double>(encoder_.weights() + decoder_.weights()))},
            {"training", fmt::format("{:.4g} epochs in batches of {}", recipe_.epochs, recipe_.batch)},
            {"training nll", fmt::format("{:.4g}", last_loss_)},
            {"context", grouped(static_cast<double>(context_))}};
  }

 private:
  // Rows of weight zero say nothing.
  static std::vector<std::size_t> usable_rows(const InterpolatorData& data) {
    std::vector<std::size_t> rows;
    const TrainingSet& set = data.training;
    for (std::size_t i = 0; i < set.values.rows; ++i) {
      if (!set.weights.empty() && !(set.weights[i] > 0.0F)) continue;
      bool finite = std::isfinite(set.values(i, 0));
      for (std::size_t d = 0; d < set.coordinates.cols; ++d) finite = finite && std::isfinite(set.coordinates(i, d));
      if (!finite) throw Error(fmt::format("method cnp: row {} of the observations holds a number that is not finite", i));
      rows.push_back(i);
    }
    if (rows.size() < 2) {
      throw Error(fmt::format("method cnp: {} observations are too few, it needs 2", rows.size()));
    }
    return rows;
  }

  // Weights with their moments, and for each slice of rows a gradient and a block's features with theirs.
  double bytes() const {
    const auto weights = static_cast<double>(make_plan(specs_.encoder).parameter_size + make_plan(specs_.decoder).parameter_size);
    const double slices = std::ceil(static_cast<double>(recipe_.batch) / ProcessPass<float>::kSliceRows);
    const double features = double{ProcessPass<float>::kSliceRows} * settings_.width * 2.0 * (2.0 * settings_.depth + 3.0);
    return 4.0 * (3.0 * weights + slices * (weights + features));
  }

  void train(const InterpolatorData& data, std::uint64_t seed, const Control& control) {
    const BatchOrder order(rows_.size(), recipe_.batch, seed, kEncoder);
    ProcessPass<float> pass(specs_, recipe_.batch, threads_);
    const std::uint64_t steps = total_steps(recipe_, rows_.size());
    auto reported = std::chrono::steady_clock::now();
    double sum = 0.0;
    std::uint64_t counted = 0;
    for (std::uint64_t step = 0; step < steps; ++step) {
      control.check_stop("training was stopped");
      const ProcessBatch<float> batch = batch_of(data, order, step, seed);
      const double loss = pass.run(encoder_.parameters.data(), decoder_.parameters.data(), batch);
      if (!std::isfinite(loss)) {
        throw Error(fmt::format("method cnp: training diverged at step {} of {}, at learning rate {:.3g}; lower rate", step + 1,
                                steps, recipe_.rate));
      }
      update(adam_of(recipe_, step, steps), pass);
      if (step >= steps - (steps + 9) / 10) {
        sum += loss;
        ++counted;
      }
      const auto now = std::chrono::steady_clock::now();
      if (!control.progress || (step + 1 < steps && now - reported < std::chrono::milliseconds(200))) continue;
      reported = now;
      control.progress(static_cast<double>(step + 1) / static_cast<double>(steps), "training");
    }
    last_loss_ = sum / static_cast<double>(counted);
  }

  // Rows in their shuffled order; the first of them, between one and all but one, are the context.
  ProcessBatch<float> batch_of(const InterpolatorData& data, const BatchOrder& order, std::uint64_t step,
                               std::uint64_t seed) const {
    std::vector<std::uint64_t> places(order.size_of(step));
    order.indices(step, 0, places);
    ProcessBatch<float> batch;
    for (const std::uint64_t place : places) {
      const std::size_t row = rows_[place];
      const float* x = data.training.coordinates.row(row);
      batch.coordinates.insert(batch.coordinates.end(), x, x + coordinates_);
      batch.values.push_back(data.training.values(row, 0));
      batch.weights.push_back(data.training.weights.empty() ? 1.0F : data.training.weights[row]);
    }
    RandomStream random({.seed = seed, .member = kDecoder, .purpose = Purpose::split}, static_cast<std::uint32_t>(step));
    const auto most = static_cast<double>(std::max<std::size_t>(batch.rows(), 2) - 1);
    batch.context = 1 + static_cast<std::size_t>(random.uniform() * most);
    batch.context = std::min(batch.context, batch.rows());
    return batch;
  }

  void update(const cpu::AdamStep& step, const ProcessPass<float>& pass) {
    const std::vector<Trained::Part> encoder = encoder_.parts(), decoder = decoder_.parts();
    gp::run_tasks(threads_, encoder.size() + decoder.size(), [&](std::size_t task) {
      if (task < encoder.size()) {
        encoder_.step(step, encoder[task], pass.encoder_gradients());
      } else {
        decoder_.step(step, decoder[task - encoder.size()], pass.decoder_gradients());
      }
    });
  }

  // All observations, or as many as the setting allows, drawn by the seed.
  std::vector<std::size_t> context_rows(std::uint64_t seed) const {
    if (rows_.size() <= settings_.context) return rows_;
    const Shuffle shuffle(rows_.size(), seed, kDecoder, 0);
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < settings_.context; ++i) chosen.push_back(rows_[shuffle(i)]);
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

  ProcessSettings settings_;
  std::vector<std::size_t> rows_;  // that are used
  std::size_t coordinates_ = 0;
  int threads_ = 1;
  ProcessSpecs specs_;
  Recipe recipe_;
  Trained encoder_, decoder_;
  std::vector<float> code_;
  std::size_t context_ = 0;
  double last_loss_ = 0.0;
};

}  // namespace

Method neural_process_method() {
  MethodInfo info{
      .name = "cnp",
      .title = "Conditional neural process",
      .summary = "encoder, mean over the observations, decoder with mean and sd",
      .source = "Garnelo et al. 2018",
      .options = {{"depth", "layers of the encoder (the decoder has one more), 2 to 100; the paper's 8 need a GPU", "4"},
                  {"width", "width of the hidden layers and of the code, 1 to 8192; the paper's 1000 need a GPU", "256"},
                  {"rate", "Adam's learning rate, which falls to zero along a cosine", "0.001"},
                  {"epochs", "times each observation is seen; more if `steps` requires it", "10"},
                  {"steps", "minimum number of steps, 0 to 1e7", "2000"},
                  {"batch", "observations per step, context and targets, 2 to 1e5", "1024"},
                  {"context", "training observations used for predictions, at least 1", "20000"}}};
  return {info, [](const MethodSettings& settings, const Domain&) {
            ProcessSettings process;
            process.depth = static_cast<int>(settings.count("depth", 4, 2, 100));
            process.width = static_cast<int>(settings.count("width", 256, 1, 8192));
            process.recipe.optimiser = Optimiser::adam;
            process.recipe.rate = settings.number("rate", 1e-3, 1e-9, 10.0);
            process.recipe.epochs = settings.number("epochs", 10.0, 1e-6, 1e6);
            process.recipe.batch = settings.count("batch", 1024, 2, 100'000);
            process.least_steps = settings.count("steps", 2000, 0, 10'000'000);
            process.context = settings.count("context", 20000, 1, 1'000'000'000);
            return std::make_unique<NeuralProcessInterpolator>(process);
          }};
}

}  // namespace drift
