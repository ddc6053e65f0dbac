// Fast Walsh-Hadamard transforms of the rows of a block. y = H x with H_ij = (-1)^popcount(i & j) takes log2(n) stages; stage h
// replaces the pairs (x_i, x_{i+h}) by their sum and difference. Three in a row, with signs between, stand for a dense product
// with frequencies: for n = 128 in about a quarter of its time.
//
// Eight vectors are transformed in registers: three stages between vectors, then those within a vector, where
// x <- shuffle(x) + sign * x. Longer transforms do their widest stages in memory first; shorter ones are plain loops.

#include <algorithm>
#include <cstring>

#include "engine/cpu/kernels.h"

// Vectors are kept in arrays, which instruction sets without a fixed vector size cannot do.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#define HWY_TARGET_INCLUDE "engine/cpu/hadamard_kernels.cpp"
// foreach_target.h comes before what it includes again.
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace drift::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;
constexpr std::size_t kLanes = hn::MaxLanes(Tag());
constexpr std::size_t kInRegisters = 8 * kLanes;

// Sum and difference of two vectors.
HWY_INLINE void butterfly(Vector& a, Vector& b) {
  const Vector sum = hn::Add(a, b);
  b = hn::Sub(a, b);
  a = sum;
}

// The signs of the stage with pairs `half` lanes apart: + for the first of a pair, - for the second.
HWY_INLINE Vector stage_signs(std::size_t half) {
  HWY_ALIGN float signs[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) signs[i] = (i & half) == 0 ? 1.0f : -1.0f;
  return hn::Load(Tag(), signs);
}

// The transform of 8 * kLanes numbers.
class Transform8 {
 public:
  HWY_INLINE Transform8() : sign1_(stage_signs(1)), sign2_(stage_signs(2)), sign4_(stage_signs(4)), sign8_(stage_signs(8)) {}

  HWY_INLINE void operator()(Vector (&x)[8]) const {
    butterfly(x[0], x[1]), butterfly(x[2], x[3]), butterfly(x[4], x[5]), butterfly(x[6], x[7]);
    butterfly(x[0], x[2]), butterfly(x[1], x[3]), butterfly(x[4], x[6]), butterfly(x[5], x[7]);
    butterfly(x[0], x[4]), butterfly(x[1], x[5]), butterfly(x[2], x[6]), butterfly(x[3], x[7]);
    within(x[0]), within(x[1]), within(x[2]), within(x[3]);
    within(x[4]), within(x[5]), within(x[6]), within(x[7]);
  }

 private:
  HWY_INLINE void within(Vector& x) const {
#if HWY_TARGET != HWY_SCALAR  // whose vectors have one lane, and no shuffles
    x = hn::MulAdd(x, sign1_, hn::Shuffle2301(x));
    x = hn::MulAdd(x, sign2_, hn::Shuffle1032(x));
    if constexpr (kLanes >= 8) x = hn::MulAdd(x, sign4_, hn::SwapAdjacentBlocks(x));
    if constexpr (kLanes >= 16) x = hn::MulAdd(x, sign8_, hn::ConcatLowerUpper(Tag(), x, x));
#else
    static_cast<void>(x);
#endif
  }

  Vector sign1_, sign2_, sign4_, sign8_;
};

void scale(std::size_t n, const float* HWY_RESTRICT factor, float* HWY_RESTRICT x) {
  for (std::size_t i = 0; i < n; ++i) x[i] *= factor[i];
}

// One stage in memory.
void stage(std::size_t n, std::size_t half, float* x) {
  for (std::size_t first = 0; first < n; first += 2 * half) {
    float* HWY_RESTRICT a = x + first;
    float* HWY_RESTRICT b = a + half;
    for (std::size_t i = 0; i < half; ++i) {
      const float sum = a[i] + b[i];
      b[i] = a[i] - b[i];
      a[i] = sum;
    }
  }
}

// x *= factor, from memory.
HWY_INLINE void scale8(const float* factor, Vector (&x)[8]) {
#pragma GCC unroll 8
  for (std::size_t i = 0; i < 8; ++i) x[i] = hn::Mul(x[i], hn::LoadU(Tag(), factor + i * kLanes));
}

HWY_INLINE void load8(const float* from, Vector (&x)[8]) {
#pragma GCC unroll 8
  for (std::size_t i = 0; i < 8; ++i) x[i] = hn::LoadU(Tag(), from + i * kLanes);
}

