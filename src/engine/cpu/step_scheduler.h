#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace drift::cpu {

// A training step of a member has two stages: its gradient, in slices of the batch, and then its update, tensor by tensor.
// The tasks of a stage may run side by side; a member's stages and steps follow one another; members are independent.
enum class Stage { gradient, update };

struct Task {
  std::size_t member;
  std::uint64_t step;
  Stage stage;
  std::size_t index;  // of the slice or tensor
  std::size_t slot;   // gradient memory that the member holds for this step, one of as many as there are threads
};

// Hands tasks to threads: keeps every thread busy, keeps a thread with its member while that lasts (its weights are in the
// thread's cache), and keeps the members within a few steps of each other. What a task computes does not depend on who runs it.
class StepScheduler {
 public:
  struct Work {
    std::vector<std::uint64_t> first_step;                          // [members] steps already taken
    std::uint64_t until_step;                                       // where every member ends
    std::size_t threads;                                            // members under way at once, and slots
    std::function<std::size_t(std::uint64_t step)> gradient_tasks;  // number of slices of that step
    std::size_t update_tasks;                                       // number of tensors
  };
  explicit StepScheduler(Work work);

  // Waits for a task that can run now; none: there is nothing left to do. `last` is the member the thread worked on before.
  std::optional<Task> next(std::optional<std::size_t> last);
  // Marks a task as done. True for the one that completes its stage: its thread then finishes the stage and calls
  // open_next_stage.
  bool complete(const Task& task);
  void open_next_stage(const Task& task);

  void stop();   // begins no further step; those under way are finished
  void abort();  // hands out nothing more

 private:
  struct MemberWork {
    std::uint64_t step = 0;
    bool under_way = false;
    Stage stage = Stage::gradient;
    std::size_t tasks = 0;  // of the stage
    std::size_t given = 0;
    std::size_t done = 0;
    std::size_t slot = 0;
  };

  std::optional<Task> give(std::size_t member);
  std::optional<std::size_t> member_to_begin(std::optional<std::size_t> last) const;
  void begin_step(std::size_t member);

  Work work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<MemberWork> members_;
  std::vector<std::size_t> free_slots_;
  bool stopping_ = false;
  bool aborted_ = false;
};

}  // namespace drift::cpu
