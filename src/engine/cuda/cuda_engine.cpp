#include "engine/cuda/cuda_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "core/threads.h"
#include "drift/error.h"
#include "engine/cuda/predictor.h"
#include "engine/cuda/run_groups.h"
#include "engine/cuda/trainer.h"
#include "engine/cuda/watcher.h"
#include "engine/shapes.h"
#include "engine/training_start.h"

namespace drift {
namespace cuda {
namespace {

constexpr double kShareForData = 0.5;  // of the free memory; observations beyond stay with the host

// Share `index` of `shares`, as even as can be, of `count`: first and number.
std::pair<std::size_t, std::size_t> even_share(std::size_t count, std::size_t shares, std::size_t index) {
  const std::size_t first = count * index / shares;
  return {first, count * (index + 1) / shares - first};
}

template <class T>
MatrixView<T> rows_of(MatrixView<T> view, std::size_t first, std::size_t count) {
  return view.empty() ? view : view.middle_rows(first, count);
}

// One call of advance_together(). Members are independent of each other, so each device trains a share of them.
class Together {
 public:
  Together(const CudaOptions& options, std::span<const TrainingRun> runs, const TrainingSet& data, std::uint64_t until_step,
           const Control& control)
      : options_(options),
        runs_(runs),
        data_(data),
        until_(until_step),
        failures_(runs.size()),
        states_(runs.size()),
        own_(runs.size()),
        resolvers_(runs.size()) {
    std::uint64_t done = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      begin(i);
      if (failures_[i].empty()) done += steps_taken(*states_[i]);
    }
    watcher_.emplace(control, runs, failures_, data.values.rows, done);
  }

  std::vector<std::string> run() {
    const auto groups = groups_of(runs_, kinds());
    if (groups.empty()) return failures_;
    for (const int device : options_.devices) {
      const OnDevice on(device);
      const auto limit = static_cast<std::size_t>(kShareForData * static_cast<double>(free_device_bytes()));
      on_device_.push_back(std::make_unique<DeviceData>(data_, limit, Stream()));
    }
    for (const std::vector<std::size_t>& group : groups) advance(group);
    return failures_;
  }

 private:
  void begin(std::size_t i) {
    try {
      const Ensemble& ensemble = *runs_[i].ensemble;
      states_[i] = runs_[i].state;
      if (states_[i] != nullptr) {
        begin_training(ensemble, *states_[i], data_, runs_[i].recipe);
      } else {
        check_training(ensemble, data_, runs_[i].recipe);
        own_[i].members.resize(ensemble.members.size());  // steps and losses without moments
        states_[i] = &own_[i];
      }
      resolvers_[i] = std::make_unique<ScaleResolver>(make_plan(ensemble.spec));
    } catch (const std::exception& error) {
      failures_[i] = error.what();
    }
  }

  // By which kernels the runs are trained; below 0: not at all.
  std::vector<int> kinds() {
    const OnDevice on(options_.devices.front());
    std::vector<int> result;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      result.push_back(failures_[i].empty() ? static_cast<int>(is_fused(trained_member(i, 0), options_.precision)) : -1);
    }
    return result;
  }

  TrainedMember trained_member(std::size_t run, std::size_t member) {
    return {.member = &runs_[run].ensemble->members[member],
            .progress = &states_[run]->members[member],
            .resolver = resolvers_[run].get(),
            .recipe = &runs_[run].recipe,
            .seed = runs_[run].ensemble->seed,
            .run = run};
  }

  // Members at the same step go together; those behind catch up first.
  void advance(const std::vector<std::size_t>& group) {
    const std::uint64_t until = std::min(until_, total_steps(runs_[group.front()].recipe, data_.values.rows));
    while (!watcher_->stopped()) {
      const std::vector<TrainedMember> members = members_behind(group, until);
      if (members.empty()) return;
      std::uint64_t target = until;
      for (const std::size_t i : group) {
        for (const MemberProgress& progress : states_[i]->members) {
          if (progress.step > members.front().progress->step) target = std::min(target, progress.step);
        }
      }
      const std::size_t shares = std::min(options_.devices.size(), members.size());
      run_on_threads(static_cast<int>(shares), [&](int thread) {
        const auto index = static_cast<std::size_t>(thread);
        const auto [first, count] = even_share(members.size(), shares, index);
        train_share(index, std::span(members).subspan(first, count), target);
      });
    }
  }

