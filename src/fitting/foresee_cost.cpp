// Foresees a fit's time on this machine from a few seconds of it: some training steps, the process of fewer targets and rows,
// some of its predictions. Rows are thinned, since neither a step nor a solution depends on how many there are.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "drift/fit.h"
#include "fitting/method_data.h"
#include "fitting/networks.h"
#include "fitting/plan_split.h"
#include "process/process.h"
#include "settings/settings_under.h"
#include "train/schedule.h"

namespace drift {
namespace {

constexpr std::size_t kThinned = 20000;  // rows that are timed
constexpr std::size_t kFewTargets = 30, kMoreTargets = 90;
constexpr double kEvaluations = 105.0;  // of all targets that a search takes: 106, 126 and 130 on three real sets, some of fewer
constexpr std::size_t kTimedPoints = 300;
constexpr double kTimedSeconds = 1.0;          // of training
constexpr std::size_t kOutOfFoldRows = 20000;  // that a fit forecasts, at most

double elapsed(const std::function<void()>& work) {
  const auto begun = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

// The plan with every k-th training row.
FitPlan thinned(const FitPlan& plan) {
  FitPlan few = plan;
  few.split.training.clear(), few.folds.of.clear(), few.folds.group.clear();
  const std::size_t all = plan.split.training.size(), stride = std::max<std::size_t>(1, (all + kThinned - 1) / kThinned);
  for (std::size_t i = 0; i < all; i += stride) {
    few.split.training.push_back(plan.split.training[i]);
    if (!plan.folds.of.empty()) few.folds.of.push_back(plan.folds.of[i]);
    if (!plan.folds.group.empty()) few.folds.group.push_back(plan.folds.group[i]);
  }
  return few;
}

double training_seconds(const FitPlan& plan, const TrainingSet& rows, const Control& control) {
  const Control silent = {.stop = control.stop};
  const std::unique_ptr<Engine> engine = make_engine(plan.settings);
  Ensemble ensemble = draw_networks(plan);
  TrainingState state;
  const std::uint64_t last = total_steps(plan.recipe, rows.values.rows),
                      all = total_steps(plan.recipe, plan.split.training.size());
  std::uint64_t step = std::min<std::uint64_t>(2, last), timed = 0;
  engine->advance(ensemble, state, rows, plan.recipe, step, silent);  // warms up
  control.check_stop("stopped while planning");
  double seconds = 0.0;
  for (std::uint64_t more = 1; seconds < kTimedSeconds && step < last; more *= 2) {
    const std::uint64_t to = std::min(step + more, last);
    seconds += elapsed([&] { engine->advance(ensemble, state, rows, plan.recipe, to, silent); });
    control.check_stop("stopped while planning");
    timed += to - step;
    step = to;
  }
  return timed == 0 ? 0.0 : seconds / static_cast<double>(timed) * static_cast<double>(all);
}

// The search solves one system per target and evaluation; what does not depend on the targets grows with the rows.
double process_seconds(const FitPlan& plan, const InterpolatorData& data, std::size_t judged, const Control& control) {
  const PlaceData places = {
      .coordinates = data.training.coordinates,
      .values = {data.training.values.data, data.training.values.rows},
      .track = data.track,
      .platform = data.platform,
      .fold = data.fold,
      .groups = data.group.empty() ? 0 : *std::max_element(data.group.begin(), data.group.end()) + std::size_t{1}};
  ProcessSettings settings;
  settings.seed = plan.settings.seed, settings.threads = plan.settings.threads;
  const Control silent = {.stop = control.stop};
  const std::size_t usual = std::min(settings.targets, plan.split.training.size());
  // The search for few targets takes more evaluations: time is per target and evaluation.
  ProcessFit fit;
  const auto search = [&](std::size_t targets) {
    settings.targets = targets;
    const double seconds = elapsed([&] { fit = fit_process(data.space, data.has_time(), places, settings, silent); });
    control.check_stop("stopped while planning");
    return std::pair(seconds, static_cast<double>(targets) * static_cast<double>(fit.evaluations));
  };
  const auto [few, few_solved] = search(kFewTargets);
  const auto [more, more_solved] = search(kMoreTargets);
  const double solution = std::max(0.0, more - few) / std::max(1.0, more_solved - few_solved);
  const double rows = std::max(0.0, few - solution * few_solved);
  const double thinning = static_cast<double>(plan.split.training.size()) / static_cast<double>(places.size());

  const std::size_t count = std::min(kTimedPoints, places.size()), stride = places.size() / count;
  std::vector<float> points;
  for (std::size_t i = 0; i < count; ++i) {
    const float* row = places.coordinates.row(i * stride);
    points.insert(points.end(), row, row + places.coordinates.cols);
  }
  settings.targets = kFewTargets;
  const Process process = make_process(data.space, data.has_time(), places, settings, nullptr, silent);
  std::vector<double> mean(count), variance(count);
  const double point = elapsed([&] {
                         process.predict({points.data(), count, places.coordinates.cols}, {.mean = mean, .variance = variance},
                                         plan.settings.threads);
                       }) /
                       static_cast<double>(count);
  return solution * kEvaluations * static_cast<double>(usual) + rows * thinning + point * static_cast<double>(judged);
}

}  // namespace

std::optional<double> foresee_seconds(const FitPlan& of, const Dataset& data, const Control& control) {
  const FitPlan plan = plan_under(control, of);
  if (plan.method == FitMethod::other || plan.settings.tune.method == TuneMethod::bayes) return std::nullopt;
  FitPlan few = thinned(plan);
  const MethodData rows = method_data(few, data.observations);
  double seconds = 0.0;
  if (has_networks(plan)) {
    few.split.training = plan.split.training;
    seconds += training_seconds(few, rows.rows.view(), control);
  }
  if (plan.method != FitMethod::network) {
    few.split.training = plan.split.training;
    const std::size_t out_of_fold = std::min(kOutOfFoldRows, plan.split.training.size());
    seconds += process_seconds(few, rows.view(), out_of_fold + plan.split.held_out.size() + plan.test.size(), control);
  }
  return seconds;
}

}  // namespace drift
