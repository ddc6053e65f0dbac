#include "comparing/drift_interpolator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/blocks.h"
#include "drift/error.h"
#include "fitting/foresee_memory.h"
#include "fitting/own_parts.h"
#include "fitting/replan.h"
#include "settings/own_method.h"

namespace drift {

DriftInterpolator::DriftInterpolator(const MethodSettings& settings, const FitPlan& plan, Search search)
    : plan_(replan(plan, own_settings(settings, plan.settings), plan.split.training.size())), search_(std::move(search)) {
  if (plan_.settings.tune.method == TuneMethod::bayes) trials_ = plan_.settings.tune.trials;
}

void DriftInterpolator::tune(const Control& control) {
  const TuneResult result = search_(plan_, control);
  if (!result.best) throw Error("drift: no trial of the search succeeded; leave trials out, or look with drift tune");
  plan_ = replan(plan_, result.settings, plan_.split.training.size());
}

void DriftInterpolator::fit(const InterpolatorData& data, const InterpolatorOptions& options, const Control& control) {
  plan_.settings.seed = options.seed;
  // A trial has three networks as a rule.
  const double tuning_work = 3.0 * static_cast<double>(trials_);
  const double tuning_share = tuning_work / (tuning_work + static_cast<double>(plan_.members));
  if (trials_ > 0) tune(control.part(0.0, tuning_share));
  foresee_memory(plan_, plan_.split.training.size() + plan_.split.held_out.size() + plan_.test.size());
  engine_ = make_engine(options.backend, {.threads = options.threads, .precision = options.precision});
  // Fewer members than folds share them out among themselves.
  InterpolatorData own = data;
  own.fold = plan_.folds.of, own.fold_count = plan_.folds.count, own.group = plan_.folds.group;
  model_ = {.ensemble = {plan_.spec, plan_.settings.seed, {}}, .domain = plan_.domain};
  model_.info.has_time = data.has_time();
  Control silent = control.part(tuning_share, 1.0);
  silent.say = {}, silent.checkpoint.clear();
  worth_ = fit_own_parts(*engine_, plan_, own, nullptr, model_, silent).worth.value_or(PartWorth());
  parts_ = std::make_unique<PartsPredictor>(*engine_, model_);
  if (!model_.process) return;
  double known = 0.0;
  for (const float sd : data.noise_sd) known += static_cast<double>(sd) * static_cast<double>(sd);
  noise_variance_ =
      model_.process->observation_variance() + known / static_cast<double>(std::max<std::size_t>(1, data.noise_sd.size()));
}

std::size_t DriftInterpolator::members() const {
  return model_.process || !model_.last_layers.empty() ? 0 : model_.ensemble.members.size();
}

std::optional<double> DriftInterpolator::settled_noise() const {
  return model_.process ? std::optional(std::sqrt(noise_variance_)) : std::nullopt;
}

void DriftInterpolator::predict(MatrixView<const float> points, const PointForecast& out, const Workers&) const {
  for_blocks(points.rows, [&](std::size_t first, std::size_t count) {
    const PartForecast said = (*parts_)(points.middle_rows(first, count), {.members = !out.members.empty()});
    if (!out.members.empty()) std::copy(said.members.begin(), said.members.end(), out.members.begin() + first * members());
    for (std::size_t i = 0; i < count; ++i) {
      const double variance = said.variance.empty() ? 0.0 : said.variance[i];
      const double error = said.local.empty() ? 0.0 : said.local[i] * noise_variance_;
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
