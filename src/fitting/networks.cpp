#include "fitting/networks.h"

#include <algorithm>
#include <cmath>

#include "drift/text.h"
#include "fields/data_extent.h"

namespace drift {

Ensemble draw_networks(const FitPlan& plan) {
  Ensemble ensemble = draw_ensemble(plan.spec, plan.settings.seed, plan.members, plan.settings.threads);
  if (plan.settings.uncertainty.method == UncertaintyMethod::variational) make_variational(ensemble);
  return ensemble;
}

std::vector<LastLayerPosterior> add_uncertainty(Engine& engine, const FitPlan& plan, const TrainingSet& rows, Ensemble& ensemble,
                                                const Control& control) {
  const UncertaintySettings& wanted = plan.settings.uncertainty;
  const std::uint64_t seed = plan.settings.seed;
  const int threads = plan.settings.threads;
  if (wanted.method == UncertaintyMethod::dropout)
    ensemble = dropout_draws(ensemble, wanted.dropout, wanted.draws, seed, 0, threads);
  if (wanted.method == UncertaintyMethod::variational) ensemble = variational_draws(ensemble, wanted.draws, seed, 0, threads);
  if (wanted.method != UncertaintyMethod::last_layer) return {};
  // Noise in the engine's units: what the recipe assumed.
  const double noise = std::max(plan.recipe.noise_sd, 1e-4);
  return fit_last_layer(engine, ensemble, rows, noise, threads, control);
}

FieldInfo describe_field(const FitPlan& plan, const Dataset& data) {
  FieldInfo info;
  info.value = {to_utf8(data.value.name), to_utf8(data.value.long_name), to_utf8(data.value.standard_name),
                to_utf8(data.value.unit)};
  info.provenance = to_utf8(data.provenance);
  info.has_time = plan.spec.temporal.layers > 0;
  info.calendar_time = data.calendar_time;
  info.training = plan.split.training.size();
  info.extent = extent_of(plan.domain, data.observations, std::span<const std::size_t>(plan.split.training));
  if (info.has_time) {
    info.first_time_days = INFINITY, info.last_time_days = -INFINITY;
    for (const std::size_t row : plan.split.training) {
      info.first_time_days = std::min(info.first_time_days, data.observations.time_days[row]);
      info.last_time_days = std::max(info.last_time_days, data.observations.time_days[row]);
    }
  }
  return info;
}

}  // namespace drift
