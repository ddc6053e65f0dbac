#include "drift/tune_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <nlohmann/json.hpp>
#include <numbers>

#include "drift/error.h"
#include "fitting/plan_identity.h"
#include "searching/tune_trials.h"
#include "settings/settings_under.h"

namespace drift {
namespace {

constexpr std::array<double, 6> kAlphas = {0.0, 0.01, 0.03, 0.1, 0.3, 0.9};
constexpr std::size_t kRoundOnGpu = 5;  // trials; what that loses against one at a time: docs/verbs/tune.md

// A setting as it is: tried first, so that a search never ends worse than no search.
double present(const FitPlan& plan, SearchedSetting setting) {
  switch (setting) {
    case SearchedSetting::lengthscale:
      return lengthscale_from_engine(plan.domain, plan.spec.spatial.lengthscales[0]);
    case SearchedSetting::hidden_lengthscale:
      return plan.spec.spatial.hidden_lengthscale;
    case SearchedSetting::time_lengthscale_days:
      return time_lengthscale_from_engine(plan.domain, plan.spec.temporal.lengthscales[0]);
    case SearchedSetting::amplitude:
      return plan.spec.spatial.amplitude;
    case SearchedSetting::hidden_amplitude:
      return plan.spec.spatial.hidden_amplitude;
    case SearchedSetting::noise_sd:
      return plan.recipe.noise_sd * plan.domain.value.sd;
    case SearchedSetting::layers:
      return plan.spec.spatial.layers;
    case SearchedSetting::features:
      return plan.spec.features;
    default:
      return plan.recipe.muon_rate;
  }
}

Point present(const FitPlan& plan, const SearchSpace& space) {
  Point point;
  for (const Setting& setting : space) {
    const double value = present(plan, enum_named<SearchedSetting>("tune:", setting.name));
    point.push_back(std::clamp(value, setting.low, setting.high));
  }
  return point;
}

struct SearchRange {
  SettingKind kind;
  double low, high;
};

SearchRange range_of(SearchedSetting setting, const Domain& domain, std::size_t observations) {
  const bool sphere = domain.kind == DomainKind::sphere;
  // No shorter than the mean distance between observations if they lay evenly (area: that of two standard deviations either way,
  // or the whole sphere), no longer than the domain.
  const double area = sphere ? 4.0 * std::numbers::pi : 16.0;
  const double spacing = std::sqrt(area / static_cast<double>(observations));
  const double shortest = std::max(sphere ? 0.01 : 0.02, std::min(spacing, 0.2)), longest = sphere ? 1.0 : 2.0;
  const double sd = domain.value.sd;
  switch (setting) {
    case SearchedSetting::lengthscale:
      return {SettingKind::log_real, lengthscale_from_engine(domain, shortest), lengthscale_from_engine(domain, longest)};
    case SearchedSetting::hidden_lengthscale:
      return {SettingKind::log_real, 0.2, 3.0};
    case SearchedSetting::time_lengthscale_days:
      return {SettingKind::log_real, time_lengthscale_from_engine(domain, 0.1), time_lengthscale_from_engine(domain, 10.0)};
    case SearchedSetting::amplitude:
    case SearchedSetting::hidden_amplitude:
      return {SettingKind::log_real, 0.3, 3.0};
    case SearchedSetting::noise_sd:
      return {SettingKind::log_real, 1e-3 * sd, 0.5 * sd};
    case SearchedSetting::layers:
      return {SettingKind::whole, 1.0, 6.0};
    case SearchedSetting::features:
      return {SettingKind::log_whole, 128.0, 2048.0};
    default:
      return {SettingKind::log_real, 5e-4, 2e-2};  // bottleneck_rate
  }
}

// The paper's ranges; none: it has none for this setting. In its first two experiments, on the plane, one lengthscale serves
// coordinates and hidden layers, and one amplitude all layers; in the third, on the sphere, the Euclidean layers after the
// spherical one have their own. It does not say how values are spread over a range: evenly, as BoTorch does by default. On a
// logarithmic scale half of the third experiment's trials would have lengthscales below 6 km.
std::optional<SearchRange> paper_range(SearchedSetting setting, const FitPlan& plan) {
  const bool sphere = plan.domain.kind == DomainKind::sphere;
  const double least = sphere ? 1e-5 : 0.1, longest = 10.0, longest_first = sphere ? 0.1 : longest;
  const double width = std::sqrt(static_cast<double>(plan.spec.bottleneck));
  switch (setting) {
    case SearchedSetting::lengthscale:
      return SearchRange{SettingKind::real, lengthscale_from_engine(plan.domain, least),
                         lengthscale_from_engine(plan.domain, longest_first)};
    case SearchedSetting::hidden_lengthscale:
      return SearchRange{SettingKind::real, least / width, longest / width};
    case SearchedSetting::time_lengthscale_days:
      return SearchRange{SettingKind::real, time_lengthscale_from_engine(plan.domain, least),
                         time_lengthscale_from_engine(plan.domain, longest)};
    case SearchedSetting::amplitude:
    case SearchedSetting::hidden_amplitude:
      return SearchRange{SettingKind::real, least, 1.0};
    default:
      return std::nullopt;
  }
}

// What is searched unless the settings name it.
std::vector<SearchedSetting> usual_settings(const FitPlan& plan) {
  std::vector<SearchedSetting> settings = {SearchedSetting::lengthscale, SearchedSetting::amplitude};
  if (plan.settings.recipe == RecipeName::paper && plan.domain.kind == DomainKind::sphere && plan.spec.spatial.layers > 1) {
    settings.push_back(SearchedSetting::hidden_lengthscale);
    settings.push_back(SearchedSetting::hidden_amplitude);
  }
  if (plan.spec.temporal.layers > 0) settings.push_back(SearchedSetting::time_lengthscale_days);
  return settings;
}

}  // namespace

SearchSpace search_space(const FitPlan& plan, const Dataset& data, const std::vector<SearchedSetting>& wanted) {
  RunSettings settings_wanted = plan.settings;
  settings_wanted.tune.settings = wanted;
  check(settings_wanted);
  SearchSpace space;
  for (const SearchedSetting setting : wanted.empty() ? usual_settings(plan) : wanted) {
    if (setting == SearchedSetting::time_lengthscale_days && plan.spec.temporal.layers == 0)
      throw UsageError("tune: the field does not vary in time, so it has no time_lengthscale_days");
    const auto paper = plan.settings.recipe == RecipeName::paper ? paper_range(setting, plan) : std::nullopt;
    const SearchRange range = paper.value_or(range_of(setting, plan.domain, data.observations.size()));
    space.push_back({std::string(word_of(setting)), range.kind, range.low, range.high, {}});
  }
  return space;
}

std::optional<TrialParts> trial_parts(const Trial& trial) {
  const nlohmann::json json = nlohmann::json::parse(trial.message, nullptr, false);
  const auto number = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
  };
  if (trial.state != TrialState::done || !json.is_object() || !number("score")) return std::nullopt;
  return TrialParts{*number("score"), number("roughness").value_or(0.0), number("check").value_or(0.0)};
}

