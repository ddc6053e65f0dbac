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

// Results of a block of points: [rows, cols], from the device to the caller's matrix.
struct Result {
  const float* from;
  MatrixView<float> to;  // of all points; empty: not wanted
};

// Points go through all members a block at a time. While the device works on one block, the host brings the next and takes the
// last one's results away.
class Blocks {
 public:
  // For up to `rows` points at a time, which are cut where they are too many.
  Blocks(const Network& network, std::size_t rows, std::size_t columns, Wanted wanted, Precision precision, bool may_fuse,
         const Stream& stream)
      : network_(network), stream_(stream), made_for_(std::min(rows, kMaxRows)), columns_(columns) {
    const auto members = static_cast<std::size_t>(network.members());
    if (may_fuse && FusedPasses::fit(network.plan(), wanted, precision)) {
      const std::size_t at_once = rows_at_once(FusedPasses::bytes_per_row(network.plan(), members, false), rows);
      fused_ = std::make_unique<FusedPasses>(network, at_once, false, precision, stream);
      capacity_ = fused_->capacity();
    } else {
      const std::size_t at_once = rows_at_once(Passes::bytes_per_row(network.plan(), members, wanted), rows);
      passes_ = std::make_unique<Passes>(network, at_once, wanted, precision);
      capacity_ = at_once;
    }
    block_ = DeviceArray<float>(capacity_ * columns_);
  }

  // More points than it was made for would go through in needlessly small pieces.
  bool suits(std::size_t rows) const { return std::min(rows, kMaxRows) <= made_for_; }
  std::size_t capacity() const { return capacity_; }
  Passes& passes() { return *passes_; }
  const float* output() { return fused_ ? fused_->output() : passes_->output(); }

  // Calls work(rows) when a block's forward pass has been put into the stream, for it to add what makes the results.
  void run(MatrixView<const float> points, const std::vector<Result>& results, const std::function<void(int)>& work) {
    std::size_t wanted = 0;
    for (const Result& result : results) wanted += result.to.cols;
    for (std::unique_ptr<Slot>& slot : slots_) {
      if (slot == nullptr || wanted > slot->result_columns) slot = std::make_unique<Slot>(capacity_, columns_, wanted);
      slot->rows = 0;
    }
    std::size_t turn = 0;
    for (std::size_t first = 0; first < points.rows; first += capacity_, ++turn) {
      Slot& slot = *slots_[turn % 2];
      take_away(slot, results);
      slot.first = first;
      slot.rows = std::min(capacity_, points.rows - first);
      for (std::size_t row = 0; row < slot.rows; ++row) {
        std::copy_n(points.row(first + row), columns_, slot.points.data() + row * columns_);
      }
      enqueue(slot, results, work);
    }
    take_away(*slots_[turn % 2], results);
    take_away(*slots_[(turn + 1) % 2], results);
  }

 private:
  struct Slot {
    PinnedArray points, results;
    Event done;
    std::size_t result_columns, first = 0, rows = 0;
    Slot(std::size_t capacity, std::size_t columns, std::size_t wanted)
        : points(capacity * columns), results(capacity * wanted), result_columns(wanted) {}
  };

  void enqueue(Slot& slot, const std::vector<Result>& results, const std::function<void(int)>& work) {
    const cudaStream_t stream = stream_.get();
    check_cuda(
        cudaMemcpyAsync(block_.data(), slot.points.data(), slot.rows * columns_ * sizeof(float), cudaMemcpyHostToDevice, stream),
        "copying points");
    const auto rows = static_cast<int>(slot.rows), columns = static_cast<int>(columns_);
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
  const Stream& stream_;
  std::size_t made_for_, columns_;
  std::unique_ptr<Passes> passes_;  // one of the two
  std::unique_ptr<FusedPasses> fused_;
  std::size_t capacity_ = 0;
  DeviceArray<float> block_;
  std::unique_ptr<Slot> slots_[2];
};

std::vector<NetworkMember> all_members(const Ensemble& ensemble, const ScaleResolver& resolver) {
  std::vector<NetworkMember> members;
  for (const Member& member : ensemble.members) members.push_back({&member, &resolver});
  return members;
}

// An array of at least so many floats.
float* grown(DeviceArray<float>& array, std::size_t floats) {
  if (array.size() < floats) array = DeviceArray<float>(floats);
  return array.data();
}

}  // namespace

