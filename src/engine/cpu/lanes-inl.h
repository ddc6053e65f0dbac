// Whole and partial vectors behind one interface, so that a loop body is written once and run for the tail as well.
// Included once for every instruction set: no ordinary include guard.

#include <cstddef>
#include <cstring>

#include "hwy/highway.h"

#if defined(DRIFT_ENGINE_CPU_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRIFT_ENGINE_CPU_LANES_INL_H_
#undef DRIFT_ENGINE_CPU_LANES_INL_H_
#else
#define DRIFT_ENGINE_CPU_LANES_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace drift::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVector = hn::Vec<FloatTag>;
using FloatMask = hn::Mask<FloatTag>;

// All lanes.
struct AllLanes {
  HWY_INLINE FloatVector load(const float* from) const { return hn::LoadU(FloatTag(), from); }
  HWY_INLINE void store(FloatVector value, float* to) const { hn::StoreU(value, FloatTag(), to); }
  HWY_INLINE FloatMask mask() const { return hn::FirstN(FloatTag(), hn::Lanes(FloatTag())); }
};

// The first `count` lanes, fewer than a vector has: memory behind them is neither read nor written; the others load as 0.
struct FirstLanes {
  std::size_t count;

  HWY_INLINE FloatMask mask() const { return hn::FirstN(FloatTag(), count); }

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  HWY_INLINE FloatVector load(const float* from) const { return hn::MaskedLoad(mask(), FloatTag(), from); }
  HWY_INLINE void store(FloatVector value, float* to) const { hn::BlendedStore(value, mask(), FloatTag(), to); }
#else  // other instruction sets have no masked access to memory
  HWY_INLINE FloatVector load(const float* from) const {
    HWY_ALIGN float whole[hn::MaxLanes(FloatTag())] = {};
    std::memcpy(whole, from, count * sizeof(float));
    return hn::Load(FloatTag(), whole);
  }
  HWY_INLINE void store(FloatVector value, float* to) const {
    HWY_ALIGN float whole[hn::MaxLanes(FloatTag())];
    hn::Store(value, FloatTag(), whole);
    std::memcpy(to, whole, count * sizeof(float));
  }
#endif
};

}  // namespace drift::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DRIFT_ENGINE_CPU_LANES_INL_H_
