#include "drift/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "drift/error.h"
#include "run/judge.h"
#include "run/training_rows.h"

namespace drift {
namespace {

constexpr const char* kFingerprintKey = "fingerprint";

void say(const FitControl& control, const std::string& text) {
  if (control.say) control.say(text);
}

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The checkpoint's ensemble and state, where there is one of this very run.
void take_up(const FitPlan& plan, const FitControl& control, Ensemble& ensemble, TrainingState& state) {
  if (control.checkpoint.empty() || control.fresh || !std::filesystem::exists(control.checkpoint)) return;
  Checkpoint checkpoint = load_checkpoint(control.checkpoint);
  const auto found = checkpoint.metadata.find(kFingerprintKey);
  if (found == checkpoint.metadata.end() || found->second != plan.fingerprint) {
    throw UsageError(
        fmt::format("{}: this checkpoint is of another run (other settings or other observations); repeat that run to "
                    "finish it, or begin anew with --fresh",
                    control.checkpoint.string()));
  }
  ensemble = std::move(checkpoint.ensemble);
  state = std::move(checkpoint.state);
  const auto fewer = [](const MemberProgress& a, const MemberProgress& b) { return a.step < b.step; };
  const auto least = std::min_element(state.members.begin(), state.members.end(), fewer);
  say(control, fmt::format("Resuming from {}: {} steps a network are done.", control.checkpoint.string(),
                           least == state.members.end() ? 0 : least->step));
}

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

FieldInfo describe(const FitPlan& plan, const Reading& reading) {
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

// Where the spread is not that of independent networks, the draws or posteriors it comes from.
void add_uncertainty(Engine& engine, const FitPlan& plan, const TrainingRows& rows, FieldModel& model) {
  const UncertaintySettings& wanted = plan.settings.uncertainty;
  const std::uint64_t seed = plan.settings.seed;
  if (wanted.method == "dropout") model.ensemble = dropout_draws(model.ensemble, wanted.dropout, wanted.draws, seed);
  if (wanted.method == "variational") model.ensemble = variational_draws(model.ensemble, wanted.draws, seed);
  if (wanted.method != "last_layer") return;
  // Noise in the engine's units: what the recipe assumed.
  const double noise = std::max(plan.recipe.noise_sd, 1e-4);
  model.last_layers = fit_last_layer(engine, model.ensemble, rows.view(), noise, plan.settings.threads);
}

}  // namespace

FitResult fit(const FitPlan& plan, const Reading& reading, const FitControl& control) {
  const std::unique_ptr<Engine> engine = make_cpu_engine({.threads = plan.settings.threads});
  Ensemble ensemble;
  TrainingState state;
  take_up(plan, control, ensemble, state);
  if (ensemble.members.empty()) {
    ensemble = draw_ensemble(plan.spec, plan.settings.seed, plan.members);
    if (plan.settings.uncertainty.method == "variational") make_variational(ensemble);
  }

  FitResult result;
  result.steps = total_steps(plan.recipe, plan.split.training.size());
  const TrainingRows rows = training_rows(plan.domain, reading.observations, plan.split.training, plan.spec.temporal.layers > 0);
  TrainOptions options;
  options.control = {.progress = control.progress, .stop = control.stop};
  options.checkpoint = control.checkpoint;
  options.checkpoint_every_s = plan.settings.train.checkpoint_every_s;
  options.metadata = {{kFingerprintKey, plan.fingerprint}};
  const double begun = seconds_now();
  result.finished = train(*engine, ensemble, state, rows.view(), plan.recipe, options);
  result.train_s = seconds_now() - begun;
  if (!result.finished) return result;
  state = {};
  result.model.ensemble = std::move(ensemble);
  result.model.domain = plan.domain;
  result.model.info = describe(plan, reading);
  result.model.cells = data_cells(plan.domain, reading.observations, std::span<const std::size_t>(plan.split.training));
  result.model.settings = to_toml(plan.settings);
  add_uncertainty(*engine, plan, rows, result.model);
  judge(*engine, plan, reading, result);
  return result;
}

}  // namespace drift
