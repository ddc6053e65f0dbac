#include "engine/cuda/predictor.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "engine/cuda/fused_passes.h"
#include "engine/cuda/kernels.h"
#include "engine/cuda/network.h"
#include "engine/cuda/passes.h"

namespace drift::cuda {
namespace {

constexpr std::size_t kMaxRows = 32768;                   // of a pass
constexpr std::size_t kWorkBytes = std::size_t{2} << 30;  // of the passes' memory, where that suffices

std::size_t rows_at_once(std::size_t bytes_of_row, std::size_t rows) {
  const std::size_t budget = std::min(kWorkBytes, free_device_bytes() / 2);
  return std::max<std::size_t>(1, std::min({rows, kMaxRows, std::max<std::size_t>(budget / bytes_of_row / 128 * 128, 128)}));
}

// What a block of points has to say: [rows, cols], from the device to the caller's matrix.
struct Result {
  const float* from;
  MatrixView<float> to;  // of all points; empty: not wanted
};

// Points go through all members a block at a time. While the device works on one block, the host brings the next and takes the
// last one's results away.
class Blocks {
 public:
  Blocks(const Network& network, MatrixView<const float> points, Wanted wanted, Precision precision, bool may_fuse,
         const Stream& stream)
      : network_(network), points_(points), stream_(stream) {
    const auto members = static_cast<std::size_t>(network.members());
    if (may_fuse && FusedPasses::fit(network.plan(), wanted, precision)) {
      const std::size_t rows = rows_at_once(FusedPasses::bytes_per_row(network.plan(), members, false), points.rows);
      fused_ = std::make_unique<FusedPasses>(network, rows, false, precision, stream);
      capacity_ = fused_->capacity();
    } else {
      const std::size_t rows = rows_at_once(Passes::bytes_per_row(network.plan(), members, wanted), points.rows);
      passes_ = std::make_unique<Passes>(network, rows, wanted, precision);
      capacity_ = rows;
    }
    block_ = DeviceArray<float>(capacity_ * points.cols);
  }

  std::size_t capacity() const { return capacity_; }
  Passes& passes() { return *passes_; }
  const float* output() { return fused_ ? fused_->output() : passes_->output(); }

  // Calls work(rows) when a block's forward pass has been put into the stream, for it to add what makes the results.
  void run(const std::vector<Result>& results, const std::function<void(int)>& work) {
    std::size_t columns = 0;
    for (const Result& result : results) columns += result.to.cols;
    Slot slots[2] = {Slot(capacity_ * points_.cols, capacity_ * columns), Slot(capacity_ * points_.cols, capacity_ * columns)};
    std::size_t turn = 0;
    for (std::size_t first = 0; first < points_.rows; first += capacity_, ++turn) {
      Slot& slot = slots[turn % 2];
      take_away(slot, results);
      slot.first = first;
      slot.rows = std::min(capacity_, points_.rows - first);
      for (std::size_t row = 0; row < slot.rows; ++row) {
        std::copy_n(points_.row(first + row), points_.cols, slot.points.data() + row * points_.cols);
      }
      enqueue(slot, results, work);
    }
    take_away(slots[turn % 2], results);
    take_away(slots[(turn + 1) % 2], results);
  }

 private:
  struct Slot {
    PinnedArray points, results;
    Event done;
    std::size_t first = 0, rows = 0;
    Slot(std::size_t point_floats, std::size_t result_floats) : points(point_floats), results(result_floats) {}
  };

  void enqueue(Slot& slot, const std::vector<Result>& results, const std::function<void(int)>& work) {
    const cudaStream_t stream = stream_.get();
    check_cuda(cudaMemcpyAsync(block_.data(), slot.points.data(), slot.rows * points_.cols * sizeof(float),
                               cudaMemcpyHostToDevice, stream),
               "copying points");
    const auto rows = static_cast<int>(slot.rows), columns = static_cast<int>(points_.cols);
    float* coordinates = fused_ ? fused_->coordinates() : passes_->coordinates();
    repeat_points(block_.data(), rows, columns, network_.members(), coordinates, capacity_, stream);
    scale_columns(coordinates, fused_ ? fused_->scaled() : passes_->scaled(), rows, columns, network_.members(), capacity_,
                  network_.scales().inverse_lengthscale(), stream);
    fused_ ? fused_->predict(rows, stream) : passes_->forward(rows, nullptr, stream);
    work(rows);
    float* to = slot.results.data();
    for (const Result& result : results) {
      if (result.to.empty()) continue;
      check_cuda(cudaMemcpyAsync(to, result.from, slot.rows * result.to.cols * sizeof(float), cudaMemcpyDeviceToHost, stream),
                 "copying predictions");
      to += slot.rows * result.to.cols;
    }
    slot.done.record(stream_);
  }

