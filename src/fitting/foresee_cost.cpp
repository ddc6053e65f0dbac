// Foresees a fit's time on this machine from a few seconds of it: some training steps, the process of fewer targets and rows,
// some of its predictions. Rows are thinned, since neither a step nor a solution depends on how many there are. Another method is
// timed on samples that double, and its time goes on growing by the power of their number that the last two of them show.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "drift/fit.h"
#include "drift/interpolator.h"
#include "fitting/method_data.h"
#include "fitting/networks.h"
#include "fitting/plan_split.h"
#include "fitting/replan.h"
#include "process/process.h"
#include "settings/settings_under.h"
#include "train/schedule.h"

namespace drift {
namespace {

constexpr std::size_t kThinned = 20000;  // rows that are timed
constexpr std::size_t kFewTargets = 30, kMoreTargets = 90;
constexpr double kEvaluations = 180.0;  // of all targets that a search takes: 183 and 231 on two real sets, some of fewer
constexpr std::size_t kTimedPoints = 300;
constexpr double kTimedSeconds = 1.0;          // of training
constexpr std::size_t kOutOfFoldRows = 20000;  // that a fit forecasts, at most

double elapsed(const std::function<void()>& work) {
  const auto begun = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
}

// The plan with every k-th training row, `most` of them.
FitPlan thinned(const FitPlan& plan, std::size_t most) {
  FitPlan few = plan;
  few.split.training.clear(), few.folds.of.clear(), few.folds.group.clear();
  const std::size_t all = plan.split.training.size(), stride = std::max<std::size_t>(1, (all + most - 1) / most);
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

// Every k-th row's coordinates, `count` of them.
std::vector<float> some_points(MatrixView<const float> coordinates, std::size_t count) {
  std::vector<float> points;
  for (std::size_t i = 0; i < count; ++i) {
    const float* row = coordinates.row(i * (coordinates.rows / count));
    points.insert(points.end(), row, row + coordinates.cols);
  }
  return points;
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

  const std::size_t count = std::min(kTimedPoints, places.size());
  const std::vector<float> points = some_points(places.coordinates, count);
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

// Time at `all` from that at two sizes.
struct Growth {
  double size = 0.0, seconds = 0.0, size_before = 0.0, seconds_before = 0.0;

  void add(double next_size, double next_seconds) {
    size_before = size, seconds_before = seconds;
    size = next_size, seconds = next_seconds;
  }
  double at(double all) const {
    if (seconds_before <= 0.0 || all <= size) return seconds;
    constexpr double kSteepest = 3.0;  // of a dense solution
    const double power = std::log(seconds / seconds_before) / std::log(size / size_before);
    return seconds * std::pow(all / size, std::clamp(power, 0.0, kSteepest));
  }
};

// Asks others to stop when the time is over, or when the caller does.
class Deadline {
 public:
  Deadline(double seconds, const std::stop_token& caller)
      : forward_(caller, [this] { source_.request_stop(); }), clock_([this, seconds](const std::stop_token& done) {
          std::mutex mutex;
          std::unique_lock lock(mutex);
          std::condition_variable_any wake;
          wake.wait_for(lock, done, std::chrono::duration<double>(seconds), [] { return false; });
          source_.request_stop();
        }) {}

  Control control() const { return {.stop = source_.get_token()}; }

 private:
  std::stop_source source_;
  std::stop_callback<std::function<void()>> forward_;
  std::jthread clock_;  // last: it is joined first
};

// None: even samples far smaller than the whole take too long, and what a method does with these may not be what it does with
// all, as one that fits its parameters on a subset.
std::optional<double> method_seconds(const FitPlan& plan, const Observations& observations, const Control& control) {
  constexpr std::size_t kFirst = 1000;
  constexpr double kMost = 15.0;      // seconds of all samples together
  constexpr double kFarthest = 16.0;  // times the last sample
  const auto begun = std::chrono::steady_clock::now();
  const auto left = [&] { return kMost - std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count(); };
  const Deadline deadline(kMost, control.stop);
  const std::size_t all = plan.split.training.size(), judged = plan.split.held_out.size() + plan.test.size();
  Growth fit, point;
  try {
    for (std::size_t wanted = kFirst;; wanted *= 2) {
      const MethodData rows = method_data(thinned(plan, wanted), observations);
      const InterpolatorData data = rows.view();
      const std::size_t size = data.training.values.rows, count = std::min(kTimedPoints, size);
      const std::unique_ptr<Interpolator> method = make_interpolator(text_of(*plan.settings.fit.method), plan.domain);
      fit.add(static_cast<double>(size),
              elapsed([&] { method->fit(data, interpolator_options(plan.settings), deadline.control()); }));
      const std::vector<float> points = some_points(data.training.coordinates, count);
      std::vector<double> mean(count), sd(count);
      const auto predict = [&] {
        method->predict({points.data(), count, data.training.coordinates.cols}, {.mean = mean, .sd_epistemic = sd});
      };
      point.add(static_cast<double>(size), elapsed(predict) / static_cast<double>(count));
      if (size == all || fit.at(2.0 * fit.size) > left()) break;
    }
  } catch (const Stopped&) {
    control.check_stop("stopped while planning");
  }
  if (static_cast<double>(all) > kFarthest * fit.size) return std::nullopt;
  return fit.at(static_cast<double>(all)) + static_cast<double>(judged) * point.at(static_cast<double>(all));
}

}  // namespace

std::optional<double> foresee_trial_seconds(const FitPlan& plan, const Dataset& data, const Control& control) {
  const FitPlan own = plan_under(control, plan);
  constexpr double kTrained = 0.8;  // of the training observations; the rest judge
  for (const SearchedSetting setting : own.settings.tune.settings) {
    if (setting == SearchedSetting::layers || setting == SearchedSetting::features) return std::nullopt;
  }
  const auto training = static_cast<std::size_t>(kTrained * static_cast<double>(own.split.training.size()));
  FitPlan trial = replan(own, own.settings, training);
  trial.members = own.settings.tune.members.value_or(kTrialMembers);
  trial.split.training.resize(training);
  MethodData rows = method_data(thinned(own, kThinned), data.observations);
  rows.rows.folds = {};  // a trial's networks see all rows
  return training_seconds(trial, rows.rows.view(), control);
}

std::optional<double> foresee_seconds(const FitPlan& plan, const Dataset& data, const Control& control) {
  const FitPlan own = plan_under(control, plan);
  if (own.method == FitMethod::other) return method_seconds(own, data.observations, control);
  double seconds = 0.0;
  if (own.settings.tune.method == TuneMethod::bayes) {
    const auto trial = foresee_trial_seconds(own, data, control);
    if (!trial) return std::nullopt;
    seconds += *trial * static_cast<double>(own.settings.tune.trials);
  }
  FitPlan few = thinned(own, kThinned);
  const MethodData rows = method_data(few, data.observations);
  few.split.training = own.split.training;
  if (has_networks(own)) seconds += training_seconds(few, rows.rows.view(), control);
  if (own.method != FitMethod::network) {
    const std::size_t out_of_fold = std::min(kOutOfFoldRows, own.split.training.size());
    seconds += process_seconds(few, rows.view(), out_of_fold + own.split.held_out.size() + own.test.size(), control);
  }
  return seconds;
}

}  // namespace drift
