#include "comparing/drift_interpolator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drift/error.h"
#include "fitting/blend.h"
#include "fitting/networks.h"
#include "fitting/replan.h"

namespace drift {
namespace {

constexpr std::size_t kBlock = 65536;  // points predicted at a time

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
          .summary = "the model of drift fit: deep random-feature networks (Chen et al. 2025) and kriging in a moving frame",
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
  ensemble_ = {plan_.spec, plan_.settings.seed, {}};
  if (plan_.method != FitMethod::process) {
    ensemble_ = draw_networks(plan_);
    TrainingState state;
    train(*engine_, ensemble_, state, rows, plan_.recipe, {.control = control.part(tuning_share, trained)});
    last_layers_ = add_uncertainty(*engine_, plan_, rows, ensemble_);
  }
  if (plan_.method == FitMethod::network) return;
  const FittedProcess fitted = fit_process_part(own, plan_.settings.seed, plan_.settings.threads, control.part(trained, 0.95));
  process_ = fitted.process;
  const Control rest = {.stop = control.stop};
  OutOfFold out = forecast_out_of_fold(*engine_, own, ensemble_, *process_, plan_.settings.threads, rest);
  weight_ = blend_weight(out);
  learn_local_spread(fitted, own, weight_, plan_.settings.threads, out);
  worth_ = part_worth(out, weight_, plan_.domain);
}

std::optional<double> DriftInterpolator::settled_noise() const {
  return process_ ? std::optional(std::sqrt(process_->observation_variance())) : std::nullopt;
}

void DriftInterpolator::predict(MatrixView<const float> points, const PointForecast& out, const Workers&) const {
  std::vector<float> mean, variance;
  std::vector<double> process, process_variance, local;
  const double noise = process_ ? process_->observation_variance() : 0.0;
  for (std::size_t first = 0; first < points.rows; first += kBlock) {
    const std::size_t count = std::min(kBlock, points.rows - first);
    mean.resize(count), variance.resize(count), process.resize(count), process_variance.resize(count);
    local.assign(count, 1.0);
    const MatrixView<const float> block = points.middle_rows(first, count);
    const PredictionViews views = {.mean = {mean.data(), count, 1}, .variance = {variance.data(), count, 1}};
    if (!last_layers_.empty())
      predict_last_layer(*engine_, ensemble_, last_layers_, block, views, plan_.settings.threads);
    else if (!ensemble_.members.empty())
      engine_->predict(ensemble_, block, views);
    if (process_)
      process_->predict(block, {.mean = process, .variance = process_variance, .local = local}, engine_->host_threads());
    for (std::size_t i = 0; i < count; ++i) {
      BlendedPoint point = {static_cast<double>(mean[i]), static_cast<double>(variance[i]), 1.0};
      if (process_) {
        const double network = ensemble_.members.empty() ? process[i] : point.mean;
        point = blended(weight_, process[i], process_variance[i], network, local[i]);
      }
      if (!out.mean.empty()) out.mean[first + i] = point.mean;
      if (!out.sd_epistemic.empty()) out.sd_epistemic[first + i] = std::sqrt(point.variance);
      if (!out.sd_total.empty()) out.sd_total[first + i] = std::sqrt(point.variance + local[i] * noise);
    }
  }
}

std::vector<std::pair<std::string, std::string>> DriftInterpolator::findings(const Domain& domain) const {
  std::vector<std::pair<std::string, std::string>> found;
  if (process_) {
    for (const std::string& text : describe(*process_, domain)) found.emplace_back("process", text);
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
