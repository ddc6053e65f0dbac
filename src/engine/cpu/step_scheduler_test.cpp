#include "engine/cpu/step_scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/threads.h"

namespace drift::cpu {
namespace {

constexpr std::size_t kUpdates = 3;
std::size_t slices_of(std::uint64_t step) { return step % 4 == 3 ? 1 : 4; }  // every fourth batch is short

StepScheduler::Work work_for(std::vector<std::uint64_t> first_step, std::uint64_t until, std::size_t threads) {
  return {.first_step = std::move(first_step),
          .until_step = until,
          .threads = threads,
          .gradient_tasks = slices_of,
          .update_tasks = kUpdates};
}

// Runs everything on several threads and checks the order of each member's tasks as they are done.
void run_and_check(std::vector<std::uint64_t> first_step, std::uint64_t until, int threads) {
  StepScheduler scheduler(work_for(first_step, until, static_cast<std::size_t>(threads)));
  std::mutex mutex;
  std::vector<std::uint64_t> step = first_step;
  std::vector<Stage> stage(first_step.size(), Stage::gradient);
  std::vector<std::set<std::size_t>> seen(first_step.size());
  std::set<std::size_t> slots_in_use;
  run_on_threads(threads, [&](int) {
    std::optional<std::size_t> last;
    while (const auto task = scheduler.next(last)) {
      last = task->member;
      {
        const std::lock_guard lock(mutex);
        EXPECT_EQ(task->step, step[task->member]);
        EXPECT_EQ(task->stage, stage[task->member]);
        EXPECT_TRUE(seen[task->member].insert(task->index).second) << "handed out twice";
        EXPECT_LT(task->slot, static_cast<std::size_t>(threads));
      }
      std::this_thread::yield();
      if (!scheduler.complete(*task)) continue;
      {
        const std::lock_guard lock(mutex);
        EXPECT_EQ(seen[task->member].size(), task->stage == Stage::gradient ? slices_of(task->step) : kUpdates);
        seen[task->member].clear();
        if (task->stage == Stage::update) ++step[task->member];
        stage[task->member] = task->stage == Stage::gradient ? Stage::update : Stage::gradient;
      }
      scheduler.open_next_stage(*task);
    }
  });
  for (std::size_t i = 0; i < step.size(); ++i) EXPECT_EQ(step[i], std::max(until, first_step[i]));
}

TEST(StepScheduler, RunsEveryTaskOfEveryStepOnceAndInOrder) {
  run_and_check({0, 0, 0, 0, 0}, 40, 3);
  run_and_check({0}, 40, 4);
  run_and_check({0, 0}, 40, 1);
  run_and_check({12, 3, 40, 50}, 40, 2);
  run_and_check({}, 40, 2);
}

TEST(StepScheduler, KeepsMembersTogether) {
  StepScheduler scheduler(work_for({0, 0, 0}, 200, 1));
  std::vector<std::uint64_t> step(3, 0);
  std::optional<std::size_t> last;
  while (const auto task = scheduler.next(last)) {
    last = task->member;
    if (!scheduler.complete(*task)) continue;
    if (task->stage == Stage::update) ++step[task->member];
    scheduler.open_next_stage(*task);
    const auto [low, high] = std::minmax_element(step.begin(), step.end());
    EXPECT_LE(*high - *low, 17U);
  }
}

TEST(StepScheduler, StopFinishesTheStepsUnderWayAndBeginsNoOther) {
  StepScheduler scheduler(work_for({0, 0}, 1000, 2));
  const auto first = scheduler.next(std::nullopt);
  scheduler.stop();
  std::size_t tasks = 0;
  auto task = first;
  for (; task; task = scheduler.next(0)) {
    ++tasks;
    EXPECT_EQ(task->member, first->member);
    EXPECT_EQ(task->step, 0U);
    if (scheduler.complete(*task)) scheduler.open_next_stage(*task);
  }
  EXPECT_EQ(tasks, slices_of(0) + kUpdates);
}

TEST(StepScheduler, AbortWakesWaitingThreads) {
  StepScheduler scheduler(work_for({0}, 10, 2));
  std::vector<Task> held;
  for (std::size_t i = 0; i < slices_of(0); ++i) held.push_back(*scheduler.next(std::nullopt));
  std::jthread waiting([&] { EXPECT_FALSE(scheduler.next(std::nullopt).has_value()); });
  scheduler.abort();
}

}  // namespace
}  // namespace drift::cpu
