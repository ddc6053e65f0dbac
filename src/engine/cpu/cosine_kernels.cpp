// Planar random features: feature = amplitude cos(2 pi phase), slope = -2 pi amplitude sin(2 pi phase), phases in turns.
// turns-inl.h has the mathematics. Vectors run along features; four rows go together, so that frequencies and phases are
// loaded once for the four.

#include <algorithm>
#include <numbers>

#include "engine/cpu/kernels.h"

// Vectors are kept in arrays, which instruction sets without a fixed vector size cannot do.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#define HWY_TARGET_INCLUDE "engine/cpu/cosine_kernels.cpp"
// foreach_target.h comes before what it includes again.
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "engine/cpu/turns-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace drift::cpu::HWY_NAMESPACE {

constexpr std::size_t kRowsAtOnce = 4;
constexpr int kAnyCount = -1;  // a number of coordinates that is not known when compiling

// `kRows` rows of a block from `first_row` on, at every feature.
template <std::size_t kRows, int kCoordinates, bool kHidden, bool kSlope>
class CosineRows {
 public:
  HWY_INLINE CosineRows(const CosineBlock<float>& block, std::size_t first_row)
      : block_(block),
        first_row_(first_row),
        amplitude_(hn::Set(FloatTag(), block.amplitude)),
        slope_amplitude_(hn::Set(FloatTag(), static_cast<float>(-2 * std::numbers::pi * block.amplitude))) {
    for (std::size_t row = 0; row < kRows; ++row) {
      for (int i = 0; i < kCoordinates; ++i) coordinates_[row][i] = coordinate(row, static_cast<std::size_t>(i));
    }
  }

  HWY_INLINE void run() const {
    const std::size_t lanes = hn::Lanes(FloatTag());
    std::size_t feature = 0;
    for (; feature + lanes <= block_.features; feature += lanes) evaluate(feature, AllLanes());
    if (feature < block_.features) evaluate(feature, FirstLanes{block_.features - feature});
  }

 private:
  HWY_INLINE FloatVector coordinate(std::size_t row, std::size_t i) const {
    return hn::Set(FloatTag(), block_.coordinates[(first_row_ + row) * block_.coordinate_stride + i]);
  }

  template <class SomeLanes>
  HWY_INLINE void evaluate(std::size_t feature, const SomeLanes& lanes) const {
    FloatVector phase[kRows];
    const FloatVector shift = lanes.load(block_.phases + feature);
    for (std::size_t row = 0; row < kRows; ++row) phase[row] = shift;
    add_coordinates(feature, lanes, phase);
    const std::size_t offset = first_row_ * block_.stride + feature;
    if constexpr (kHidden) {
      for (std::size_t row = 0; row < kRows; ++row) {
        phase[row] = hn::Add(phase[row], lanes.load(block_.hidden_phase + offset + row * block_.stride));
      }
    }
    for (std::size_t row = 0; row < kRows; ++row) {
      const Turn turn(fraction_of_turn(phase[row]));
      lanes.store(hn::Mul(amplitude_, turn.cosine()), block_.feature + offset + row * block_.stride);
      if constexpr (kSlope) lanes.store(hn::Mul(slope_amplitude_, turn.sine()), block_.slope + offset + row * block_.stride);
    }
  }

  template <class SomeLanes>
  HWY_INLINE void add_coordinates(std::size_t feature, const SomeLanes& lanes, FloatVector (&phase)[kRows]) const {
    const float* frequencies = block_.coordinate_frequencies + feature;
    if constexpr (kCoordinates == kAnyCount) {
      for (std::size_t i = 0; i < block_.coordinate_count; ++i) {
        const FloatVector frequency = lanes.load(frequencies + i * block_.features);
        for (std::size_t row = 0; row < kRows; ++row) phase[row] = hn::MulAdd(coordinate(row, i), frequency, phase[row]);
      }
    } else {
      for (int i = 0; i < kCoordinates; ++i) {
        const FloatVector frequency = lanes.load(frequencies + static_cast<std::size_t>(i) * block_.features);
        for (std::size_t row = 0; row < kRows; ++row) phase[row] = hn::MulAdd(coordinates_[row][i], frequency, phase[row]);
      }
    }
  }

  const CosineBlock<float>& block_;
  std::size_t first_row_;
  FloatVector amplitude_;
  FloatVector slope_amplitude_;
  FloatVector coordinates_[kRows][std::max(kCoordinates, 1)];
};

// The few rows left over share one variant for all numbers of coordinates: every variant is compiled for every instruction set.
template <int kCoordinates, bool kHidden, bool kSlope>
void run_rows(const CosineBlock<float>& block) {
  std::size_t row = 0;
  for (; row + kRowsAtOnce <= block.rows; row += kRowsAtOnce) {
    CosineRows<kRowsAtOnce, kCoordinates, kHidden, kSlope>(block, row).run();
  }
  for (; row < block.rows; ++row) CosineRows<1, kAnyCount, kHidden, kSlope>(block, row).run();
}

template <bool kHidden, bool kSlope>
void run_coordinates(const CosineBlock<float>& block) {
  switch (block.coordinate_count) {
    case 1:
      return run_rows<1, kHidden, kSlope>(block);
    case 2:
      return run_rows<2, kHidden, kSlope>(block);
    case 3:
      return run_rows<3, kHidden, kSlope>(block);
    case 4:
      return run_rows<4, kHidden, kSlope>(block);
    default:
      return run_rows<kAnyCount, kHidden, kSlope>(block);
  }
}

void run_cosine(const CosineBlock<float>& block) {
  const bool hidden = block.hidden_phase != nullptr;
  const bool slope = block.slope != nullptr;
  if (hidden && slope) return run_coordinates<true, true>(block);
  if (hidden) return run_coordinates<true, false>(block);
  if (slope) return run_coordinates<false, true>(block);
  run_coordinates<false, false>(block);
}

}  // namespace drift::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace drift::cpu {

HWY_EXPORT(run_cosine);

void cosine_features(const CosineBlock<float>& block) { HWY_DYNAMIC_DISPATCH(run_cosine)(block); }

}  // namespace drift::cpu
#endif  // HWY_ONCE
