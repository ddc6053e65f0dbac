#include "fitting/own_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "drift/error.h"
#include "fitting/networks.h"
#include "fitting/plan_split.h"
#include "settings/run_identity.h"

namespace drift {
namespace {

// Approximate shares of the time of both parts.
constexpr double kNetworksShare = 0.75, kProcessShare = 0.2;

constexpr const char* kFingerprintKey = "fingerprint";
constexpr const char* kSettingsKey = "settings";  // as a run file: what differs can be told

// Of the checkpoint's run and this one.
std::string difference(const FitPlan& plan, const Metadata& metadata) {
  const auto settings = metadata.find(kSettingsKey);
  if (settings == metadata.end()) return "other settings or other observations";
  try {
    const RunSettings before = run_settings_from_toml(settings->second, "settings");
    const std::string differing = settings_that_differ(before, plan.settings, on_fit | on_observations);
    return differing.empty() ? "the settings are the same, but the observations differ" : differing;
  } catch (const UsageError&) {
    return "its settings are those of another version of drift";
  }
}

// The checkpoint's ensemble and state, where there is one of this very run.
void take_up(const FitPlan& plan, const Control& control, Ensemble& ensemble, TrainingState& state) {
  if (control.checkpoint.empty() || control.fresh || !std::filesystem::exists(control.checkpoint)) return;
  Checkpoint checkpoint = load_checkpoint(control.checkpoint);
  const auto found = checkpoint.metadata.find(kFingerprintKey);
  if (found == checkpoint.metadata.end() || found->second != plan.fingerprint) {
    throw UsageError(
        fmt::format("{}: this checkpoint is of another run: {}. Repeat that run to finish it, or start afresh with --fresh",
                    control.checkpoint.string(), difference(plan, checkpoint.metadata)));
  }
  ensemble = std::move(checkpoint.ensemble);
  state = std::move(checkpoint.state);
  const auto fewer = [](const MemberProgress& a, const MemberProgress& b) { return a.step < b.step; };
  const auto least = std::min_element(state.members.begin(), state.members.end(), fewer);
  control.tell(fmt::format("Resuming from {}: {} steps per network are done.", control.checkpoint.string(),
                           least == state.members.end() ? 0 : least->step));
}

// Trains the networks from where the checkpoint left off.
void train_networks(Engine& engine, const FitPlan& plan, const TrainingSet& rows, const Control& control, Ensemble& ensemble) {
  TrainingState state;
  take_up(plan, control, ensemble, state);
  if (ensemble.members.empty()) ensemble = draw_networks(plan);
  train(engine, ensemble, state, rows, plan.recipe,
        {.control = control,
         .checkpoint_every_s = plan.settings.train.checkpoint_every_s,
         .metadata = {{kFingerprintKey, plan.fingerprint}, {kSettingsKey, to_toml(plan.settings)}}});
}

}  // namespace

OwnParts fit_own_parts(Engine& engine, const FitPlan& plan, const InterpolatorData& data, const Observations* observations,
                       FieldModel& model, const Control& control) {
  const bool networks = has_networks(plan), process = plan.method != FitMethod::network;
  const int threads = plan.settings.threads;
  const double trained = !networks ? 0.0 : process ? kNetworksShare : 0.95, kriged = process ? trained + kProcessShare : trained;
  TrainingSet rows = data.training;
  rows.folds = data.fold, rows.fold_count = data.fold_count;
  if (networks) {
    train_networks(engine, plan, rows, control.part(0.0, trained), model.ensemble);
    model.last_layers = add_uncertainty(engine, plan, rows, model.ensemble, control.part(trained, 1.0));
  }
  OwnParts parts;
  if (!process) return parts;
  control.report(trained, "fitting the process");
  const FittedProcess fitted = fit_process_part(data, plan.settings.seed, threads, control.part(trained, kriged));
  model.process = fitted.process;
  for (const std::string& finding : describe(*model.process, plan.domain)) control.tell(finding);
  const Control rest = control.part(kriged, 1.0);
  parts.out = observations != nullptr
                  ? forecast_out_of_fold(engine, plan, *observations, data, model.ensemble, *model.process, rest)
                  : forecast_out_of_fold(engine, data, model.ensemble, *model.process, threads, rest);
  model.weight = blend_weight(parts.out);
  const std::string local = learn_local_spread(fitted, data, model.weight, threads, parts.out, rest);
  if (!local.empty()) control.tell(local);
  parts.worth = part_worth(parts.out, model.weight, plan.domain);
  return parts;
}

}  // namespace drift
