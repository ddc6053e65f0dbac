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
#include "fitting/judge.h"
#include "fitting/method_data.h"
#include "fitting/networks.h"
#include "fitting/own_parts.h"
#include "fitting/plan_split.h"
#include "fitting/stopped.h"
#include "settings/settings_under.h"

namespace drift {

std::unique_ptr<Engine> make_engine(const RunSettings& settings) {
  check(settings);
  return make_engine(settings.backend, {.threads = settings.threads, .precision = settings.precision});
}

namespace {

constexpr double kPartsShare = 0.95;  // of a fit's time, by and large

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
  result.steps = has_networks(plan) ? total_steps(plan.recipe, plan.split.training.size()) : 0;
  const MethodData training = method_data(plan, observations);
  model.ensemble.spec = plan.spec;
  model.domain = plan.domain;
  model.info = describe_field(plan, data);
  const Control fitting = control.part(0.0, kPartsShare), judging = control.part(kPartsShare, 1.0);
  OwnParts parts;
  const auto begun = std::chrono::steady_clock::now();
  if (plan.method == FitMethod::other)
    fit_method(plan, training.view(), fitting, model);
  else
    parts = fit_own_parts(*engine, plan, training.view(), &observations, model, fitting);
  result.train_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  result.worth = parts.worth;
  model.cells = data_cells(plan.domain, observations, std::span<const std::size_t>(plan.split.training));
  control.check_stop();
  model.training_sample = training_sample(observations, std::span<const std::size_t>(plan.split.training));
  model.settings = to_toml(plan.settings);
  judge(*engine, plan, data, result, model.process ? &parts.out : nullptr, judging);
  judging.report(1.0, "calibrating");
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
