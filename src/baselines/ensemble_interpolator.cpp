#include "baselines/ensemble_interpolator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "baselines/gp_adapter.h"
#include "core/blocks.h"
#include "core/threads.h"
#include "drift/error.h"
#include "drift/grouped.h"
#include "drift/state.h"
#include "engine/training_memory.h"
#include "network/plan.h"

namespace drift {
namespace {

double mean_of_last_tenth(const TrainingState& state) {
  double sum = 0.0;
  std::size_t count = 0;
  for (const MemberProgress& member : state.members) {
    const std::size_t tenth = (member.losses.size() + 9) / 10;
    for (std::size_t i = member.losses.size() - tenth; i < member.losses.size(); ++i) sum += member.losses[i];
    count += tenth;
  }
  return sum / static_cast<double>(std::max<std::size_t>(count, 1));
}

}  // namespace

Recipe fitted_recipe(Recipe recipe, std::size_t observations, std::size_t least_steps) {
  recipe.batch = std::clamp<std::size_t>(observations, 1, recipe.batch);
  const std::size_t steps_per_epoch = (std::max<std::size_t>(observations, 1) - 1) / recipe.batch + 1;
  recipe.epochs = std::max(recipe.epochs, static_cast<double>(least_steps) / static_cast<double>(steps_per_epoch));
  return recipe;
}

EnsembleInterpolator::EnsembleInterpolator(EnsembleSettings settings) : settings_(std::move(settings)) {
  check(settings_.spec);
  check(settings_.recipe);
  if (settings_.spec.outputs != 1) {
    throw UsageError(
        fmt::format("method {}: the network must have one output, not {}", settings_.method, settings_.spec.outputs));
  }
}

EnsembleInterpolator::EnsembleInterpolator(std::string method, const Recipe& recipe) {
  settings_.method = std::move(method);
  settings_.recipe = recipe;
}

void EnsembleInterpolator::fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) {
  const std::size_t n = data.training.values.rows;
  const int threads = threads_or_all(options.threads);
  recipe_ = fitted_recipe(settings_.recipe, n, settings_.least_steps);
  require_memory(settings_.method, n, training_bytes(settings_.spec, recipe_, settings_.members, n, threads),
                 "lower members or width");
  engine_ = make_engine(options.backend, {.threads = threads, .precision = options.precision});
  ensemble_ = draw_ensemble(settings_.spec, options.seed, settings_.members, threads);
  TrainingState state;
  train(*engine_, ensemble_, state, data.training, recipe_, {.control = control});
  last_loss_ = mean_of_last_tenth(state);
}

// Of every member its numbers as they are, [members, numbers]: the spec tells what they mean.
void EnsembleInterpolator::save(State& state) const {
  const std::size_t members = ensemble_.members.size();
  std::vector<float> fixed, parameters;
  std::vector<std::int64_t> indices;
  for (const Member& member : ensemble_.members) {
    fixed.insert(fixed.end(), member.fixed.begin(), member.fixed.end());
    parameters.insert(parameters.end(), member.parameters.begin(), member.parameters.end());
    indices.push_back(member.index);
  }
  const Plan plan = make_plan(ensemble_.spec);
  state.put("spec", to_json(ensemble_.spec));
  state.put("epochs", recipe_.epochs);
  state.put("batch", static_cast<double>(recipe_.batch));
  state.put("loss", last_loss_);
  state.put("members", {members}, std::move(indices));
  state.put("fixed", {members, plan.fixed_size}, std::move(fixed));
  state.put("parameters", {members, plan.parameter_size}, std::move(parameters));
}

void EnsembleInterpolator::restore(const State& state, const Domain& domain) {
  try {
    settings_.spec = network_spec_from_json(state.text("spec"));
    check(settings_.spec);
  } catch (const UsageError& error) {
    throw Error(fmt::format("the method's network is invalid: {}", error.what()));
  }
  const NetworkSpec& spec = settings_.spec;
  const int coordinates = spec.coordinates(), space = space_coordinates(domain);
  if (!spec.dense || spec.space != space_of(domain) || spec.outputs != 1 || (coordinates != space && coordinates != space + 1))
    throw Error(fmt::format("the method's network takes {} coordinates but its domain has {}", coordinates, space));
  const Plan plan = make_plan(spec);
  const std::span<const std::int64_t> indices = state.tensor<std::int64_t>("members", {State::kAny});
  if (indices.empty()) throw Error("the method's state has no networks");
  const std::span<const float> fixed = state.tensor<float>("fixed", {indices.size(), plan.fixed_size});
  const std::span<const float> parameters = state.tensor<float>("parameters", {indices.size(), plan.parameter_size});
  ensemble_ = {spec, 0, {}};
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::span<const float> own = fixed.subspan(i * plan.fixed_size, plan.fixed_size);
    const std::span<const float> weights = parameters.subspan(i * plan.parameter_size, plan.parameter_size);
    ensemble_.members.push_back({.index = static_cast<std::uint32_t>(indices[i]),
                                 .fixed = {own.begin(), own.end()},
                                 .parameters = {weights.begin(), weights.end()}});
  }
  recipe_ = settings_.recipe;
  recipe_.epochs = state.number("epochs", 0.0, 1e9);
  recipe_.batch = state.count("batch", 1, 1'000'000'000);
  last_loss_ = state.number("loss", -1e300, 1e300);
  engine_ = make_cpu_engine();
}

void EnsembleInterpolator::predict(MatrixView<const float> points, const PointForecast& out, const Workers& workers) const {
  if (engine_ == nullptr) throw UsageError(fmt::format("method {}: fit it before predicting", settings_.method));
  Engine& engine = workers.engine != nullptr ? *workers.engine : *engine_;
  const std::size_t most = std::min(kPointsAtATime, points.rows);
  std::vector<float> mean(most), variance(most);
  const std::unique_ptr<Predictor> predictor = engine.prepare(ensemble_);
  for_blocks(points.rows, [&](std::size_t first, std::size_t rows) {
    PredictionViews views = {.mean = {mean.data(), rows, 1}, .variance = {variance.data(), rows, 1}, .members = {}};
    if (!out.members.empty()) views.members = {out.members.data() + first * members(), rows, members()};
    predictor->predict(points.middle_rows(first, rows), views);
    for (std::size_t i = 0; i < rows; ++i) {
      const double sd = std::sqrt(static_cast<double>(variance[i]));
      if (!out.mean.empty()) out.mean[first + i] = static_cast<double>(mean[i]);
      if (!out.sd_epistemic.empty()) out.sd_epistemic[first + i] = sd;
      if (!out.sd_total.empty()) out.sd_total[first + i] = sd;
    }
  });
}

std::vector<std::pair<std::string, std::string>> EnsembleInterpolator::findings(const Domain& domain) const {
  const Plan plan = make_plan(settings_.spec);
  std::size_t parameters = 0;
  for (const TensorInfo& tensor : plan.parameter_tensors) parameters += tensor.offset < plan.hyper ? tensor.size() : 0;
  std::vector<std::pair<std::string, std::string>> out;
  out.emplace_back("weights per member", grouped(static_cast<double>(parameters)));
  out.emplace_back("training", fmt::format("{:.4g} epochs in batches of {}", recipe_.epochs, recipe_.batch));
  if (recipe_.loss == LossKind::squared) {
    out.emplace_back("training rmse", fmt::format("{:.4g}", sd_from_engine(domain, std::sqrt(std::max(0.0, last_loss_)))));
  }
  return out;
}

}  // namespace drift
