// Activations of dense layers and their way back: element by element, each computed by itself in one order, so that results do
// not depend on the vector's width. sin(omega z) goes through turns (turns-inl.h): p = z omega / (2 pi).

#include <numbers>

#include "engine/cpu/kernels.h"

// Vectors are members of structs, which instruction sets without a fixed vector size cannot do.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#define HWY_TARGET_INCLUDE "engine/cpu/activation_kernels.cpp"
// foreach_target.h comes before what it includes again.
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "engine/cpu/turns-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace drift::cpu::HWY_NAMESPACE {
namespace {

// Runs body.run(first column, lanes) over `cols` columns.
template <class Body>
HWY_INLINE void for_each_vector(std::size_t cols, const Body& body) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  std::size_t col = 0;
  for (; col + lanes <= cols; col += lanes) body.run(col, AllLanes());
  if (col < cols) body.run(col, FirstLanes{cols - col});
}

template <class SomeLanes>
HWY_INLINE FloatVector biased(const float* z, const float* bias, std::size_t col, const SomeLanes& lanes) {
  const FloatVector value = lanes.load(z + col);
  return bias == nullptr ? value : hn::Add(value, lanes.load(bias + col));
}

struct ReluRow {
  const float* bias;
  float* z;

  template <class SomeLanes>
  HWY_INLINE void run(std::size_t col, const SomeLanes& lanes) const {
    const FloatVector value = biased(z, bias, col, lanes);
    lanes.store(hn::IfThenZeroElse(hn::Lt(value, hn::Zero(FloatTag())), value), z + col);  // not Max, which may lose a NaN
  }
};

struct SineRow {
  const float* bias;
  float* z;
  float* slope;  // or nullptr
  FloatVector turns, omega;

  template <class SomeLanes>
  HWY_INLINE void run(std::size_t col, const SomeLanes& lanes) const {
    const Turn turn(fraction_of_turn(hn::Mul(turns, biased(z, bias, col, lanes))));
    lanes.store(turn.sine(), z + col);
    if (slope != nullptr) lanes.store(hn::Mul(omega, turn.cosine()), slope + col);
  }
};

struct ReluGradientRow {
  const float* feature;
  float* target;

  template <class SomeLanes>
  HWY_INLINE void run(std::size_t col, const SomeLanes& lanes) const {
    const FloatMask open = hn::Gt(lanes.load(feature + col), hn::Zero(FloatTag()));
    lanes.store(hn::IfThenElseZero(open, lanes.load(target + col)), target + col);
  }
};

// Four rows to a sum, so that the sums are read and written a quarter as often; the order of the rows stays.
struct SumRows {
  std::size_t rows, stride;
  const float* from;
  float* sums;

  template <class SomeLanes>
  HWY_INLINE void run(std::size_t col, const SomeLanes& lanes) const {
    FloatVector sum = lanes.load(sums + col);
    for (std::size_t row = 0; row < rows; ++row) sum = hn::Add(sum, lanes.load(from + row * stride + col));
    lanes.store(sum, sums + col);
  }
};

}  // namespace

void run_relu(const ActivationBlock<float>& block) {
  for (std::size_t row = 0; row < block.rows; ++row) {
    for_each_vector(block.cols, ReluRow{block.bias, block.feature + row * block.stride});
  }
}

void run_sine(const ActivationBlock<float>& block, float omega, float* slope) {
  const FloatVector turns = hn::Set(FloatTag(), static_cast<float>(omega / (2 * std::numbers::pi)));
  for (std::size_t row = 0; row < block.rows; ++row) {
    const std::size_t first = row * block.stride;
    for_each_vector(block.cols, SineRow{block.bias, block.feature + first, slope == nullptr ? nullptr : slope + first, turns,
                                        hn::Set(FloatTag(), omega)});
  }
}

void run_relu_gradient(std::size_t rows, std::size_t cols, std::size_t stride, const float* feature, float* target) {
  for (std::size_t row = 0; row < rows; ++row) {
    for_each_vector(cols, ReluGradientRow{feature + row * stride, target + row * stride});
  }
}

void run_column_sums(std::size_t rows, std::size_t cols, std::size_t stride, const float* from, float* sums) {
  for (std::size_t row = 0; row < rows; row += 4) {
    for_each_vector(cols, SumRows{rows - row < 4 ? rows - row : 4, stride, from + row * stride, sums});
  }
}

}  // namespace drift::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <algorithm>

namespace drift::cpu {

HWY_EXPORT(run_relu);
HWY_EXPORT(run_sine);
HWY_EXPORT(run_relu_gradient);
HWY_EXPORT(run_column_sums);

void relu(const ActivationBlock<float>& block) { HWY_DYNAMIC_DISPATCH(run_relu)(block); }

void sine(const ActivationBlock<float>& block, float omega, float* slope) { HWY_DYNAMIC_DISPATCH(run_sine)(block, omega, slope); }

void relu_gradient(std::size_t rows, std::size_t cols, std::size_t stride, const float* feature, float* target) {
  HWY_DYNAMIC_DISPATCH(run_relu_gradient)(rows, cols, stride, feature, target);
}

void column_sums(std::size_t rows, std::size_t cols, std::size_t stride, const float* from, bool accumulate, float* sums) {
  if (!accumulate) std::fill_n(sums, cols, 0.0F);
  HWY_DYNAMIC_DISPATCH(run_column_sums)(rows, cols, stride, from, sums);
}

}  // namespace drift::cpu
#endif  // HWY_ONCE