HWY_INLINE void store8(const Vector (&x)[8], float* to) {
#pragma GCC unroll 8
  for (std::size_t i = 0; i < 8; ++i) hn::StoreU(x[i], Tag(), to + i * kLanes);
}

// Any n.
void transform(const Transform8& transform8, std::size_t n, float* x) {
  std::size_t half = n / 2;
  for (; half >= kInRegisters; half /= 2) stage(n, half, x);
  if (2 * half != kInRegisters) {
    for (; half >= 1; half /= 2) stage(n, half, x);
    return;
  }
  for (std::size_t first = 0; first < n; first += kInRegisters) {
    Vector v[8];
    load8(x + first, v);
    transform8(v);
    store8(v, x + first);
  }
}

// H D_3 H D_2 H D_1 x times the lengths, [n] -> [n].
HWY_INLINE void forward_block(const Transform8& transform8, std::size_t n, const float* signs, const float* lengths, float* x) {
  if (n == kInRegisters) {
    Vector v[8];
    load8(x, v);
    scale8(signs, v);
    transform8(v);
    scale8(signs + n, v);
    transform8(v);
    scale8(signs + 2 * n, v);
    transform8(v);
    scale8(lengths, v);
    return store8(v, x);
  }
  for (std::size_t i = 0; i < 3; ++i) {
    scale(n, signs + i * n, x);
    transform(transform8, n, x);
  }
  scale(n, lengths, x);
}

// D_1 H D_2 H D_3 H (lengths x).
HWY_INLINE void backward_block(const Transform8& transform8, std::size_t n, const float* signs, const float* lengths, float* x) {
  if (n == kInRegisters) {
    Vector v[8];
    load8(x, v);
    scale8(lengths, v);
    transform8(v);
    scale8(signs + 2 * n, v);
    transform8(v);
    scale8(signs + n, v);
    transform8(v);
    scale8(signs, v);
    return store8(v, x);
  }
  scale(n, lengths, x);
  for (std::size_t i = 3; i-- > 0;) {
    transform(transform8, n, x);
    scale(n, signs + i * n, x);
  }
}

void run_phase(const HadamardBlock<float>& block, const float* u, float* phase) {
  const Transform8 transform8;
  alignas(64) float x[kMaxHadamard];
  for (std::size_t row = 0; row < block.rows; ++row) {
    for (std::size_t first = 0; first < block.features; first += block.n) {
      std::memcpy(x, u + row * block.hidden, block.hidden * sizeof(float));
      std::fill(x + block.hidden, x + block.n, 0.0f);
      forward_block(transform8, block.n, block.signs + 3 * first, block.lengths + first, x);
      std::memcpy(phase + row * block.stride + first, x, std::min(block.n, block.features - first) * sizeof(float));
    }
  }
}

void run_gradient(const HadamardBlock<float>& block, const float* phase_gradient, float* u_gradient) {
  const Transform8 transform8;
  alignas(64) float x[kMaxHadamard];
  for (std::size_t row = 0; row < block.rows; ++row) {
    float* HWY_RESTRICT du = u_gradient + row * block.hidden;
    std::fill_n(du, block.hidden, 0.0f);
    for (std::size_t first = 0; first < block.features; first += block.n) {
      const std::size_t count = std::min(block.n, block.features - first);
      std::memcpy(x, phase_gradient + row * block.stride + first, count * sizeof(float));
      std::fill(x + count, x + block.n, 0.0f);
      backward_block(transform8, block.n, block.signs + 3 * first, block.lengths + first, x);
      for (std::size_t i = 0; i < block.hidden; ++i) du[i] += x[i];
    }
  }
}

}  // namespace drift::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace drift::cpu {

HWY_EXPORT(run_phase);
HWY_EXPORT(run_gradient);

void hadamard_phase(const HadamardBlock<float>& block, const float* u, float* phase) {
  HWY_DYNAMIC_DISPATCH(run_phase)(block, u, phase);
}
void hadamard_gradient(const HadamardBlock<float>& block, const float* phase_gradient, float* u_gradient) {
  HWY_DYNAMIC_DISPATCH(run_gradient)(block, phase_gradient, u_gradient);
}

}  // namespace drift::cpu
#endif  // HWY_ONCE
