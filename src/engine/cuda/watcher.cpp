#include "engine/cuda/watcher.h"

#include <algorithm>
#include <cmath>

#include "engine/training_start.h"
#include "train/schedule.h"

namespace drift::cuda {

Watcher::Watcher(const TrainControl& control, std::span<const TrainingRun> runs, std::vector<std::string>& failures,
                 std::size_t observations, std::uint64_t done)
    : control_(control), runs_(runs), failures_(failures), observations_(observations), done_(done) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (failures[i].empty()) of_ += total_steps(runs[i].recipe, observations) * runs[i].ensemble->members.size();
  }
}

bool Watcher::operator()(std::span<const TrainedMember> members, const std::vector<std::vector<float>>& losses,
                         std::uint64_t first) {
  const std::lock_guard lock(mutex_);
  note_failures(members, losses, first);
  const std::size_t steps = losses.front().size();
  done_ += members.size() * steps;
  report(*members.front().recipe, first + steps);
  if (control_.stop.stop_requested()) stopped_ = true;
  const auto failed = [&](const TrainedMember& member) { return !failures_[member.run].empty(); };
  return stopped_ || std::all_of(members.begin(), members.end(), failed);
}

void Watcher::note_failures(std::span<const TrainedMember> members, const std::vector<std::vector<float>>& losses,
                            std::uint64_t first) {
  for (std::size_t step = 0; step < losses.front().size(); ++step) {
    for (std::size_t i = 0; i < losses.size(); ++i) {
      std::string& failure = failures_[members[i].run];
      if (!failure.empty()) continue;
      if (std::isfinite(losses[i][step])) {
        loss_sum_ += losses[i][step];
        ++losses_;
        continue;
      }
      const Recipe& recipe = runs_[members[i].run].recipe;
      failure = divergence_message(recipe, members[i].member->index, first + step, total_steps(recipe, observations_));
    }
  }
}

void Watcher::report(const Recipe& recipe, std::uint64_t step) {
  if (!control_.progress || losses_ == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (done_ != of_ && now - last_ < std::chrono::milliseconds(200)) return;
  last_ = now;
  control_.progress({.step = done_,
                     .steps = of_,
                     .loss = loss_sum_ / static_cast<double>(losses_),
                     .rate = recipe.rate * rate_multiplier(recipe, step - 1, total_steps(recipe, observations_))});
  loss_sum_ = 0;
  losses_ = 0;
}

}  // namespace drift::cuda
