#include "drift/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "drift/error.h"
#include "drift/interpolator.h"
#include "fitting/blend.h"
#include "fitting/judge.h"
#include "fitting/method_data.h"
#include "fitting/networks.h"
#include "settings/run_identity.h"

namespace drift {
namespace {

constexpr const char* kFingerprintKey = "fingerprint";
constexpr const char* kSettingsKey = "settings";  // as a run file: what differs can be told

void say(const FitControl& control, const std::string& text) {
  if (control.say) control.say(text);
}

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

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
void take_up(const FitPlan& plan, const FitControl& control, Ensemble& ensemble, TrainingState& state) {
  if (control.checkpoint.empty() || control.fresh || !std::filesystem::exists(control.checkpoint)) return;
  Checkpoint checkpoint = load_checkpoint(control.checkpoint);
  const auto found = checkpoint.metadata.find(kFingerprintKey);
  if (found == checkpoint.metadata.end() || found->second != plan.fingerprint) {
    throw UsageError(
        fmt::format("{}: this checkpoint is of another run: {}. Repeat that run to finish it, or begin anew with --fresh",
                    control.checkpoint.string(), difference(plan, checkpoint.metadata)));
  }
  ensemble = std::move(checkpoint.ensemble);
  state = std::move(checkpoint.state);
  const auto fewer = [](const MemberProgress& a, const MemberProgress& b) { return a.step < b.step; };
  const auto least = std::min_element(state.members.begin(), state.members.end(), fewer);
  say(control, fmt::format("Resuming from {}: {} steps a network are done.", control.checkpoint.string(),
                           least == state.members.end() ? 0 : least->step));
}

}  // namespace

std::unique_ptr<Engine> make_engine(const RunSettings& settings) {
  check(settings);
  return make_engine(settings.backend, {.threads = settings.threads, .precision = settings.precision});
}

namespace {

// Trains the networks from where the checkpoint left off. False: stopped.
bool train_networks(Engine& engine, const FitPlan& plan, const TrainingRows& rows, const FitControl& control,
                    Ensemble& ensemble) {
  TrainingState state;
  take_up(plan, control, ensemble, state);
  if (ensemble.members.empty()) ensemble = draw_networks(plan);
  TrainOptions options;
  options.control = {.progress = control.progress, .stop = control.stop};
  options.checkpoint = control.checkpoint;
  options.checkpoint_every_s = plan.settings.train.checkpoint_every_s;
  options.metadata = {{kFingerprintKey, plan.fingerprint}, {kSettingsKey, to_toml(plan.settings)}};
  return train(engine, ensemble, state, rows.view(), plan.recipe, options);
}

}  // namespace

namespace {

// Another method than drift's own. False: stopped.
bool fit_method(const FitPlan& plan, const InterpolatorData& data, const FitControl& control, FieldModel& model) {
  const UncertaintySettings& wanted = plan.settings.uncertainty;
  model.method_text = text_of(*plan.settings.fit.method);
  std::shared_ptr<Interpolator> method = make_interpolator(model.method_text, plan.domain);
  InterpolatorControl own = {.seed = plan.settings.seed,
                             .threads = plan.settings.threads,
                             .backend = plan.settings.backend,
                             .precision = plan.settings.precision,
                             .stop = control.stop};
  if (control.progress) {
    constexpr double kSteps = 1000.0;  // a method tells of shares, not of steps
    own.progress = [&](double share, const std::string&) {
      control.progress({.step = static_cast<std::uint64_t>(kSteps * share), .steps = static_cast<std::uint64_t>(kSteps), .loss = 0.0, .rate = 0.0});
    };
  }
  if (!method->fit(data, own)) return false;
  std::string found;
  for (const auto& [name, value] : method->findings(plan.domain)) found += fmt::format("{}{} {}", found.empty() ? "" : ", ", name, value);
  if (!found.empty()) say(control, fmt::format("Found: {}.", found));
  // As compare has it: the method's own noise counts where nothing is calibrated and none is given.
  model.method_noise = method->knows_noise() && wanted.calibrate == CalibrationMethod::none && !wanted.noise_sd;
  model.method = std::move(method);
  return true;
}

}  // namespace

FitResult fit(const FitPlan& plan, const Reading& reading, const FitControl& control) {
  const std::unique_ptr<Engine> engine = make_engine(plan.settings);
  const Observations& observations = reading.observations;
  FitResult result;
  FieldModel& model = result.model;
  const bool networks = plan.method == FitMethod::blend || plan.method == FitMethod::network;
  const bool process = plan.method == FitMethod::blend || plan.method == FitMethod::process;
  result.steps = networks ? total_steps(plan.recipe, plan.split.training.size()) : 0;
  const MethodData data = method_data(plan, observations);
  const TrainingRows& rows = data.rows;
  const double begun = seconds_now();
  model.ensemble.spec = plan.spec;
  if (networks && !train_networks(*engine, plan, rows, control, model.ensemble)) return result;
  if (plan.method == FitMethod::other && !fit_method(plan, data.view(), control, model)) return result;
  if (process) {
    model.process = fit_process_part(data.view(), plan.settings.seed, plan.settings.threads, control.stop);
    if (!model.process) return result;
    for (const std::string& finding : describe(*model.process, plan.domain)) say(control, finding);
  }
  result.finished = true;
  result.train_s = seconds_now() - begun;
  model.domain = plan.domain;
  model.info = describe_field(plan, reading);
  model.cells = data_cells(plan.domain, observations, std::span<const std::size_t>(plan.split.training));
  model.settings = to_toml(plan.settings);
  if (!process) {
    if (networks) model.last_layers = add_uncertainty(*engine, plan, rows.view(), model.ensemble);
    judge(*engine, plan, reading, result);
    return result;
  }
  const OutOfFold out = forecast_out_of_fold(*engine, plan, observations, data.view(), model.ensemble, *model.process);
  model.process_weight = blend_weight(out);
  result.worth = part_worth(out, model.process_weight, plan.domain);
  judge(*engine, plan, reading, result, &out);
  return result;
}

}  // namespace drift
