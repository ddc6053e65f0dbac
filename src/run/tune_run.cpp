#include "drift/tune_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "core/random.h"
#include "core/threads.h"
#include "drift/error.h"
#include "drift/nearest_name.h"
#include "drift/roughness.h"
#include "drift/score.h"
#include "run/judge.h"
#include "run/replan.h"
#include "run/training_rows.h"

namespace drift {
namespace {

constexpr std::array<double, 6> kAlphas = {0.0, 0.01, 0.03, 0.1, 0.3, 0.9};
constexpr double kValidationShare = 0.2;

void shuffle(std::vector<std::size_t>& rows, std::uint64_t seed) {
  RandomStream stream({.seed = seed, .member = 1, .purpose = Purpose::split});
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    std::swap(rows[i], rows[i + static_cast<std::size_t>(stream.uniform() * static_cast<double>(rows.size() - i))]);
  }
}

void apply(const SearchSpace& space, const Point& point, RunSettings& settings) {
  for (std::size_t i = 0; i < space.size(); ++i) {
    const std::string& name = space[i].name;
    const double value = point[i];
    if (name == "lengthscale") settings.model.lengthscale = value;
    if (name == "time_lengthscale_days") settings.model.time_lengthscale_days = value;
    if (name == "amplitude") settings.model.amplitude = value;
    if (name == "noise_sd") settings.train.decay_noise_sd = value;
    if (name == "layers") settings.model.layers = static_cast<std::size_t>(value);
    if (name == "features") settings.model.features = static_cast<std::size_t>(value);
    if (name == "bottleneck_rate") settings.train.bottleneck_rate = value;
  }
}

class Trials {
 public:
  Trials(const FitPlan& plan, const Reading& reading)
      : plan_(plan), space_(search_space(plan, reading, plan.settings.tune.settings)) {
    SplitOptions options = plan.split_options;
    options.held_out = kValidationShare;
    options.seed += 2;
    if (options.method == SplitMethod::platform || options.method == SplitMethod::time) options.method = SplitMethod::random;
    const Observations& observations = reading.observations;
    if (options.method == SplitMethod::random && !observations.track.empty() && reading.report.tracks >= 20)
      options.method = SplitMethod::track;
    Split inner = split_observations(observations, options, std::span<const std::size_t>(plan.split.training));
    options.held_out = 0.5;
    options.seed += 1;
    const Split validation = split_observations(observations, options, std::span<const std::size_t>(inner.held_out));
    if (inner.training.size() < 50 || validation.held_out.empty()) throw Error("there are too few observations to tune on");
    shuffle(inner.training, plan.settings.seed);  // so that a share of a trial's work is its first rows
    const bool time = plan.spec.temporal.layers > 0;
    training_ = training_rows(plan.domain, observations, inner.training, time);
    score_ = training_rows(plan.domain, observations, validation.training, time);
    check_ = training_rows(plan.domain, observations, validation.held_out, time);
    const std::size_t parallel = plan.settings.tune.parallel;
    const int threads = plan.settings.threads > 0 ? plan.settings.threads : available_threads();
    threads_ = std::max(1, threads / static_cast<int>(parallel));
  }

  const SearchSpace& space() const { return space_; }

