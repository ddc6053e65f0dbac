#include "searching/tune_trials.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "core/random.h"
#include "core/threads.h"
#include "drift/error.h"
#include "drift/roughness.h"
#include "drift/score.h"
#include "engine/scales.h"
#include "fitting/judge.h"
#include "fitting/replan.h"
#include "train/loss.h"

namespace drift {
namespace {

constexpr double kValidationShare = 0.2;
constexpr std::size_t kFewestRows = 50;
constexpr int kRoughnessPoints = 48;  // a side
constexpr std::size_t kJudges = 3;    // at a time: one's copies beside another's computing

void shuffle(std::vector<std::size_t>& rows, std::uint64_t seed) {
  RandomStream stream({.seed = seed, .member = 1, .purpose = Purpose::split});
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    std::swap(rows[i], rows[i + static_cast<std::size_t>(stream.uniform() * static_cast<double>(rows.size() - i))]);
  }
}

// Mean over observations and members.
double mean_loss(const Recipe& recipe, std::span<const float> predictions, std::span<const float> values, std::size_t members) {
  double sum = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t m = 0; m < members; ++m) {
      sum += loss_value(loss_of(recipe), static_cast<double>(predictions[i * members + m]) - values[i]);
    }
  }
  return sum / static_cast<double>(values.size() * members);
}

Forecast forecast_of(std::span<const float> predictions, std::span<const float> values, std::size_t members) {
  Forecast forecast;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::span<const float> each = predictions.subspan(i * members, members);
    double mean = 0.0, square = 0.0;
    for (const double value : each) mean += value / static_cast<double>(members);
    for (const double value : each) square += (value - mean) * (value - mean);
    forecast.y.push_back(values[i]);
    forecast.mean.push_back(mean);
    if (members > 1) forecast.sd_epistemic.push_back(std::sqrt(square / static_cast<double>(members - 1)));
  }
  return forecast;
}

}  // namespace

void apply_point(const SearchSpace& space, const Point& point, RunSettings& settings) {
  for (std::size_t i = 0; i < space.size(); ++i) {
    const double value = point[i];
    switch (enum_named<SearchedSetting>("tune:", space[i].name)) {
      case SearchedSetting::lengthscale:
        settings.model.lengthscale = value;
        break;
      case SearchedSetting::hidden_lengthscale:
        settings.model.hidden_lengthscale = value;
        break;
      case SearchedSetting::time_lengthscale_days:
        settings.model.time_lengthscale_days = value;
        break;
      case SearchedSetting::amplitude:
        settings.model.amplitude = value;
        break;
      case SearchedSetting::hidden_amplitude:
        settings.model.hidden_amplitude = value;
        break;
      case SearchedSetting::noise_sd:
        settings.train.decay_noise_sd = value;
        break;
      case SearchedSetting::layers:
        settings.model.layers = static_cast<std::size_t>(value);
        break;
      case SearchedSetting::features:
        settings.model.features = static_cast<std::size_t>(value);
        break;
      case SearchedSetting::bottleneck_rate:
        settings.train.bottleneck_rate = value;
        break;
    }
  }
}

void DrawsAhead::begin(const NetworkSpec& spec, std::size_t members, std::size_t first, std::size_t count) {
  const std::lock_guard lock(mutex_);
  drawn_.clear();
  if (spec.space == Space::sphere && spec.coupling == Coupling::additive) return;  // degrees are drawn for a lengthscale
  for (std::size_t number = first; number < std::min(first + count, end_); ++number) {
    const std::uint64_t seed = seed_of_trial(plan_seed_, number);
    drawn_[seed] =
        std::async(std::launch::async, [=, threads = threads_] { return draw_ensemble(spec, seed, members, threads); });
  }
}

std::optional<Ensemble> DrawsAhead::take(const NetworkSpec& spec, std::size_t members, std::uint64_t seed) {
  std::future<Ensemble> found;
  {
    const std::lock_guard lock(mutex_);
    const auto entry = drawn_.extract(seed);
    if (entry.empty()) return std::nullopt;
    found = std::move(entry.mapped());
  }
  Ensemble ensemble = found.get();
  if (ensemble.members.size() != members || with_unit_scales(ensemble.spec) != with_unit_scales(spec)) return std::nullopt;
  ensemble.spec = spec;
  return ensemble;
}

struct Trials::Prepared {
  FitPlan plan;
  FieldModel model;
  std::string failure = {};
};

Trials::Trials(const FitPlan& plan, const Dataset& data)
    : plan_(plan), space_(search_space(plan, data, plan.settings.tune.settings)) {
  const Observations& observations = data.observations;
  SplitOptions options = split_within(plan.split_options, observations, plan.split.training);
  options.held_out = kValidationShare;
  options.seed += 2;
  Split inner = split_observations(observations, options, std::span<const std::size_t>(plan.split.training));
  options.held_out = 0.5;
  options.seed += 1;
  Split validation = split_observations(observations, options, std::span<const std::size_t>(inner.held_out));
  if (inner.training.size() < kFewestRows || validation.held_out.empty())
    throw Error("there are too few observations to tune on");
  shuffle(inner.training, plan.settings.seed);
  const bool time = plan.spec.temporal.layers > 0;
  training_ = training_rows(plan.domain, observations, inner.training, time, plan.settings.threads);
  scoring_ = validation.training.size();
  std::vector<std::size_t> both = std::move(validation.training);
  both.insert(both.end(), validation.held_out.begin(), validation.held_out.end());
  validation_ = training_rows(plan.domain, observations, both, time, plan.settings.threads);
}