namespace {

std::optional<std::size_t> best_for(const Study& study, double alpha) {
  std::optional<std::size_t> best;
  double least = INFINITY;
  for (std::size_t i = 0; i < study.trials.size(); ++i) {
    const auto parts = trial_parts(study.trials[i]);
    if (!parts) continue;
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

namespace {

// How many trials side by side and how many before the search learns, where that is left open: as the study that is there has it,
// so that it can be gone on with on another machine; otherwise a GPU trains a round of trials together.
void settle_order(const TuneSettings& wanted, const std::filesystem::path& path, bool on_gpu, SearchPlan& search) {
  search.parallel = wanted.parallel.value_or(on_gpu ? kRoundOnGpu : 1);
  search.rounds = on_gpu && search.parallel > 1;
  search.initial = wanted.initial.value_or(0);
  if (path.empty() || !std::filesystem::exists(path)) return;
  const SearchPlan saved = load_study(path).plan;
  if (!wanted.parallel) search.parallel = saved.parallel;
  if (!wanted.initial) search.initial = saved.initial;
  if (search.parallel == saved.parallel) search.rounds = saved.rounds;
}

// Of all that trials depend on, besides the search's own plan.
std::string search_fingerprint(const FitPlan& plan, const Dataset& data) {
  Fingerprint print;
  print.add(to_json(plan.spec));  // not the number of members, which is the fit's
  print.add(to_json(plan.recipe));
  add_settings(print, plan.settings, on_search);
  add_plan(print, plan, data.observations);
  return print.text();
}

}  // namespace

TuneResult tune_run(const FitPlan& plan, const Dataset& data, const std::filesystem::path& path, const Control& control,
                    const TrialDone& done) {
  const FitPlan own = plan_under(control, plan);
  const TuneSettings& wanted = own.settings.tune;
  if (wanted.objective == TuneObjective::elbo && own.settings.uncertainty.method != UncertaintyMethod::variational) {
    throw UsageError(
        "tune: the objective elbo is for variational networks; add --uncertainty variational, or choose another objective");
  }
  // A GPU takes its time to wake up.
  auto waking = std::async(std::launch::async, [&] { return make_engine(own.settings); });
  const Trials trials(own, data);
  const std::unique_ptr<Engine> engine = waking.get();
  const bool on_gpu = engine->name() == "cuda";
  SearchPlan search;
  search.seed = own.settings.seed;
  search.fingerprint = search_fingerprint(own, data);
  settle_order(wanted, path, on_gpu, search);
  search.first = {present(own, trials.space())};
  SearchOptions options;
  options.trials = wanted.trials;
  options.trial_done = done;
  options.control = control;
  const auto file = path.empty() ? std::nullopt : std::optional(path);
  TuneResult result;
  try {
    if (on_gpu) {
      DrawsAhead ahead(search.seed, wanted.trials, own.settings.threads);
      const RoundObjective round = [&](std::span<const Proposal> proposals) {
        return trials.run(*engine, proposals, control, &ahead);
      };
      result.study = optimise(trials.space(), round, search, options, file);
    } else {
      const Objective one = [&](const Point& point, std::uint64_t seed) {
        return trials.run_alone({.number = 0, .point = point, .seed = seed}, search.parallel, control);
      };
      result.study = optimise(trials.space(), one, search, options, file);
    }
  } catch (const Stopped&) {
    if (!file)
      throw Stopped(
          "stopped; no trial was kept. With a file for the study (--study) or the model (--out), the same search resumes");
    const bool kept = std::filesystem::exists(path);
    throw Stopped(kept ? fmt::format("stopped; the trials so far are in {}. The same search resumes from there", path.string())
                       : "stopped before any trial was done");
  }
  result.alpha = wanted.alpha.value_or(choose_alpha(result.study));
  result.best = best_for(result.study, result.alpha);
  result.settings = own.settings;
  if (result.best) apply_point(trials.space(), result.study.trials[*result.best].point, result.settings);
  return result;
}

}  // namespace drift