  TrialOutcome operator()(const Point& point, double share, std::uint64_t seed, std::stop_token stop) const {
    RunSettings settings = plan_.settings;
    apply(space_, point, settings);
    const auto rows = std::max<std::size_t>(50, static_cast<std::size_t>(share * static_cast<double>(training_.values.size())));
    const FitPlan trial = replan(plan_, settings, rows);
    const std::size_t wanted = settings.tune.members.value_or(3);
    const auto members =
        std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(std::sqrt(share) * static_cast<double>(wanted))));
    RunSettings of_trial = settings;
    of_trial.threads = threads_;
    const auto engine = make_engine(of_trial);
    FieldModel model = trained(*engine, trial, members, rows, seed, std::move(stop));
    const TrialParts parts = {score_of(*engine, model, trial, score_), roughness(*engine, model, 48),
                              score_of(*engine, model, trial, check_)};
    const double alpha = settings.tune.alpha.value_or(0.0);
    TrialOutcome outcome;
    outcome.value = (1.0 - alpha) * parts.score + alpha * parts.roughness;
    outcome.message = nlohmann::json({{"score", parts.score}, {"roughness", parts.roughness}, {"check", parts.check}}).dump();
    return outcome;
  }

 private:
  FieldModel trained(Engine& engine, const FitPlan& trial, std::size_t members, std::size_t rows, std::uint64_t seed,
                     std::stop_token stop) const {
    const bool variational = trial.settings.uncertainty.method == "variational";
    FieldModel model;
    model.domain = trial.domain;
    model.info.has_time = trial.spec.temporal.layers > 0;
    model.info.first_time_days = model.info.last_time_days = trial.domain.time.mean;
    model.ensemble = draw_ensemble(trial.spec, seed, members);
    if (variational) make_variational(model.ensemble);
    TrainingSet data = training_.view();
    data.coordinates.rows = data.values.rows = rows;
    if (!data.weights.empty()) data.weights = data.weights.first(rows);
    TrainingState state;
    TrainOptions options;
    options.control.stop = stop;
    if (!train(engine, model.ensemble, state, data, trial.recipe, options)) throw Error("stopped");
    return model;
  }

  // In the engine's units: values of variance one.
  double score_of(Engine& engine, const FieldModel& model, const FitPlan& trial, const TrainingRows& rows) const {
    const std::string& objective = trial.settings.tune.objective;
    const TrainingSet data = rows.view();
    if (objective == "elbo") {
      return -elbo(engine, model.ensemble, training_.view(), trial.recipe).value() / static_cast<double>(training_.values.size());
    }
    const std::size_t n = rows.values.size(), members = model.ensemble.members.size();
    std::vector<float> each(n * members);
    engine.predict(model.ensemble, data.coordinates, {.members = MatrixView<float>(each.data(), n, members)});
    Forecast forecast;
    double loss = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      double mean = 0.0, square = 0.0;
      for (std::size_t m = 0; m < members; ++m) {
        const double value = each[i * members + m], residual = std::abs(value - rows.values[i]), delta = trial.recipe.huber_delta;
        mean += value / static_cast<double>(members);
        loss += trial.recipe.loss == LossKind::huber && residual > delta ? delta * (residual - 0.5 * delta)
                : trial.recipe.loss == LossKind::huber                   ? 0.5 * residual * residual
                                                                         : residual * residual;
      }
      for (std::size_t m = 0; m < members; ++m) square += std::pow(each[i * members + m] - mean, 2);
      forecast.y.push_back(rows.values[i]);
      forecast.mean.push_back(mean);
      if (members > 1) forecast.sd_epistemic.push_back(std::sqrt(square / static_cast<double>(members - 1)));
    }
    if (objective == "loss") return loss / static_cast<double>(n * members);
    const double noise = std::max(estimate_noise(forecast), 1e-6);
    std::vector<double> sd;
    for (std::size_t i = 0; i < n; ++i) sd.push_back(std::hypot(noise, members > 1 ? forecast.sd_epistemic[i] : 0.0));
    return objective == "crps" ? mean_crps(forecast.y, forecast.mean, sd) : mean_nll(forecast.y, forecast.mean, sd);
  }

  const FitPlan& plan_;
  SearchSpace space_;
  TrainingRows training_, score_, check_;
  int threads_ = 1;
};

// The settings as they are: tried first, so that a search never ends worse than no search.
Point present(const FitPlan& plan, const SearchSpace& space) {
  Point point;
  for (const Setting& setting : space) {
    double value = 0.0;
    if (setting.name == "lengthscale") value = lengthscale_from_engine(plan.domain, plan.spec.spatial.lengthscales[0]);
    if (setting.name == "time_lengthscale_days")
      value = time_lengthscale_from_engine(plan.domain, plan.spec.temporal.lengthscales[0]);
    if (setting.name == "amplitude") value = plan.spec.spatial.amplitude;
    if (setting.name == "noise_sd") value = plan.recipe.noise_sd * plan.domain.value.sd;
    if (setting.name == "layers") value = plan.spec.spatial.layers;
    if (setting.name == "features") value = plan.spec.features;
    if (setting.name == "bottleneck_rate") value = plan.recipe.muon_rate;
    point.push_back(std::clamp(value, setting.low, setting.high));
  }
  return point;
}

}  // namespace