  // Of the runs that have not failed, the members with the fewest steps; none where these are enough.
  std::vector<TrainedMember> members_behind(const std::vector<std::size_t>& group, std::uint64_t until) {
    std::uint64_t least = until;
    std::vector<TrainedMember> members;
    for (const std::size_t i : group) {
      if (!failures_[i].empty()) continue;
      for (std::size_t m = 0; m < states_[i]->members.size(); ++m) {
        const MemberProgress& progress = states_[i]->members[m];
        if (progress.step >= until || progress.step > least) continue;
        if (progress.step < least) members.clear();
        least = progress.step;
        members.push_back(trained_member(i, m));
      }
    }
    return members;
  }

  // As many members at a time as fit; an error here ends the other devices' work too.
  void train_share(std::size_t index, std::span<const TrainedMember> share, std::uint64_t target) {
    try {
      const OnDevice on(options_.devices[index]);
      const Stream stream;
      const std::size_t observations = data_.values.rows;
      while (!share.empty() && !watcher_->stopped()) {
        const std::uint64_t steps = target - share.front().progress->step;
        std::size_t count = cuda::members_at_once(share, observations, steps, options_.precision);
        if (options_.members_at_once > 0) count = std::min(count, options_.members_at_once);
        const std::span<const TrainedMember> members = share.first(count);
        Trainer trainer(members, *on_device_[index], observations, options_.precision, stream);
        trainer.advance(target, [&](const std::vector<std::vector<float>>& losses, std::uint64_t first) {
          return (*watcher_)(members, losses, first);
        });
        share = share.subspan(count);
      }
    } catch (...) {
      watcher_->stop();
      throw;
    }
  }

  const CudaOptions& options_;
  std::span<const TrainingRun> runs_;
  const TrainingSet& data_;
  std::uint64_t until_;
  std::vector<std::string> failures_;                      // [run]
  std::vector<TrainingState*> states_;                     // [run]
  std::vector<TrainingState> own_;                         // [run] where the caller wants none
  std::vector<std::unique_ptr<ScaleResolver>> resolvers_;  // [run]
  std::optional<Watcher> watcher_;
  std::vector<std::unique_ptr<DeviceData>> on_device_;  // [device]
};

// work(device's place in the list, first row, rows) of each device's share of the rows, on that device.
void on_devices(const CudaOptions& options, std::size_t rows,
                const std::function<void(std::size_t, std::size_t, std::size_t)>& work) {
  const std::size_t worth = (rows + options.rows_of_a_device - 1) / options.rows_of_a_device;
  const std::size_t shares = std::clamp<std::size_t>(worth, 1, options.devices.size());
  run_on_threads(static_cast<int>(shares), [&](int thread) {
    const auto index = static_cast<std::size_t>(thread);
    const auto [first, count] = even_share(rows, shares, index);
    const OnDevice on(options.devices[index]);
    work(index, first, count);
  });
}

// The ensemble goes to a device when that is first used.
class CudaPredictor final : public Predictor {
 public:
  CudaPredictor(const CudaOptions& options, const Ensemble& ensemble)
      : options_(options), ensemble_(ensemble), devices_(options.devices.size()) {
    check_ensemble(ensemble);
  }
  ~CudaPredictor() override {
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i].predictor == nullptr) continue;
      const OnDevice on(options_.devices[i]);
      devices_[i].predictor.reset();
    }
  }

  void predict(MatrixView<const float> coordinates, const PredictionViews& out) override {
    check_shapes(ensemble_, coordinates, out);
    on_devices(options_, coordinates.rows, [&](std::size_t index, std::size_t first, std::size_t count) {
      const PredictionViews part{.mean = rows_of(out.mean, first, count),
                                 .variance = rows_of(out.variance, first, count),
                                 .members = rows_of(out.members, first, count)};
      with(index, [&](DevicePredictor& predictor) { predictor.predict(rows_of(coordinates, first, count), part); });
    });
  }

  void input_gradient(MatrixView<const float> coordinates, MatrixView<float> gradient) override {
    check_gradient_shapes(ensemble_, coordinates, gradient);
    on_devices(options_, coordinates.rows, [&](std::size_t index, std::size_t first, std::size_t count) {
      with(index, [&](DevicePredictor& predictor) {
        predictor.input_gradient(rows_of(coordinates, first, count), rows_of(gradient, first, count));
      });
    });
  }

  void head_inputs(MatrixView<const float> coordinates, MatrixView<float> inputs) override {
    check_all_head_shapes(ensemble_, coordinates, inputs);
    on_devices(options_, coordinates.rows, [&](std::size_t index, std::size_t first, std::size_t count) {
      with(index, [&](DevicePredictor& predictor) {
        predictor.head_inputs(rows_of(coordinates, first, count), rows_of(inputs, first, count));
      });
    });
  }

 private:
  struct OfDevice {
    std::mutex mutex;  // calls from several threads take turns
    std::unique_ptr<DevicePredictor> predictor;
  };

  void with(std::size_t index, const std::function<void(DevicePredictor&)>& work) {
    OfDevice& device = devices_[index];
    const std::scoped_lock lock(device.mutex);
    if (device.predictor == nullptr) device.predictor = std::make_unique<DevicePredictor>(ensemble_, options_.precision);
    work(*device.predictor);
  }

  const CudaOptions& options_;
  const Ensemble& ensemble_;
  std::vector<OfDevice> devices_;
};

