#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "drift/engine.h"
#include "drift/error.h"
#include "engine/cuda/predictor.h"
#include "engine/cuda/trainer.h"
#include "engine/shapes.h"
#include "train/schedule.h"

namespace drift {
namespace cuda {
namespace {

constexpr double kShareForData = 0.5;  // of the free memory; observations beyond stay with the host

void begin_state(const Ensemble& ensemble, TrainingState& state) {
  if (!state.members.empty()) return;
  for (const Member& member : ensemble.members) {
    state.members.push_back({.step = 0,
                             .moment1 = std::vector<float>(trained_numbers(member)),
                             .moment2 = std::vector<float>(trained_numbers(member)),
                             .losses = {}});
  }
}

std::uint64_t steps_taken(const TrainingState& state) {
  std::uint64_t sum = 0;
  for (const MemberProgress& member : state.members) sum += member.step;
  return sum;
}

// Looks at the losses of steps just done: throws where one is not finite, tells of progress, asks whether to stop.
class Watcher {
 public:
  Watcher(const TrainControl& control, const TrainingState& state, const Recipe& recipe, std::uint64_t total)
      : control_(control), state_(state), recipe_(recipe), total_(total) {}

  bool operator()(const std::vector<const Member*>& members, const std::vector<std::vector<float>>& losses, std::uint64_t first) {
    for (std::size_t step = 0; step < losses.front().size(); ++step) {
      for (std::size_t i = 0; i < losses.size(); ++i) {
        if (!std::isfinite(losses[i][step])) diverged(members[i]->index, first + step);
        loss_sum_ += losses[i][step];
        ++losses_;
      }
    }
    report(first + losses.front().size());
    return control_.stop.stop_requested();
  }

 private:
  void report(std::uint64_t step) {
    if (!control_.progress) return;
    const std::uint64_t done = steps_taken(state_), of = total_ * state_.members.size();
    const auto now = std::chrono::steady_clock::now();
    if (done != of && now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    control_.progress({.step = done,
                       .steps = of,
                       .loss = loss_sum_ / static_cast<double>(losses_),
                       .rate = recipe_.rate * rate_multiplier(recipe_, step - 1, total_)});
    loss_sum_ = 0;
    losses_ = 0;
  }

  [[noreturn]] void diverged(std::uint32_t member, std::uint64_t step) const {
    const double factor = rate_multiplier(recipe_, step, total_);
    const bool muon = recipe_.optimiser == Optimiser::muon;
    throw Error(fmt::format(
        "training diverged: the loss of member {} is not finite at step {} of {}, at learning rate {:.3g}{}; lower the "
        "rate, lengthen the warm-up, or look for outliers in the values",
        member, step + 1, total_, factor * recipe_.rate,
        muon ? fmt::format(" (bottlenecks: {:.3g})", factor * recipe_.muon_rate) : ""));
  }

  const TrainControl& control_;
  const TrainingState& state_;
  const Recipe& recipe_;
  std::uint64_t total_;
  double loss_sum_ = 0;
  std::uint64_t losses_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

class CudaEngine final : public Engine {
 public:
  explicit CudaEngine(Precision precision) : precision_(precision) {}

  std::string name() const override { return "cuda"; }

  void advance(Ensemble& ensemble, TrainingState& state, const TrainingSet& data, const Recipe& recipe, std::uint64_t until_step,
               const TrainControl& control) override {
    check(recipe);
    check_shapes(ensemble, data);
    begin_state(ensemble, state);
    check_shapes(ensemble, state);
    if (!ensemble.members.front().log_sd.empty() && recipe.dropout > 0.0) {
      throw UsageError(
          fmt::format("recipe: dropout is {} but the weights are variational: choose one of the two", recipe.dropout));
    }
    const std::uint64_t total = total_steps(recipe, data.values.rows), until = std::min(until_step, total);
    const ScaleResolver resolver(make_plan(ensemble.spec));
    const DeviceData on_device(data, static_cast<std::size_t>(kShareForData * static_cast<double>(free_device_bytes())), stream_);
    Watcher watcher(control, state, recipe, total);
    // Members at the same step go together; those behind catch up first.
    bool stopped = false;
    while (!stopped) {
      const std::uint64_t least = least_step(state);
      if (least >= until) break;
      std::uint64_t target = until;
      std::vector<Member*> members;
      std::vector<const Member*> seen;
      std::vector<MemberProgress*> progress;
      for (std::size_t i = 0; i < state.members.size(); ++i) {
        if (state.members[i].step > least) {
          target = std::min(target, state.members[i].step);
          continue;
        }
        members.push_back(&ensemble.members[i]);
        seen.push_back(&ensemble.members[i]);
        progress.push_back(&state.members[i]);
      }
      Trainer trainer(resolver, ensemble.seed, members, progress, on_device, data.values.rows, recipe, precision_, stream_);
      trainer.advance(target, [&](const std::vector<std::vector<float>>& losses, std::uint64_t first) {
        return stopped = watcher(seen, losses, first);
      });
    }
  }

  void predict(const Ensemble& ensemble, MatrixView<const float> coordinates, const PredictionViews& out) override {
    check_shapes(ensemble, coordinates, out);
    cuda::predict(ensemble, coordinates, out, precision_, stream_);
  }

  void input_gradient(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> gradient) override {
    check_gradient_shapes(ensemble, coordinates, gradient);
    cuda::input_gradient(ensemble, coordinates, gradient, precision_, stream_);
  }

  void head_inputs(const Ensemble& ensemble, std::size_t member, MatrixView<const float> coordinates,
                   MatrixView<float> inputs) override {
    check_head_shapes(ensemble, member, coordinates, inputs);
    cuda::head_inputs(ensemble, member, coordinates, inputs, precision_, stream_);
  }

 private:
  static std::uint64_t least_step(const TrainingState& state) {
    std::uint64_t least = state.members.front().step;
    for (const MemberProgress& member : state.members) least = std::min(least, member.step);
    return least;
  }

  Precision precision_;
  Stream stream_;
};

}  // namespace
}  // namespace cuda

std::string why_no_cuda() { return cuda::why_no_gpu(); }

std::unique_ptr<Engine> make_cuda_engine(const EngineOptions& options) {
  if (const std::string why = why_no_cuda(); !why.empty()) {
    throw Error(fmt::format("no GPU can be used: {}; choose the cpu engine", why));
  }
  return std::make_unique<cuda::CudaEngine>(options.precision);
}

}  // namespace drift
