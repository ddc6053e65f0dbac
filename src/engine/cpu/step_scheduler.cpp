#include "engine/cpu/step_scheduler.h"

#include <algorithm>
#include <utility>

namespace drift::cpu {
namespace {

// A thread stays with its member until it is this many steps ahead of the last one: long enough for caches, short enough for
// progress and divergence to show in all members alike.
constexpr std::uint64_t kMaxLead = 16;

}  // namespace

StepScheduler::StepScheduler(Work work) : work_(std::move(work)), members_(work_.first_step.size()) {
  for (std::size_t i = 0; i < members_.size(); ++i) members_[i].step = work_.first_step[i];
  for (std::size_t slot = work_.threads; slot-- > 0;) free_slots_.push_back(slot);
}

std::optional<Task> StepScheduler::give(std::size_t member) {
  MemberWork& work = members_[member];
  if (!work.under_way || work.given == work.tasks) return std::nullopt;
  return Task{.member = member, .step = work.step, .stage = work.stage, .index = work.given++, .slot = work.slot};
}

std::optional<std::size_t> StepScheduler::member_to_begin(std::optional<std::size_t> last) const {
  if (stopping_ || free_slots_.empty()) return std::nullopt;
  std::optional<std::size_t> behind;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (members_[i].under_way || members_[i].step >= work_.until_step) continue;
    if (!behind || members_[i].step < members_[*behind].step) behind = i;
  }
  if (!behind || !last || members_[*last].under_way || members_[*last].step >= work_.until_step) return behind;
  return members_[*last].step < members_[*behind].step + kMaxLead ? last : behind;
}

void StepScheduler::begin_step(std::size_t member) {
  MemberWork& work = members_[member];
  work = {.step = work.step,
          .under_way = true,
          .stage = Stage::gradient,
          .tasks = work_.gradient_tasks(work.step),
          .slot = free_slots_.back()};
  free_slots_.pop_back();
}

std::optional<Task> StepScheduler::next(std::optional<std::size_t> last) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (aborted_) return std::nullopt;
    if (last) {
      if (auto task = give(*last)) return task;
    }
    if (const auto member = member_to_begin(last)) {
      begin_step(*member);
      changed_.notify_all();  // its other tasks are there for the asking
      return give(*member);
    }
    bool any_under_way = false;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      any_under_way |= members_[i].under_way;
      if (auto task = give(i)) return task;
    }
    if (!any_under_way) return std::nullopt;
    changed_.wait(lock);
  }
}

bool StepScheduler::complete(const Task& task) {
  const std::lock_guard lock(mutex_);
  MemberWork& work = members_[task.member];
  return ++work.done == work.tasks;
}

void StepScheduler::open_next_stage(const Task& task) {
  {
    const std::lock_guard lock(mutex_);
    MemberWork& work = members_[task.member];
    work.given = 0;
    work.done = 0;
    if (work.stage == Stage::gradient) {
      work.stage = Stage::update;
      work.tasks = work_.update_tasks;
    } else {
      work.under_way = false;
      ++work.step;
      free_slots_.push_back(work.slot);
    }
  }
  changed_.notify_all();
}

void StepScheduler::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
}

void StepScheduler::abort() {
  {
    const std::lock_guard lock(mutex_);
    aborted_ = true;
  }
  changed_.notify_all();
}

}  // namespace drift::cpu
