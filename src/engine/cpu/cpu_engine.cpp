#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "core/threads.h"
#include "drift/engine.h"
#include "drift/error.h"
#include "engine/cpu/member_trainer.h"
#include "engine/cpu/predictor.h"
#include "engine/shapes.h"
#include "engine/training_start.h"
#include "train/schedule.h"

namespace drift {
namespace cpu {
namespace {

// Tells the caller how training goes, a few times a second, one thread at a time.
class ProgressReporter {
 public:
  ProgressReporter(const TrainControl& control, std::uint64_t done, std::uint64_t of) : control_(control), done_(done), of_(of) {}

  void step_taken(double loss, double rate) {
    if (!control_.progress) return;
    const std::lock_guard lock(mutex_);
    ++done_;
    loss_sum_ += loss;
    ++losses_;
    const auto now = std::chrono::steady_clock::now();
    if (done_ != of_ && now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    control_.progress({.step = done_, .steps = of_, .loss = loss_sum_ / static_cast<double>(losses_), .rate = rate});
    loss_sum_ = 0;
    losses_ = 0;
  }

 private:
  const TrainControl& control_;
  std::mutex mutex_;
  std::uint64_t done_;
  std::uint64_t of_;
  double loss_sum_ = 0;
  std::uint64_t losses_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(int threads) : threads_(threads) {}

  std::string name() const override { return "cpu"; }
  int host_threads() const override { return threads_; }

  void advance(Ensemble& ensemble, TrainingState& state, const TrainingSet& data, const Recipe& recipe, std::uint64_t until_step,
               const TrainControl& control) override {
    begin_training(ensemble, state, data, recipe);
    const TrainingJob job(ensemble, data, recipe);
    Run run(job, ensemble, state, std::min(until_step, job.total_steps), threads_, control);
    run_on_threads(threads_, [&](int) { run.work(); });
  }

  void predict(const Ensemble& ensemble, MatrixView<const float> coordinates, const PredictionViews& out) override {
    check_shapes(ensemble, coordinates, out);
    cpu::predict(ensemble, coordinates, out, threads_);
  }

  void input_gradient(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> gradient) override {
    check_gradient_shapes(ensemble, coordinates, gradient);
    cpu::input_gradient(ensemble, coordinates, gradient, threads_);
  }

  void head_inputs(const Ensemble& ensemble, std::size_t member, MatrixView<const float> coordinates,
                   MatrixView<float> inputs) override {
    check_head_shapes(ensemble, member, coordinates, inputs);
    cpu::head_inputs(ensemble, member, coordinates, inputs, threads_);
  }

 private:
  // One call of advance(): threads take tasks until none is left.
  class Run {
   public:
    Run(const TrainingJob& job, Ensemble& ensemble, TrainingState& state, std::uint64_t until_step, int threads,
        const TrainControl& control)
        : job_(job),
          scheduler_({.first_step = steps(state),
                      .until_step = until_step,
                      .threads = static_cast<std::size_t>(threads),
                      .gradient_tasks = [&job](std::uint64_t step) { return job.slices(step); },
                      .update_tasks = job.groups.size()}),
          control_(control),
          reporter_(control, steps_taken(state), job.total_steps * state.members.size()),
          slots_(static_cast<std::size_t>(threads)) {
      for (std::size_t i = 0; i < state.members.size(); ++i) trainers_.emplace_back(job, ensemble.members[i], state.members[i]);
    }

    void work() {
      try {
        Scratch scratch(job_);
        std::optional<std::size_t> last;
        while (const auto task = scheduler_.next(last)) {
          last = task->member;
          perform(*task, scratch);
          if (scheduler_.complete(*task)) {
            finish_stage(*task);
            scheduler_.open_next_stage(*task);
          }
        }
      } catch (...) {
        scheduler_.abort();
        throw;
      }
    }

   private:
    static std::vector<std::uint64_t> steps(const TrainingState& state) {
      std::vector<std::uint64_t> steps;
      for (const MemberProgress& member : state.members) steps.push_back(member.step);
      return steps;
    }

    void perform(const Task& task, Scratch& scratch) {
      MemberTrainer& trainer = trainers_[task.member];
      GradientSlot& slot = slots_[task.slot];
      if (task.stage == Stage::update) return trainer.update_tensor(task, slot, scratch);
      make_ready(slot);
      trainer.compute_slice(task, slot, scratch);
    }

    void make_ready(GradientSlot& slot) {
      const std::lock_guard lock(slots_mutex_);
      if (!slot.slices.empty()) return;
      slot.losses.resize(job_.max_slices());
      slot.slices.assign(job_.max_slices(), AlignedVector<float>(job_.gradient_size()));
    }

    void finish_stage(const Task& task) {
      MemberTrainer& trainer = trainers_[task.member];
      if (task.stage == Stage::gradient) return trainer.finish_gradient(task, slots_[task.slot]);
      trainer.finish_step();
      reporter_.step_taken(trainer.loss(), job_.recipe.rate * rate_multiplier(job_.recipe, task.step, job_.total_steps));
      if (control_.stop.stop_requested()) scheduler_.stop();
    }

    const TrainingJob& job_;
    StepScheduler scheduler_;
    const TrainControl& control_;
    ProgressReporter reporter_;
    std::vector<MemberTrainer> trainers_;
    std::mutex slots_mutex_;
    std::vector<GradientSlot> slots_;
  };

  int threads_;
};

}  // namespace
}  // namespace cpu

std::unique_ptr<Engine> make_cpu_engine(const EngineOptions& options) {
  if (options.threads < 0 || options.threads > 4096) {
    throw UsageError(fmt::format("threads is {}: give a number from 1 to 4096, or 0 for one on each core", options.threads));
  }
  return std::make_unique<cpu::CpuEngine>(options.threads == 0 ? available_threads() : options.threads);
}

}  // namespace drift
