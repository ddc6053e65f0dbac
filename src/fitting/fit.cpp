#include "drift/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

#include "drift/error.h"
#include "drift/interpolator.h"
#include "fields/sources.h"
#include "fields/training_sample.h"
#include "fitting/blend.h"
#include "fitting/judge.h"
#include "fitting/method_data.h"
#include "fitting/networks.h"
#include "fitting/plan_split.h"
#include "fitting/stopped.h"
#include "settings/run_identity.h"
#include "settings/settings_under.h"

namespace drift {
namespace {

constexpr const char* kFingerprintKey = "fingerprint";
constexpr const char* kSettingsKey = "settings";  // as a run file: what differs can be told

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

}  // namespace

std::unique_ptr<Engine> make_engine(const RunSettings& settings) {
  check(settings);
  return make_engine(settings.backend, {.threads = settings.threads, .precision = settings.precision});
}

namespace {

// Approximate shares of a fit's time.
constexpr double kNetworksShare = 0.7, kProcessShare = 0.2;

using WriteTime = std::optional<std::filesystem::file_time_type>;

// None: there is no such file.
WriteTime written_at(const std::filesystem::path& path) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path, error);
  return error ? std::nullopt : WriteTime(time);
}

// `found`: the checkpoint that was there before. This run took it up unless it starts afresh; then it is another's until it is
// written anew.
[[noreturn]] void stop_fit(const FitPlan& plan, const Control& control, const WriteTime& found) {
  const std::filesystem::path& path = control.checkpoint;
  if (!has_networks(plan)) throw Stopped("stopped; nothing was written: only the training of networks has checkpoints");
  if (path.empty()) {
    throw Stopped(
        "stopped; nothing was written. With a file for the model (out) or a checkpoint, the same fit resumes where it stopped");
  }
  const WriteTime now = written_at(path);
  if (!now || (control.fresh && now == found)) throw Stopped(kNothingToSave);
  throw Stopped(fmt::format("stopped; progress so far is in {}. The same fit resumes from there", path.string()));
}

// Trains the networks from where the checkpoint left off.
void train_networks(Engine& engine, const FitPlan& plan, const TrainingRows& rows, const Control& control, Ensemble& ensemble) {
  TrainingState state;
  take_up(plan, control, ensemble, state);
  if (ensemble.members.empty()) ensemble = draw_networks(plan);
  train(engine, ensemble, state, rows.view(), plan.recipe,
        {.control = control,
         .checkpoint_every_s = plan.settings.train.checkpoint_every_s,
         .metadata = {{kFingerprintKey, plan.fingerprint}, {kSettingsKey, to_toml(plan.settings)}}});
}

// Another method than drift's own.
void fit_method(const FitPlan& plan, const InterpolatorData& data, const Control& control, FieldModel& model) {
  const UncertaintySettings& wanted = plan.settings.uncertainty;
  model.method_text = text_of(*plan.settings.fit.method);
  std::shared_ptr<Interpolator> method = make_interpolator(model.method_text, plan.domain);
  method->fit(data, interpolator_options(plan.settings), control);
  std::string found;
  for (const auto& [name, value] : method->findings(plan.domain))
    found += fmt::format("{}{} {}", found.empty() ? "" : ", ", name, value);
  if (!found.empty()) control.tell(fmt::format("Found: {}.", found));
  // As compare has it: the method's own noise counts where nothing is calibrated and none is given.
  model.method_noise = method->knows_noise() && wanted.calibrate == CalibrationMethod::none && !wanted.noise_sd;
  model.method = std::move(method);
}

FitResult fit_parts(const FitPlan& plan, const Dataset& data, const Control& control) {
  const std::unique_ptr<Engine> engine = make_engine(plan.settings);
  const Observations& observations = data.observations;
  FitResult result;
  FieldModel& model = result.model;
  model.sources =
      sources_of(plan.settings.data.files, plan.settings.threads, control);  // first: no training is lost if one is unreadable
  const bool networks = has_networks(plan);
  const bool process = plan.method == FitMethod::blend || plan.method == FitMethod::process;
  result.steps = networks ? total_steps(plan.recipe, plan.split.training.size()) : 0;
  const MethodData training = method_data(plan, observations);
  const TrainingRows& rows = training.rows;
  const double begun = seconds_now();
  model.ensemble.spec = plan.spec;
  const double trained = !process ? 0.95 : networks ? kNetworksShare : 0.0;
  const double kriged = process ? trained + kProcessShare : trained;
  if (networks) train_networks(*engine, plan, rows, control.part(0.0, trained), model.ensemble);
  if (plan.method == FitMethod::other) fit_method(plan, training.view(), control.part(0.0, trained), model);
  FittedProcess fitted;
  if (process) {
    control.report(trained, "fitting the process");
    fitted = fit_process_part(training.view(), plan.settings.seed, plan.settings.threads, control.part(trained, kriged));
    model.process = fitted.process;
    for (const std::string& finding : describe(*model.process, plan.domain)) control.tell(finding);
  }
  result.train_s = seconds_now() - begun;
  model.domain = plan.domain;
  model.info = describe_field(plan, data);
  model.cells = data_cells(plan.domain, observations, std::span<const std::size_t>(plan.split.training));
  control.check_stop();
  model.training_sample = training_sample(observations, std::span<const std::size_t>(plan.split.training));
  model.settings = to_toml(plan.settings);
  const Control judging = control.part(kriged, 1.0);
  if (!process) {
    if (networks) model.last_layers = add_uncertainty(*engine, plan, rows.view(), model.ensemble, judging);
    judge(*engine, plan, data, result, nullptr, judging);
    return result;
  }
  OutOfFold out = forecast_out_of_fold(*engine, plan, observations, training.view(), model.ensemble, *model.process, judging);
  model.weight = blend_weight(out);
  const std::string local = learn_local_spread(fitted, training.view(), model.weight, plan.settings.threads, out, judging);
  if (!local.empty()) control.tell(local);
  result.worth = part_worth(out, model.weight, plan.domain);
  judge(*engine, plan, data, result, &out, judging);
  return result;
}

}  // namespace

FitResult fit(const FitPlan& plan, const Dataset& data, const Control& control) {
  const FitPlan own = plan_under(control, plan);
  const WriteTime found = written_at(control.checkpoint);
  try {
    return fit_parts(own, data, control);
  } catch (const Stopped&) {
    stop_fit(own, control, found);
  }
}

}  // namespace drift
