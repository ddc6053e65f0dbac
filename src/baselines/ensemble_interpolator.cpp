#include "baselines/ensemble_interpolator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "baselines/gp_adapter.h"
#include "core/blocks.h"
#include "core/threads.h"
#include "drift/error.h"
#include "drift/grouped.h"
#include "engine/training_memory.h"
#include "network/plan.h"

namespace drift {
namespace {

int threads_of(const InterpolatorControl& control) { return control.threads > 0 ? control.threads : available_threads(); }

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
        fmt::format("method {}: the network has {} outputs, and should have one", settings_.method, settings_.spec.outputs));
  }
}

bool EnsembleInterpolator::fit(const InterpolatorData& data, const InterpolatorControl& control) {
  const std::size_t n = data.training.values.rows;
  const int threads = threads_of(control);
  recipe_ = fitted_recipe(settings_.recipe, n, settings_.least_steps);
  require_memory(settings_.method, n, training_bytes(settings_.spec, recipe_, settings_.members, n, threads),
                 "lower members or width");
  engine_ = make_engine(control.backend, {.threads = threads, .precision = control.precision});
  ensemble_ = draw_ensemble(settings_.spec, control.seed, settings_.members, threads);
  TrainingState state;
  TrainOptions options;
  options.control.stop = control.stop;
  if (control.progress) {
    options.control.progress = [&](const Progress& progress) {
      control.progress(static_cast<double>(progress.step) / static_cast<double>(progress.steps), "training");
    };
  }
  if (!train(*engine_, ensemble_, state, data.training, recipe_, options)) return false;
  last_loss_ = mean_of_last_tenth(state);
  return true;
}

void EnsembleInterpolator::predict(MatrixView<const float> points, const PointForecast& out) const {
  if (engine_ == nullptr) throw UsageError(fmt::format("method {}: fit it before predicting", settings_.method));
  const std::size_t most = std::min(kPointsAtATime, points.rows);
  std::vector<float> mean(most), variance(most);
  const std::unique_ptr<Predictor> predictor = engine_->prepare(ensemble_);
  for_blocks(points.rows, [&](std::size_t first, std::size_t rows) {
    predictor->predict(points.middle_rows(first, rows),
                       {.mean = {mean.data(), rows, 1}, .variance = {variance.data(), rows, 1}, .members = {}});
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
  out.emplace_back("weights a member", grouped(static_cast<double>(parameters)));
  out.emplace_back("training", fmt::format("{:.4g} epochs in batches of {}", recipe_.epochs, recipe_.batch));
  if (recipe_.loss == LossKind::squared) {
    out.emplace_back("training rmse", fmt::format("{:.4g}", sd_from_engine(domain, std::sqrt(std::max(0.0, last_loss_)))));
  }
  return out;
}

}  // namespace drift
