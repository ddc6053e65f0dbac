#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "drift/engine.h"
#include "drift/error.h"
#include "engine/observation_checks.h"
#include "engine/segments.h"
#include "engine/shapes.h"

namespace drift {
namespace {

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Steps that every member has taken.
std::uint64_t least_step(const TrainingState& state) {
  const auto fewer = [](const MemberProgress& a, const MemberProgress& b) { return a.step < b.step; };
  return state.members.empty() ? 0 : std::min_element(state.members.begin(), state.members.end(), fewer)->step;
}

void check_state(const Ensemble& ensemble, const TrainingState& state, std::uint64_t total) {
  if (state.members.empty()) return;  // before the first step
  check_shapes(ensemble, state);
  for (std::size_t i = 0; i < state.members.size(); ++i) {
    if (state.members[i].step <= total) continue;
    throw UsageError(
        fmt::format("member {} has taken {} steps already but the recipe ends after {}: the training state belongs to "
                    "another recipe or other observations",
                    i, state.members[i].step, total));
  }
}

// Known at once, not after hours of training.
void check_checkpoint(const TrainOptions& options) {
  if (options.control.checkpoint.empty()) return;
  if (!(options.checkpoint_every_s > 0.0)) {
    throw UsageError(fmt::format("checkpoint_every_s is {} but must be greater than 0", options.checkpoint_every_s));
  }
  const std::filesystem::path folder = std::filesystem::absolute(options.control.checkpoint).parent_path();
  if (!std::filesystem::is_directory(folder)) {
    throw UsageError(fmt::format("the checkpoint cannot be written: {} is not a folder; create it first", folder.string()));
  }
}

// A disk that is full for a while costs no training: the failure is reported, and the next checkpoint tries again.
bool try_to_save(const Ensemble& ensemble, const TrainingState& state, const Recipe& recipe, const TrainOptions& options) {
  try {
    save_checkpoint(options.control.checkpoint, ensemble, state, recipe, options.metadata);
    return true;
  } catch (const Error& error) {
    options.control.warn(fmt::format("no checkpoint was written: {}; training continues", error.what()));
    return false;
  }
}

}  // namespace

void train(Engine& engine, Ensemble& ensemble, TrainingState& state, const TrainingSet& data, const Recipe& recipe,
           const TrainOptions& options) {
  check(recipe);
  check_shapes(ensemble, data);
  check_observations(ensemble.spec, data);
  check_checkpoint(options);
  const std::uint64_t total = total_steps(recipe, data.values.rows);
  check_state(ensemble, state, total);

  const Control& control = options.control;
  const bool saving = !options.control.checkpoint.empty();
  bool unsaved = !state.members.empty();  // there is something to save
  Segments segments(options.checkpoint_every_s, least_step(state), total, seconds_now());
  while (!segments.done() && !control.stop.stop_requested()) {
    engine.advance(ensemble, state, data, recipe, saving ? segments.next_end() : total, control);
    unsaved = true;
    const bool due = segments.reached(least_step(state), seconds_now());
    if (!saving || !due || segments.done()) continue;
    unsaved = !try_to_save(ensemble, state, recipe, options);
    segments.saved(seconds_now());
  }
  if (segments.done()) {
    if (saving && unsaved) try_to_save(ensemble, state, recipe, options);
    return;
  }
  if (saving && unsaved) save_checkpoint(control.checkpoint, ensemble, state, recipe, options.metadata);
  throw Stopped("training was stopped");
}

std::vector<std::string> train_together(Engine& engine, std::span<const TrainingRun> runs, const TrainingSet& data,
                                        const Control& control) {
  std::uint64_t most = 0;
  for (const TrainingRun& run : runs) {
    check(run.recipe);
    check_shapes(*run.ensemble, data);
    if (run.ensemble->spec.space != runs.front().ensemble->spec.space || &run == &runs.front())
      check_observations(run.ensemble->spec, data);
    most = std::max(most, total_steps(run.recipe, data.values.rows));
  }
  std::vector<std::string> failures = engine.advance_together(runs, data, most, control);
  control.check_stop("training was stopped");
  return failures;
}

}  // namespace drift
