#include "run/networks.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace drift {
namespace {

// Smallest box around the positions; longitudes by the widest empty gap between them, to a tenth of a degree.
std::array<double, 4> extent_of(const Domain& domain, const Observations& observations, std::span<const std::size_t> rows) {
  double x0 = INFINITY, y0 = INFINITY, x1 = -INFINITY, y1 = -INFINITY;
  constexpr int kBins = 3600;
  std::vector<bool> taken(kBins, false);
  for (const std::size_t row : rows) {
    const double x = observations.lon_deg[row], y = observations.lat_deg[row];
    x0 = std::min(x0, x), x1 = std::max(x1, x), y0 = std::min(y0, y), y1 = std::max(y1, y);
    if (domain.kind == DomainKind::xy) continue;
    const double turns = (x + 180.0) / 360.0;
    taken[static_cast<std::size_t>((turns - std::floor(turns)) * kBins) % kBins] = true;
  }
  if (domain.kind == DomainKind::xy) return {x0, y0, x1, y1};
  int widest = 0, end = 0, empty = 0;  // the gap that ends before bin `end`
  for (int i = 0; i < 2 * kBins; ++i) {
    empty = taken[static_cast<std::size_t>(i % kBins)] ? 0 : empty + 1;
    if (empty > widest) widest = empty, end = i + 1;
  }
  if (widest == 0) return {-180.0, y0, 180.0, y1};
  const auto degrees = [](int bin) { return -180.0 + 0.1 * (bin % kBins); };
  const double west = degrees(end), east = degrees(end + kBins - widest);
  return {west, y0, east == -180.0 ? 180.0 : east, y1};
}

}  // namespace

Ensemble draw_networks(const FitPlan& plan) {
  Ensemble ensemble = draw_ensemble(plan.spec, plan.settings.seed, plan.members);
  if (plan.settings.uncertainty.method == UncertaintyMethod::variational) make_variational(ensemble);
  return ensemble;
}

std::vector<LastLayerPosterior> add_uncertainty(Engine& engine, const FitPlan& plan, const TrainingSet& rows,
                                                Ensemble& ensemble) {
  const UncertaintySettings& wanted = plan.settings.uncertainty;
  const std::uint64_t seed = plan.settings.seed;
  if (wanted.method == UncertaintyMethod::dropout) ensemble = dropout_draws(ensemble, wanted.dropout, wanted.draws, seed);
  if (wanted.method == UncertaintyMethod::variational) ensemble = variational_draws(ensemble, wanted.draws, seed);
  if (wanted.method != UncertaintyMethod::last_layer) return {};
  // Noise in the engine's units: what the recipe assumed.
  const double noise = std::max(plan.recipe.noise_sd, 1e-4);
  return fit_last_layer(engine, ensemble, rows, noise, plan.settings.threads);
}

FieldInfo describe_field(const FitPlan& plan, const Reading& reading) {
  FieldInfo info;
  info.value = reading.report.value;
  if (info.value.name.empty()) info.value.name = reading.report.roles.value;
  info.has_time = plan.spec.temporal.layers > 0;
  info.calendar_time = reading.report.calendar_time;
  info.training = plan.split.training.size();
  info.extent = extent_of(plan.domain, reading.observations, plan.split.training);
  if (info.has_time) {
    info.first_time_days = INFINITY, info.last_time_days = -INFINITY;
    for (const std::size_t row : plan.split.training) {
      info.first_time_days = std::min(info.first_time_days, reading.observations.time_days[row]);
      info.last_time_days = std::max(info.last_time_days, reading.observations.time_days[row]);
    }
  }
  return info;
}

}  // namespace drift
