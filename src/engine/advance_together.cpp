#include <exception>

#include "drift/engine.h"
#include "engine/training_start.h"

namespace drift {

// One run after the other.
std::vector<std::string> Engine::advance_together(std::span<const TrainingRun> runs, const TrainingSet& data,
                                                  std::uint64_t until_step, const Control& control) {
  std::vector<TrainingState> own(runs.size());
  const auto state_of = [&](std::size_t i) -> TrainingState& { return runs[i].state == nullptr ? own[i] : *runs[i].state; };
  std::vector<std::string> failures(runs.size());
  std::uint64_t steps = 0;
  if (control.progress) {
    for (const TrainingRun& run : runs) steps += total_steps(run.recipe, data.values.rows) * run.ensemble->members.size();
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Control of_run = control;
    if (control.progress) {
      std::uint64_t others = 0;
      for (std::size_t j = 0; j < runs.size(); ++j) others += j == i ? 0 : steps_taken(state_of(j));
      const std::uint64_t of_this = total_steps(runs[i].recipe, data.values.rows) * runs[i].ensemble->members.size();
      const auto share_of = [steps](std::uint64_t part) { return static_cast<double>(part) / static_cast<double>(steps); };
      of_run = control.part(share_of(others), share_of(others + of_this));
    }
    try {
      advance(*runs[i].ensemble, state_of(i), data, runs[i].recipe, until_step, of_run);
    } catch (const std::exception& error) {
      failures[i] = error.what();
    }
  }
  return failures;
}

}  // namespace drift
