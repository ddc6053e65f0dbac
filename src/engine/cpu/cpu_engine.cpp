#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "core/threads.h"
#include "drift/engine.h"
#include "drift/error.h"
#include "engine/cpu/member_trainer.h"
#include "engine/cpu/predictor.h"
#include "engine/shapes.h"
#include "engine/training_report.h"
#include "engine/training_start.h"

namespace drift {
namespace cpu {
namespace {

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(int threads) : threads_(threads) {}

  std::string name() const override { return "cpu"; }
  int host_threads() const override { return threads_; }

  void advance(Ensemble& ensemble, TrainingState& state, const TrainingSet& data, const Recipe& recipe, std::uint64_t until_step,
               const Control& control) override {
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
        const Control& control)
        : job_(job),
          scheduler_({.first_step = steps(state),
                      .until_step = until_step,
                      .threads = static_cast<std::size_t>(threads),
                      .gradient_tasks = [&job](std::uint64_t step) { return job.slices(step); },
                      .update_tasks = job.groups.size()}),
          control_(control),
          report_(control, steps_taken(state), job.total_steps * state.members.size()),
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
      {
        const std::lock_guard lock(report_mutex_);
        report_.steps_taken({.steps = 1, .observations = job_.recipe.batch, .losses = 1, .loss_sum = trainer.loss()});
      }
      if (control_.stop.stop_requested()) scheduler_.stop();
    }

    const TrainingJob& job_;
    StepScheduler scheduler_;
    const Control& control_;
    std::mutex report_mutex_;
    TrainingReport report_;
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
    throw UsageError(fmt::format("threads is {} but must be from 1 to 4096, or 0 for one per core", options.threads));
  }
  return std::make_unique<cpu::CpuEngine>(threads_or_all(options.threads));
}

}  // namespace drift