TrialOutcome Trials::run_alone(const Proposal& proposal, std::size_t parallel, const Control& control) const {
  RunSettings settings = plan_.settings;
  settings.threads = std::max(1, threads_or_all(settings.threads) / static_cast<int>(parallel));
  return run(*make_engine(settings), std::span(&proposal, 1), control).front();
}

std::vector<TrialOutcome> Trials::run(Engine& engine, std::span<const Proposal> proposals, const Control& control,
                                      DrawsAhead* ahead) const {
  std::vector<Prepared> trials(proposals.size());
  run_on_threads(static_cast<int>(proposals.size()), [&](int thread) {
    const auto i = static_cast<std::size_t>(thread);
    try {
      trials[i] = prepare(proposals[i], ahead);
    } catch (const std::exception& error) {
      trials[i].failure = error.what();
    }
  });
  if (ahead != nullptr && trials.front().failure.empty()) {
    const Ensemble& like = trials.front().model.ensemble;
    ahead->begin(like.spec, like.members.size(), proposals.back().number + 1, proposals.size());
  }
  train(engine, trials, control);
  std::vector<TrialOutcome> outcomes(trials.size());
  const std::size_t judges = std::min(kJudges, trials.size());
  run_on_threads(static_cast<int>(judges), [&](int thread) {
    for (std::size_t i = static_cast<std::size_t>(thread); i < trials.size(); i += judges) outcomes[i] = judge(engine, trials[i]);
  });
  return outcomes;
}

Trials::Prepared Trials::prepare(const Proposal& proposal, DrawsAhead* ahead) const {
  RunSettings settings = plan_.settings;
  apply_point(space_, proposal.point, settings);
  const std::size_t members = settings.tune.members.value_or(kTrialMembers);
  Prepared trial{.plan = replan(plan_, settings, training_.values.size()), .model = {}};
  // The mean loss over networks is not that of their mean: it would count each one's own noise against the trial.
  if (settings.tune.objective == TuneObjective::loss) trial.plan.recipe.value_noise = 0.0;
  FieldModel& model = trial.model;
  model.domain = trial.plan.domain;
  model.info.has_time = trial.plan.spec.temporal.layers > 0;
  model.info.first_time_days = model.info.last_time_days = trial.plan.domain.time.mean;
  std::optional<Ensemble> drawn;
  if (ahead != nullptr) drawn = ahead->take(trial.plan.spec, members, proposal.seed);
  model.ensemble = drawn ? std::move(*drawn) : draw_ensemble(trial.plan.spec, proposal.seed, members, settings.threads);
  if (settings.uncertainty.method == UncertaintyMethod::variational) make_variational(model.ensemble);
  return trial;
}

void Trials::train(Engine& engine, std::vector<Prepared>& trials, const Control& control) const {
  std::vector<Prepared*> together;
  std::vector<TrainingRun> runs;
  for (Prepared& trial : trials) {
    if (!trial.failure.empty()) continue;
    together.push_back(&trial);
    runs.push_back({.ensemble = &trial.model.ensemble, .state = nullptr, .recipe = trial.plan.recipe});
  }
  if (runs.empty()) return;
  const std::vector<std::string> failures = train_together(engine, runs, training_.view(), {.stop = control.stop});
  for (std::size_t i = 0; i < together.size(); ++i) together[i]->failure = failures[i];
}

TrialOutcome Trials::judge(Engine& engine, const Prepared& trial) const {
  if (!trial.failure.empty()) return {.value = 0.0, .state = TrialState::failed, .message = trial.failure};
  const TuneSettings& tune = trial.plan.settings.tune;
  const Ensemble& ensemble = trial.model.ensemble;
  TrialParts parts;
  parts.roughness = roughness(engine, trial.model, kRoughnessPoints);
  if (tune.objective == TuneObjective::elbo) {
    const double bound = elbo(engine, ensemble, training_.view(), trial.plan.recipe).value();
    parts.score = parts.check = -bound / static_cast<double>(training_.values.size());
  } else {
    const std::size_t n = validation_.values.size(), members = ensemble.members.size();
    std::vector<float> each(n * members);
    engine.predict(ensemble, validation_.view().coordinates, {.members = MatrixView<float>(each.data(), n, members)});
    const std::span<const float> all(each), values(validation_.values);
    parts.score = score(trial, all.first(scoring_ * members), values.first(scoring_));
    parts.check = score(trial, all.subspan(scoring_ * members), values.subspan(scoring_));
  }
  const double alpha = tune.alpha.value_or(0.0);
  TrialOutcome outcome;
  outcome.value = (1.0 - alpha) * parts.score + alpha * parts.roughness;
  outcome.message = nlohmann::json({{"score", parts.score}, {"roughness", parts.roughness}, {"check", parts.check}}).dump();
  return outcome;
}

// In the engine's units: values of variance one.
double Trials::score(const Prepared& trial, std::span<const float> predictions,  // [rows, members]
                     std::span<const float> values) const {
  const std::size_t members = trial.model.ensemble.members.size();
  const TuneObjective objective = trial.plan.settings.tune.objective;
  if (objective == TuneObjective::loss) return mean_loss(trial.plan.recipe, predictions, values, members);
  const Forecast forecast = forecast_of(predictions, values, members);
  const double noise = std::max(estimate_noise(forecast), 1e-6);
  std::vector<double> sd;
  for (std::size_t i = 0; i < values.size(); ++i) sd.push_back(std::hypot(noise, members > 1 ? forecast.sd_epistemic[i] : 0.0));
  return objective == TuneObjective::crps ? mean_crps(forecast.y, forecast.mean, sd) : mean_nll(forecast.y, forecast.mean, sd);
}

}  // namespace drift
