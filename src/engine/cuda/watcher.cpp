#include "engine/cuda/watcher.h"

#include <algorithm>
#include <cmath>

#include "engine/training_start.h"

namespace drift::cuda {

Watcher::Watcher(const Control& control, std::span<const TrainingRun> runs, std::vector<std::string>& failures,
                 std::size_t observations, std::uint64_t done)
    : control_(control), runs_(runs), failures_(failures), observations_(observations) {
  std::uint64_t of = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (failures[i].empty()) of += total_steps(runs[i].recipe, observations) * runs[i].ensemble->members.size();
  }
  report_.emplace(control, done, of);
}

bool Watcher::operator()(std::span<const TrainedMember> members, const std::vector<std::vector<float>>& losses,
                         std::uint64_t first) {
  const std::lock_guard lock(mutex_);
  TrainingReport::Taken taken = {.steps = members.size() * losses.front().size()};
  taken.observations = taken.steps * members.front().recipe->batch;
  note_failures(members, losses, first, taken);
  report_->steps_taken(taken);
  if (control_.stop.stop_requested()) stopped_ = true;
  const auto failed = [&](const TrainedMember& member) { return !failures_[member.run].empty(); };
  return stopped_ || std::all_of(members.begin(), members.end(), failed);
}

void Watcher::note_failures(std::span<const TrainedMember> members, const std::vector<std::vector<float>>& losses,
                            std::uint64_t first, TrainingReport::Taken& taken) {
  for (std::size_t step = 0; step < losses.front().size(); ++step) {
    for (std::size_t i = 0; i < losses.size(); ++i) {
      std::string& failure = failures_[members[i].run];
      if (!failure.empty()) continue;
      if (std::isfinite(losses[i][step])) {
        taken.loss_sum += losses[i][step];
        ++taken.losses;
        continue;
      }
      const Recipe& recipe = runs_[members[i].run].recipe;
      failure = divergence_message(recipe, members[i].member->index, first + step, total_steps(recipe, observations_));
    }
  }
}

}  // namespace drift::cuda