struct DevicePredictor::Parts {
  Parts(const Ensemble& of, Precision with)
      : ensemble(of), precision(with), resolver(make_plan(of.spec)), network(all_members(of, resolver), false, stream) {}

  Blocks& suited(std::unique_ptr<Blocks>& blocks, std::size_t rows, Wanted wanted, bool may_fuse) {
    if (blocks != nullptr && blocks->suits(rows)) return *blocks;
    blocks.reset();  // its memory first
    blocks = std::make_unique<Blocks>(network, rows, static_cast<std::size_t>(ensemble.spec.coordinates()), wanted, precision,
                                      may_fuse, stream);
    return *blocks;
  }

  const Ensemble& ensemble;
  Precision precision;
  Stream stream;
  ScaleResolver resolver;
  Network network;
  std::unique_ptr<Blocks> forward, backward, heads;
  DeviceArray<float> mean, variance, members, gradient, head;  // of a block
};

DevicePredictor::DevicePredictor(const Ensemble& ensemble, Precision precision)
    : parts_(std::make_unique<Parts>(ensemble, precision)) {}
DevicePredictor::~DevicePredictor() = default;

void DevicePredictor::predict(MatrixView<const float> coordinates, const PredictionViews& out) {
  if (coordinates.rows == 0) return;
  Parts& p = *parts_;
  Blocks& blocks = p.suited(p.forward, coordinates.rows, {}, true);
  const auto outputs = static_cast<std::size_t>(p.ensemble.spec.outputs);
  const std::size_t capacity = blocks.capacity();
  float* const mean = grown(p.mean, capacity * outputs);
  float* const variance = grown(p.variance, capacity * outputs);
  float* const members = out.members.empty() ? nullptr : grown(p.members, capacity * outputs * p.ensemble.members.size());
  blocks.run(coordinates, {{mean, out.mean}, {variance, out.variance}, {members, out.members}}, [&](int rows) {
    member_moments(blocks.output(), rows, static_cast<int>(outputs), p.network.members(), capacity, mean, variance, members,
                   p.stream.get());
  });
}

void DevicePredictor::input_gradient(MatrixView<const float> coordinates, MatrixView<float> gradient) {
  if (coordinates.rows == 0) return;
  Parts& p = *parts_;
  Blocks& blocks = p.suited(p.backward, coordinates.rows, {.backward = true, .coordinates = true}, false);
  Passes& passes = blocks.passes();
  const int outputs = p.ensemble.spec.outputs, columns = static_cast<int>(coordinates.cols);
  const auto share = static_cast<float>(1.0 / static_cast<double>(p.ensemble.members.size()));
  float* const result = grown(p.gradient, passes.capacity() * gradient.cols);
  blocks.run(coordinates, {{result, gradient}}, [&](int rows) {
    for (int o = 0; o < outputs; ++o) {
      fill_output_seed(passes.output_gradient(), rows, outputs, p.network.members(), passes.capacity(), o, p.stream.get());
      passes.backward(rows, {}, nullptr, p.stream.get());
      add_member_gradients(passes.coordinate_gradient(), rows, columns, p.network.members(), passes.capacity(), o, outputs, share,
                           result, p.stream.get());
    }
  });
}

void DevicePredictor::head_inputs(MatrixView<const float> coordinates, MatrixView<float> inputs) {
  if (coordinates.rows == 0) return;
  Parts& p = *parts_;
  Blocks& blocks = p.suited(p.heads, coordinates.rows, {}, false);
  const std::size_t members = p.ensemble.members.size(), each = inputs.cols / members, capacity = blocks.capacity();
  float* const result = grown(p.head, members * capacity * each);
  const std::size_t last = p.network.plan().layers.size() - 1;
  const ConstMatrices scale = p.network.plan().has_head ? p.network.scales().head() : p.network.scales().output(last);
  std::vector<Result> results;
  for (std::size_t m = 0; m < members; ++m) results.push_back({result + m * capacity * each, inputs.middle_cols(m * each, each)});
  blocks.run(coordinates, results, [&](int rows) {
    for (std::size_t m = 0; m < members; ++m) {
      ConstMatrices from = blocks.passes().last_input();
      from.data += m * from.member_stride;
      scale_matrix(rows, static_cast<int>(each), scale.data + m * scale.member_stride, 1.0F, from, result + m * capacity * each,
                   p.stream.get());
    }
  });
}

}  // namespace drift::cuda