  void take_away(Slot& slot, const std::vector<Result>& results) {
    if (slot.rows == 0) return;
    slot.done.wait();
    const float* from = slot.results.data();
    for (const Result& result : results) {
      if (result.to.empty()) continue;
      for (std::size_t row = 0; row < slot.rows; ++row, from += result.to.cols) {
        std::copy_n(from, result.to.cols, result.to.row(slot.first + row));
      }
    }
    slot.rows = 0;
  }

  const Network& network_;
  MatrixView<const float> points_;
  const Stream& stream_;
  std::unique_ptr<Passes> passes_;  // one of the two
  std::unique_ptr<FusedPasses> fused_;
  std::size_t capacity_ = 0;
  DeviceArray<float> block_;
};

std::vector<NetworkMember> all_members(const Ensemble& ensemble, const ScaleResolver& resolver) {
  std::vector<NetworkMember> members;
  for (const Member& member : ensemble.members) members.push_back({&member, &resolver});
  return members;
}

}  // namespace

void predict(const Ensemble& ensemble, MatrixView<const float> coordinates, const PredictionViews& out, Precision precision,
             const Stream& stream) {
  if (coordinates.rows == 0) return;
  const ScaleResolver resolver(make_plan(ensemble.spec));
  const Network network(all_members(ensemble, resolver), false, stream);
  Blocks blocks(network, coordinates, {}, precision, true, stream);
  const auto outputs = static_cast<std::size_t>(ensemble.spec.outputs);
  const std::size_t capacity = blocks.capacity();
  DeviceArray<float> mean(capacity * outputs), variance(capacity * outputs);
  DeviceArray<float> members(out.members.empty() ? 0 : capacity * outputs * ensemble.members.size());
  const std::vector<Result> results = {{mean.data(), out.mean}, {variance.data(), out.variance}, {members.data(), out.members}};
  blocks.run(results, [&](int rows) {
    member_moments(blocks.output(), rows, static_cast<int>(outputs), network.members(), capacity, mean.data(), variance.data(),
                   members.data(), stream.get());
  });
}

void input_gradient(const Ensemble& ensemble, MatrixView<const float> coordinates, MatrixView<float> gradient,
                    Precision precision, const Stream& stream) {
  if (coordinates.rows == 0) return;
  const ScaleResolver resolver(make_plan(ensemble.spec));
  const Network network(all_members(ensemble, resolver), false, stream);
  Blocks blocks(network, coordinates, {.backward = true, .coordinates = true}, precision, false, stream);
  Passes& passes = blocks.passes();
  const int outputs = ensemble.spec.outputs, columns = static_cast<int>(coordinates.cols);
  const auto share = static_cast<float>(1.0 / static_cast<double>(ensemble.members.size()));
  DeviceArray<float> result(passes.capacity() * gradient.cols);
  blocks.run({{result.data(), gradient}}, [&](int rows) {
    for (int o = 0; o < outputs; ++o) {
      fill_output_seed(passes.output_gradient(), rows, outputs, network.members(), passes.capacity(), o, stream.get());
      passes.backward(rows, {}, nullptr, stream.get());
      add_member_gradients(passes.coordinate_gradient(), rows, columns, network.members(), passes.capacity(), o, outputs, share,
                           result.data(), stream.get());
    }
  });
}

void head_inputs(const Ensemble& ensemble, std::size_t member, MatrixView<const float> coordinates, MatrixView<float> inputs,
                 Precision precision, const Stream& stream) {
  if (coordinates.rows == 0) return;
  const ScaleResolver resolver(make_plan(ensemble.spec));
  const std::vector<NetworkMember> one = {{&ensemble.members[member], &resolver}};
  const Network network(one, false, stream);
  Blocks blocks(network, coordinates, {}, precision, false, stream);
  DeviceArray<float> result(blocks.passes().capacity() * inputs.cols);
  const std::size_t last = network.plan().layers.size() - 1;
  const ConstMatrices scale = network.plan().has_head ? network.scales().head() : network.scales().output(last);
  blocks.run({{result.data(), inputs}}, [&](int rows) {
    scale_matrix(rows, static_cast<int>(inputs.cols), scale.data, 1.0F, blocks.passes().last_input(), result.data(),
                 stream.get());
  });
}

}  // namespace drift::cuda
