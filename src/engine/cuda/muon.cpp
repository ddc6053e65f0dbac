#include "engine/cuda/muon.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/cuda/gemm.h"

namespace drift::cuda {
namespace {

std::size_t size_of(int count) { return static_cast<std::size_t>(count); }

// The fused kernel reads pairs of numbers.
bool in_pairs(const MuonArrays& a, const std::vector<std::size_t>& offsets) {
  const auto even = [](std::size_t n) { return n % 2 == 0; };
  return even(a.weights_stride) && even(a.gradient_stride) && even(a.moment_stride) &&
         std::all_of(offsets.begin(), offsets.end(), even);
}

}  // namespace

// In float32 the Gram matrix serves three iterations. In the lower precisions its rounding would grow too large,
// and products with X are cheap: it is made anew for each.
Muon::Muon(MuonArrays arrays, int rows, int cols, const std::vector<std::size_t>& offsets, const std::vector<float>& factors,
           int iterations, Precision precision, const Stream& stream)
    : arrays_(arrays),
      rows_(rows),
      cols_(cols),
      small_(std::min(rows, cols)),
      iterations_(iterations),
      steps_per_gram_(precision == Precision::float32 ? 3 : 1),
      precision_(precision == Precision::bf16 ? Precision::tf32 : precision),
      image_precision_(precision),
      fused_(fusing_allowed && precision_ == Precision::tf32 && fused_muon_fits(rows, cols) && in_pairs(arrays, offsets)),
      host_offsets_(offsets),
      offsets_(offsets.size()),
      factors_(factors.size()) {
  offsets_.upload(offsets, stream);
  factors_.upload(factors, stream);
  arrays_.layers = static_cast<int>(offsets.size());
  arrays_.size = size_of(rows) * size_of(cols);
  arrays_.offsets = offsets_.data();
  arrays_.factors = factors_.data();
  if (!fused_) allocate();
}

void Muon::allocate() {
  const std::size_t matrices = size_of(arrays_.members) * size_of(arrays_.layers), square = size_of(small_) * size_of(small_);
  x_ = DeviceArray<float>(matrices * arrays_.size);
  next_x_ = DeviceArray<float>(matrices * arrays_.size);
  slices_ = rows_ >= cols_ && rows_ % 4 == 0 ? 4 : 1;
  grams_ = DeviceArray<float>(slices_ > 1 ? size_of(slices_) * matrices * square : 0);
  scales_ = DeviceArray<float>(3 * matrices);
  for (DeviceArray<float>* array : {&gram_, &square_, &polynomial_, &factor_, &product_})
    *array = DeviceArray<float>(matrices * square);
  partial_ = DeviceArray<double>(matrices * size_of(momentum_partials(arrays_.size)));
  arrays_.x = x_.data();
  arrays_.partial = partial_.data();
}

void Muon::write_images(int tiles, const ImagesOf& images_of, const Stream& stream) {
  std::vector<MuonImages> images;
  for (const std::size_t offset : host_offsets_) images.push_back(images_of(offset));
  images_ = DeviceArray<MuonImages>(images.size());
  images_.upload(images, stream);
  tiles_ = tiles;
}

FusedMuon Muon::fused_step(const StepNumbers* numbers) const {
  return {.arrays = arrays_,
          .numbers = numbers,
          .rows = rows_,
          .iterations = iterations_,
          .root = root_of_rows(),
          .tiles = tiles_,
          .images = images_.data(),
          .image_precision = image_precision_};
}

void Muon::enqueue_one(std::size_t offset, const StepNumbers* numbers, cudaStream_t stream) const {
  const auto found = std::find(host_offsets_.begin(), host_offsets_.end(), offset);
  if (found == host_offsets_.end()) return;
  const auto which = found - host_offsets_.begin();
  FusedMuon step = fused_step(numbers);
  step.arrays.layers = 1;
  step.arrays.offsets += which;
  step.arrays.factors += which;
  if (step.images != nullptr) step.images += which;
  fused_muon(step, stream);
}

void Muon::enqueue(const StepNumbers* numbers, cudaStream_t stream) {
  if (fused_) return fused_muon(fused_step(numbers), stream);
  arrays_.x = x_.data();
  muon_momentum(arrays_, numbers, root_of_rows(), scales_.data(), stream);
  bool first = true;
  for (int left = iterations_; left > 0; left -= steps_per_gram_) {
    make_gram(first, stream);
    make_factor(std::min(left, steps_per_gram_), stream);
    // X_0's division, put off until here, is the factor's.
    if (first) scale_matrices(small_ * small_, arrays_.members * arrays_.layers, scales_.data(), factor_.data(), stream);
    apply_factor(stream);
    std::swap(x_, next_x_);
    first = false;
  }
  arrays_.x = x_.data();
  muon_apply(arrays_, scales_.data(), stream);
}

void Muon::make_gram(bool first, cudaStream_t stream) {
  const bool tall = rows_ >= cols_;
  const int matrices = arrays_.members * arrays_.layers;
  const auto n = size_of(small_);
  const ConstMatrices x{x_.data(), size_of(cols_), arrays_.size / size_of(slices_)};
  gemm({.precision = precision_,
        .transpose_a = tall,
        .transpose_b = !tall,
        .members = matrices * slices_,
        .m = small_,
        .n = small_,
        .k = std::max(rows_, cols_) / slices_,
        .a = x,
        .b = x,
        .c = {slices_ > 1 ? grams_.data() : gram_.data(), n, n * n}},
       stream);
  const float* scale = first ? scales_.data() + 1 : nullptr;
  if (slices_ > 1) {
    sum_grams(small_, matrices, slices_, grams_.data(), scale, gram_.data(), stream);
  } else if (first) {
    scale_matrices(small_ * small_, matrices, scale, gram_.data(), stream);
  }
}

void Muon::multiply(const DeviceArray<float>& a, const DeviceArray<float>& b, DeviceArray<float>& c, cudaStream_t stream) const {
  const auto n = static_cast<std::size_t>(small_);
  gemm({.precision = precision_,
        .members = arrays_.members * arrays_.layers,
        .m = small_,
        .n = small_,
        .k = small_,
        .a = {a.data(), n, n * n},
        .b = {b.data(), n, n * n},
        .c = {c.data(), n, n * n}},
       stream);
}

void Muon::make_factor(int steps, cudaStream_t stream) {
  for (int k = 0; k < steps; ++k) {
    multiply(gram_, gram_, square_, stream);
    muon_polynomial(small_, arrays_.members * arrays_.layers, gram_.data(), square_.data(),
                    k == 0 ? factor_.data() : polynomial_.data(), stream);
    const DeviceArray<float>& p = k == 0 ? factor_ : polynomial_;
    if (k + 1 < steps) {
      multiply(p, gram_, product_, stream);
      multiply(product_, p, gram_, stream);
    }
    if (k > 0) {
      multiply(factor_, polynomial_, product_, stream);
      std::swap(factor_, product_);
    }
  }
}

// next_x_ = X factor_, or factor_ X where rows < cols.
void Muon::apply_factor(cudaStream_t stream) {
  const bool tall = rows_ >= cols_;
  const auto n = static_cast<std::size_t>(small_), cols = static_cast<std::size_t>(cols_);
  const ConstMatrices x{x_.data(), cols, arrays_.size}, factor{factor_.data(), n, n * n};
  gemm({.precision = precision_,
        .members = arrays_.members * arrays_.layers,
        .m = rows_,
        .n = cols_,
        .k = small_,
        .a = tall ? x : factor,
        .b = tall ? factor : x,
        .c = {next_x_.data(), cols, arrays_.size}},
       stream);
}

}  // namespace drift::cuda
