#include "comparing/drift_interpolator.h"

#include <fmt/format.h>

#include <cmath>

#include "core/blocks.h"
#include "drift/error.h"
#include "fitting/blend.h"
#include "fitting/networks.h"
#include "fitting/plan_split.h"
#include "fitting/replan.h"

namespace drift {
namespace {

// Settings of the run with the method's own before them.
RunSettings own_settings(const MethodSettings& method, RunSettings settings) {
  if (method.has("members")) settings.model.members = method.count("members", 1, 1, 1000);
  if (const auto epochs = method.number("epochs", 1e-3, 1e6)) settings.train.epochs = *epochs;
  if (settings.fit.method && settings.fit.method->parts == FitMethod::other)
    settings.fit.method.reset();  // a rival, for drift fit
  if (method.has("parts")) settings.fit.method = method.word<FitMethod>("parts", FitMethod::blend);
  settings.uncertainty.method = method.word("uncertainty", settings.uncertainty.method);
  return settings;
}

}  // namespace

MethodInfo drift_method_info() {
  return {.name = "drift",
          .title = "drift",
          .summary = "the model of drift fit: deep random-feature networks and kriging in a moving frame",
          .source = "Chen et al. 2025",
          .options = {{"parts", "blend, network or process", "the run's"},
                      {"members", "networks in the ensemble, 1 to 1000", "the run's"},
                      {"epochs", "times each observation is seen", "the run's"},
                      {"trials", "trials of a search for settings before the fit; its time counts", "0"},
                      {"uncertainty", "ensemble, variational, dropout or last_layer", "the run's"}}};
}

DriftInterpolator::DriftInterpolator(const MethodSettings& settings, const FitPlan& plan, Search search)
    : plan_(replan(plan, own_settings(settings, plan.settings), plan.split.training.size())), search_(std::move(search)) {
  const bool searches = plan.settings.tune.method == TuneMethod::bayes;
  trials_ = settings.count("trials", searches ? plan.settings.tune.trials : 0, 0, 100000);
}

void DriftInterpolator::tune(const Control& control) {
  FitPlan search = plan_;
  search.settings.tune.trials = trials_;
  const TuneResult result = search_(search, control);
  if (!result.best) throw Error("drift: no trial of the search succeeded; leave trials out, or look with drift tune");
  plan_ = replan(plan_, result.settings, plan_.split.training.size());
}

void DriftInterpolator::fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) {
  plan_.settings.seed = options.seed;
  // A trial has three networks as a rule.
  const double tuning_work = 3.0 * static_cast<double>(trials_);
  const double tuning_share = tuning_work / (tuning_work + static_cast<double>(plan_.members));
  // As in fit(): the networks take most of what is left, by and large.
  const double trained = plan_.method == FitMethod::network ? 1.0 : tuning_share + (0.95 - tuning_share) * 0.75;
  if (trials_ > 0) tune(control.part(0.0, tuning_share));
  engine_ = make_engine(options.backend, {.threads = options.threads, .precision = options.precision});
  // Fewer members than folds share them out among themselves.
  InterpolatorData own = data;
  own.fold = plan_.folds.of, own.fold_count = plan_.folds.count, own.group = plan_.folds.group;
  TrainingSet rows = data.training;
  rows.folds = own.fold, rows.fold_count = own.fold_count;
  model_ = {.ensemble = {plan_.spec, plan_.settings.seed, {}}, .domain = plan_.domain};
  model_.info.has_time = data.has_time();
  if (has_networks(plan_)) {
    model_.ensemble = draw_networks(plan_);
    TrainingState state;
    train(*engine_, model_.ensemble, state, rows, plan_.recipe, {.control = control.part(tuning_share, trained)});
    model_.last_layers = add_uncertainty(*engine_, plan_, rows, model_.ensemble, control.part(trained, 1.0));
  }
  if (plan_.method != FitMethod::network) blend_with_process(own, control.part(trained, 1.0));
  parts_ = std::make_unique<PartsPredictor>(*engine_, model_);
}

void DriftInterpolator::blend_with_process(const InterpolatorData& data, const Control& control) {
  const int threads = plan_.settings.threads;
  const FittedProcess fitted = fit_process_part(data, plan_.settings.seed, threads, control.part(0.0, 0.6));
  model_.process = fitted.process;
  const Control rest = control.part(0.6, 1.0);
  OutOfFold out = forecast_out_of_fold(*engine_, data, model_.ensemble, *model_.process, threads, rest);
  model_.weight = blend_weight(out);
  learn_local_spread(fitted, data, model_.weight, threads, out, rest);
  worth_ = part_worth(out, model_.weight, plan_.domain);
}

std::size_t DriftInterpolator::members() const {
  return model_.process || !model_.last_layers.empty() ? 0 : model_.ensemble.members.size();
}

std::optional<double> DriftInterpolator::settled_noise() const {
  return model_.process ? std::optional(std::sqrt(model_.process->observation_variance())) : std::nullopt;
}

void DriftInterpolator::predict(MatrixView<const float> points, const PointForecast& out, const Workers&) const {
  const double noise = model_.process ? model_.process->observation_variance() : 0.0;
  for_blocks(points.rows, [&](std::size_t first, std::size_t count) {
    const PartsForecast said = (*parts_)(points.middle_rows(first, count), {.members = !out.members.empty()});
    if (!out.members.empty()) std::copy(said.each.begin(), said.each.end(), out.members.begin() + first * members());
    for (std::size_t i = 0; i < count; ++i) {
      const double variance = said.variance.empty() ? 0.0 : said.variance[i];
      const double error = said.local.empty() ? 0.0 : said.local[i] * noise;
      if (!out.mean.empty()) out.mean[first + i] = said.mean[i];
      if (!out.sd_epistemic.empty()) out.sd_epistemic[first + i] = std::sqrt(variance);
      if (!out.sd_total.empty()) out.sd_total[first + i] = std::sqrt(variance + error);
    }
  });
}

std::vector<std::pair<std::string, std::string>> DriftInterpolator::findings(const Domain& domain) const {
  std::vector<std::pair<std::string, std::string>> found;
  if (model_.process) {
    for (const std::string& text : describe(*model_.process, domain)) found.emplace_back("process", text);
    found.emplace_back("weight of the process", fmt::format("{:.2f}", worth_.process_weight));
  }
  if (plan_.method == FitMethod::process) return found;
  const NetworkSpec& spec = plan_.spec;
  const std::vector<std::pair<std::string, std::string>> networks = {
      {"networks", fmt::format("{} of {} layers, {} features", plan_.members, spec.spatial.layers, spec.features)},
      {"lengthscale", fmt::format("{:.3g} {}", lengthscale_from_engine(domain, spec.spatial.lengthscales[0]), domain.unit)}};
  found.insert(found.end(), networks.begin(), networks.end());
  if (spec.temporal.layers > 0) {
    found.emplace_back("time lengthscale",
                       fmt::format("{:.3g} days", time_lengthscale_from_engine(domain, spec.temporal.lengthscales[0])));
  }
  found.emplace_back("epochs", fmt::format("{:g}", plan_.recipe.epochs));
  if (trials_ > 0) found.emplace_back("search", fmt::format("{} trials, in the fit's time", trials_));
  return found;
}

}  // namespace drift