class CudaEngine final : public Engine {
 public:
  explicit CudaEngine(CudaOptions options) : options_(std::move(options)) {
    for (const int device : options_.devices) {
      const OnDevice on(device);
      const Stream stream;  // wakes the device: later calls need not wait for that
      is_hopper();          // remembered
    }
  }

  std::string name() const override { return "cuda"; }
  int host_threads() const override { return options_.host_threads; }

  void advance(Ensemble& ensemble, TrainingState& state, const TrainingSet& data, const Recipe& recipe, std::uint64_t until_step,
               const Control& control) override {
    begin_training(ensemble, state, data, recipe);
    const TrainingRun run{.ensemble = &ensemble, .state = &state, .recipe = recipe};
    const std::vector<std::string> failures = advance_together(std::span(&run, 1), data, until_step, control);
    if (!failures.front().empty()) throw Error(failures.front());
  }

  std::vector<std::string> advance_together(std::span<const TrainingRun> runs, const TrainingSet& data, std::uint64_t until_step,
                                            const Control& control) override {
    return Together(options_, runs, data, until_step, control).run();
  }

  void predict(const Ensemble& ensemble, MatrixView<const float> coordinates, const PredictionViews& out) override {
    CudaPredictor(options_, ensemble).predict(coordinates, out);
  }

  void input_gradient(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> gradient) override {
    CudaPredictor(options_, ensemble).input_gradient(coordinates, gradient);
  }

  std::unique_ptr<Predictor> prepare(const Ensemble& ensemble) override {
    return std::make_unique<CudaPredictor>(options_, ensemble);
  }

  void head_inputs(const Ensemble& ensemble, std::size_t member, MatrixView<const float> coordinates,
                   MatrixView<float> inputs) override {
    check_head_shapes(ensemble, member, coordinates, inputs);
    const Ensemble one{ensemble.spec, ensemble.seed, {ensemble.members[member]}};
    CudaPredictor(options_, one).head_inputs(coordinates, inputs);
  }

 private:
  CudaOptions options_;
};

}  // namespace

std::unique_ptr<Engine> make_engine_on(const CudaOptions& options) { return std::make_unique<CudaEngine>(options); }

}  // namespace cuda

std::string why_no_cuda() { return cuda::why_no_gpu(); }

std::unique_ptr<Engine> make_cuda_engine(const EngineOptions& options) {
  if (options.gpus < 0) throw UsageError(fmt::format("gpus is {}: give how many to use at most, or 0 for all", options.gpus));
  if (const std::string why = why_no_cuda(); !why.empty()) {
    throw Error(fmt::format("no GPU can be used: {}; choose --backend cpu", why));
  }
  std::vector<int> devices = cuda::usable_devices();
  if (options.gpus > 0) devices.resize(std::min(devices.size(), static_cast<std::size_t>(options.gpus)));
  return cuda::make_engine_on(
      cuda::CudaOptions{.devices = std::move(devices), .precision = options.precision, .host_threads = options.threads});
}

}  // namespace drift