SearchSpace search_space(const FitPlan& plan, const Reading& reading, const std::vector<std::string>& wanted) {
  const Domain& domain = plan.domain;
  const bool sphere = domain.kind == DomainKind::sphere, time = plan.spec.temporal.layers > 0;
  // No shorter than the mean distance between observations if they lay evenly (area: that of two standard deviations either way,
  // or the whole sphere), no longer than the domain.
  const double area = sphere ? 4.0 * std::numbers::pi : 16.0;
  const double spacing = std::sqrt(area / static_cast<double>(reading.observations.size()));
  const double shortest = std::max(sphere ? 0.01 : 0.02, std::min(spacing, 0.2)), longest = sphere ? 1.0 : 2.0;
  const double sd = domain.value.sd;
  const std::vector<Setting> known = {{"lengthscale",
                                       SettingKind::log_real,
                                       lengthscale_from_engine(domain, shortest),
                                       lengthscale_from_engine(domain, longest),
                                       {}},
                                      {"time_lengthscale_days",
                                       SettingKind::log_real,
                                       time_lengthscale_from_engine(domain, 0.1),
                                       time_lengthscale_from_engine(domain, 10.0),
                                       {}},
                                      {"amplitude", SettingKind::log_real, 0.3, 3.0, {}},
                                      {"noise_sd", SettingKind::log_real, 1e-3 * sd, 0.5 * sd, {}},
                                      {"layers", SettingKind::whole, 1.0, 6.0, {}},
                                      {"features", SettingKind::log_whole, 128.0, 2048.0, {}},
                                      {"bottleneck_rate", SettingKind::log_real, 5e-4, 2e-2, {}}};
  std::vector<std::string> names = wanted;
  if (names.empty()) names = {"lengthscale", "amplitude"};
  if (wanted.empty() && time) names.emplace_back("time_lengthscale_days");
  SearchSpace space;
  for (const std::string& name : names) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const Setting& s) { return s.name == name; });
    if (found == known.end()) {
      std::vector<std::string_view> all;
      for (const Setting& setting : known) all.emplace_back(setting.name);
      throw UsageError(
          fmt::format("tune: '{}' is no setting that can be searched; did you mean '{}'?", name, nearest_name(name, all)));
    }
    if (name == "time_lengthscale_days" && !time)
      throw UsageError("tune: the field does not vary in time, so it has no time_lengthscale_days");
    space.push_back(*found);
  }
  return space;
}

std::optional<TrialParts> trial_parts(const Trial& trial) {
  const nlohmann::json json = nlohmann::json::parse(trial.message, nullptr, false);
  if (trial.state != TrialState::done || !json.is_object() || !json.contains("score")) return std::nullopt;
  return TrialParts{json.value("score", 0.0), json.value("roughness", 0.0), json.value("check", 0.0)};
}

namespace {

std::optional<std::size_t> best_for(const Study& study, double alpha) {
  std::optional<std::size_t> best;
  double least = INFINITY;
  for (std::size_t i = 0; i < study.trials.size(); ++i) {
    const auto parts = trial_parts(study.trials[i]);
    if (!parts || study.trials[i].budget_share < 1.0) continue;
    const double value = (1.0 - alpha) * parts->score + alpha * parts->roughness;
    if (value < least) least = value, best = i;
  }
  return best;
}

}  // namespace

double choose_alpha(const Study& study) {
  double chosen = 0.0, least = INFINITY;
  for (const double alpha : kAlphas) {
    const auto best = best_for(study, alpha);
    if (!best) continue;
    const double check = trial_parts(study.trials[*best])->check;
    if (check < least) least = check, chosen = alpha;
  }
  return chosen;
}

TuneResult tune_run(const FitPlan& plan, const Reading& reading, const std::filesystem::path& path, const TuneControl& control) {
  const TuneSettings& wanted = plan.settings.tune;
  if (wanted.objective == "elbo" && plan.settings.uncertainty.method != "variational") {
    throw UsageError(
        "tune: the objective elbo is for variational networks; add --uncertainty variational, or choose another objective");
  }
  const Trials trials(plan, reading);
  SearchPlan search;
  search.seed = plan.settings.seed;
  search.parallel = wanted.parallel;
  search.first = {present(plan, trials.space())};
  if (wanted.halving) search.shares = {1.0 / 9.0, 1.0 / 3.0, 1.0};
  SearchOptions options;
  options.trials = static_cast<double>(wanted.trials);
  options.progress = control.progress;
  options.stop = control.stop;
  TuneResult result;
  result.study = optimise(
      trials.space(),
      [&](const Point& point, double share, std::uint64_t seed) { return trials(point, share, seed, control.stop); }, search,
      options, path.empty() ? std::nullopt : std::optional(path));
  result.alpha = wanted.alpha.value_or(choose_alpha(result.study));
  result.best = best_for(result.study, result.alpha);
  result.settings = plan.settings;
  if (result.best) apply(trials.space(), result.study.trials[*result.best].point, result.settings);
  return result;
}

}  // namespace drift
