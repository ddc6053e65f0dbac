// Operations on parameters and gradients between passes: sums over threads' slices, Adam, products by elements. Every element
// is computed by itself, in one order, so results do not depend on the vector's width.

#include <cassert>

#include "engine/cpu/kernels.h"

// Vectors are members of structs, which instruction sets without a fixed vector size cannot do.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#define HWY_TARGET_INCLUDE "engine/cpu/update_kernels.cpp"
// foreach_target.h comes before what it includes again.
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "engine/cpu/lanes-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace drift::cpu::HWY_NAMESPACE {

// Runs body(first element, lanes) over `count` elements.
template <class Body>
HWY_INLINE void for_each_vector(std::size_t count, const Body& body) {
  const std::size_t lanes = hn::Lanes(FloatTag());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) body.run(i, AllLanes());
  if (i < count) body.run(i, FirstLanes{count - i});
}

struct SumOfSlices {
  std::span<const float* const> slices;
  float decay;
  const float* weights;  // not read when decay is 0

  template <class SomeLanes>
  HWY_INLINE FloatVector at(std::size_t i, const SomeLanes& lanes) const {
    FloatVector sum = hn::Zero(FloatTag());
    for (const float* slice : slices) sum = hn::Add(sum, lanes.load(slice + i));
    return decay == 0 ? sum : hn::MulAdd(hn::Set(FloatTag(), decay), lanes.load(weights + i), sum);
  }
};

struct StoreSum {
  SumOfSlices gradient;
  float* sum;

  template <class SomeLanes>
  HWY_INLINE void run(std::size_t i, const SomeLanes& lanes) const {
    lanes.store(gradient.at(i, lanes), sum + i);
  }
};

void run_sum(std::span<const float* const> slices, float decay, const float* weights, std::span<float> sum) {
  for_each_vector(sum.size(), StoreSum{{slices, decay, weights}, sum.data()});
}

class AdamUpdate {
 public:
  HWY_INLINE AdamUpdate(const AdamStep& step, const SumOfSlices& gradient, float* weights, float* moment1, float* moment2)
      : gradient_(gradient),
        weights_(weights),
        moment1_(moment1),
        moment2_(moment2),
        beta1_(set(step.beta1)),
        one_minus_beta1_(set(1 - step.beta1)),
        beta2_(set(step.beta2)),
        one_minus_beta2_(set(1 - step.beta2)),
        rate_(set(step.rate / step.correction1)),
        inverse_correction2_(set(1 / step.correction2)),
        epsilon_(set(step.epsilon)) {}

  template <class SomeLanes>
  HWY_INLINE void run(std::size_t i, const SomeLanes& lanes) const {
    const FloatVector g = gradient_.at(i, lanes);
    const FloatVector m = hn::MulAdd(beta1_, lanes.load(moment1_ + i), hn::Mul(one_minus_beta1_, g));
    const FloatVector v = hn::MulAdd(beta2_, lanes.load(moment2_ + i), hn::Mul(one_minus_beta2_, hn::Mul(g, g)));
    const FloatVector scale = hn::Add(hn::Sqrt(hn::Mul(v, inverse_correction2_)), epsilon_);
    lanes.store(hn::Sub(lanes.load(weights_ + i), hn::Div(hn::Mul(rate_, m), scale)), weights_ + i);
    lanes.store(m, moment1_ + i);
    lanes.store(v, moment2_ + i);
  }

 private:
  static HWY_INLINE FloatVector set(float value) { return hn::Set(FloatTag(), value); }

  SumOfSlices gradient_;
  float* weights_;
  float* moment1_;
  float* moment2_;
  FloatVector beta1_, one_minus_beta1_, beta2_, one_minus_beta2_, rate_, inverse_correction2_, epsilon_;
};

void run_adam(const AdamStep& step, std::span<const float* const> slices, std::span<float> weights, float* moment1,
              float* moment2) {
  const SumOfSlices gradient{slices, step.decay, weights.data()};
  for_each_vector(weights.size(), AdamUpdate(step, gradient, weights.data(), moment1, moment2));
}

struct MultiplyRow {
  const float* factor;
  float* target;

  template <class SomeLanes>
  HWY_INLINE void run(std::size_t i, const SomeLanes& lanes) const {
    lanes.store(hn::Mul(lanes.load(target + i), lanes.load(factor + i)), target + i);
  }
};

void run_multiply(std::size_t rows, std::size_t cols, std::size_t stride, const float* factor, float* target) {
  for (std::size_t row = 0; row < rows; ++row) for_each_vector(cols, MultiplyRow{factor + row * stride, target + row * stride});
}

}  // namespace drift::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace drift::cpu {

HWY_EXPORT(run_sum);
HWY_EXPORT(run_adam);
HWY_EXPORT(run_multiply);

void sum_slices(std::span<const float* const> slices, float decay, std::span<const float> weights, std::span<float> sum) {
  assert(decay == 0 || weights.size() == sum.size());
  HWY_DYNAMIC_DISPATCH(run_sum)(slices, decay, weights.data(), sum);
}

void adam_step(const AdamStep& step, std::span<const float* const> gradient_slices, std::span<float> weights,
               std::span<float> moment1, std::span<float> moment2) {
  assert(moment1.size() == weights.size() && moment2.size() == weights.size());
  HWY_DYNAMIC_DISPATCH(run_adam)(step, gradient_slices, weights, moment1.data(), moment2.data());
}

void multiply(std::size_t rows, std::size_t cols, std::size_t stride, const float* factor, float* target) {
  HWY_DYNAMIC_DISPATCH(run_multiply)(rows, cols, stride, factor, target);
}

}  // namespace drift::cpu
#endif  // HWY_ONCE
