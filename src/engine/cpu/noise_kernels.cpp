// Philox4x32-10 (core/random.h) for many counters at once, and what becomes of its words. Vectors run along counters; the columns
// of a group are so ordered that the same word of neighbouring counters lies side by side, whatever the vector's width:
//   mask     group of 128 columns: column = 128 group + 32 word + 16 half + counter mod 16,   16 bits each
//   normal   group of 64 columns:  column = 64 group + 32 pair + 16 (cosine 0, sine 1) + counter mod 16,   Box-Muller of two
//   words

#include <array>

#include "engine/cpu/step_noise.h"

// Vectors are members of structs, which instruction sets without a fixed vector size cannot do.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
#define HWY_TARGET_INCLUDE "engine/cpu/noise_kernels.cpp"
// foreach_target.h comes before what it includes again.
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "engine/cpu/turns-inl.h"
#include "hwy/contrib/math/math-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace drift::cpu::HWY_NAMESPACE {

using WordTag = hn::Repartition<std::uint32_t, FloatTag>;
using WordVector = hn::Vec<WordTag>;
static_assert(hn::MaxLanes(FloatTag()) <= kCountersAGroup);

struct Product {
  WordVector high, low;

  HWY_INLINE Product(WordVector a, std::uint32_t factor) {
#if HWY_TARGET == HWY_SCALAR
    const std::uint64_t product = std::uint64_t{hn::GetLane(a)} * factor;
    high = hn::Set(WordTag(), static_cast<std::uint32_t>(product >> 32));
    low = hn::Set(WordTag(), static_cast<std::uint32_t>(product));
#else
    const hn::Repartition<std::uint64_t, FloatTag> long_tag;
    const WordVector b = hn::Set(WordTag(), factor);
    const auto even = hn::MulEven(a, b);
    const auto odd = hn::MulEven(hn::BitCast(WordTag(), hn::ShiftRight<32>(hn::BitCast(long_tag, a))), b);
    high = hn::OddEven(hn::BitCast(WordTag(), odd), hn::BitCast(WordTag(), hn::ShiftRight<32>(even)));
    low = hn::OddEven(hn::BitCast(WordTag(), hn::ShiftLeft<32>(odd)), hn::BitCast(WordTag(), even));
#endif
  }
};

// The words of neighbouring counters from `first` on.
struct Words {
  WordVector word[4];

  HWY_INLINE Words(const NoiseRow& row, std::uint32_t first) {
    const WordTag tag;
    word[0] = hn::Iota(tag, first);
    word[1] = hn::Set(tag, row.row);
    word[2] = hn::Set(tag, row.tail[0]);
    word[3] = hn::Set(tag, row.tail[1]);
    std::uint32_t key0 = row.key[0], key1 = row.key[1];
    for (int round = 0; round < 10; ++round) {
      const Product product0(word[0], 0xD2511F53), product1(word[2], 0xCD9E8D57);
      word[0] = hn::Xor(hn::Xor(product1.high, word[1]), hn::Set(tag, key0));
      word[2] = hn::Xor(hn::Xor(product0.high, word[3]), hn::Set(tag, key1));
      word[1] = product1.low;
      word[3] = product0.low;
      key0 += 0x9E3779B9;
      key1 += 0xBB67AE85;
    }
  }
};

HWY_INLINE void put(FloatVector numbers, std::size_t column, std::span<float> out) {
  if (column + hn::Lanes(FloatTag()) <= out.size()) {
    AllLanes().store(numbers, out.data() + column);
  } else if (column < out.size()) {
    FirstLanes{out.size() - column}.store(numbers, out.data() + column);
  }
}

// Calls use(words, first column) for every vector of counters.
template <std::size_t kColumns, class Use>
HWY_INLINE void for_each_counter(const NoiseRow& row, std::size_t columns, const Use& use) {
  for (std::size_t group = 0; group * kColumns < columns; ++group) {
    for (std::size_t counter = 0; counter < kCountersAGroup; counter += hn::Lanes(FloatTag())) {
      use(Words(row, static_cast<std::uint32_t>(group * kCountersAGroup + counter)), group * kColumns + counter);
    }
  }
}

void run_mask(const NoiseRow& row, std::uint32_t dropped, float kept, std::span<float> mask) {
  const hn::Repartition<std::int32_t, FloatTag> signed_tag;
  const auto limit = hn::Set(signed_tag, static_cast<std::int32_t>(dropped));
  const auto one = hn::Set(FloatTag(), kept);
  for_each_counter<8 * kCountersAGroup>(row, mask.size(), [&](const Words& words, std::size_t column) HWY_ATTR {
    for (std::size_t i = 0; i < 4; ++i) {
      const WordVector halves[2] = {hn::And(words.word[i], hn::Set(WordTag(), 0xFFFF)), hn::ShiftRight<16>(words.word[i])};
      for (std::size_t half = 0; half < 2; ++half) {
        const auto gone = hn::RebindMask(FloatTag(), hn::Lt(hn::BitCast(signed_tag, halves[half]), limit));
        put(hn::IfThenZeroElse(gone, one), column + (2 * i + half) * kCountersAGroup, mask);
      }
    }
  });
}

// (bits / 2^9 + 1/2) / 2^23, exact.
HWY_INLINE FloatVector uniform(WordVector bits) {
  const hn::Repartition<std::int32_t, FloatTag> signed_tag;
  const auto whole = hn::ConvertTo(FloatTag(), hn::BitCast(signed_tag, hn::ShiftRight<9>(bits)));
  return hn::Mul(hn::Add(whole, hn::Set(FloatTag(), 0.5F)), hn::Set(FloatTag(), 0x1p-23F));
}

void run_normal(const NoiseRow& row, std::span<float> numbers) {
  for_each_counter<4 * kCountersAGroup>(row, numbers.size(), [&](const Words& words, std::size_t column) HWY_ATTR {
    for (std::size_t pair = 0; pair < 2; ++pair) {
      const FloatVector log = hn::Log(FloatTag(), uniform(words.word[2 * pair]));
      const FloatVector radius = hn::Sqrt(hn::Mul(hn::Set(FloatTag(), -2.0F), log));
      const Turn turn(fraction_of_turn(uniform(words.word[2 * pair + 1])));
      put(hn::Mul(radius, turn.cosine()), column + 2 * pair * kCountersAGroup, numbers);
      put(hn::Mul(radius, turn.sine()), column + (2 * pair + 1) * kCountersAGroup, numbers);
    }
  });
}

}  // namespace drift::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace drift::cpu {

HWY_EXPORT(run_mask);
HWY_EXPORT(run_normal);

void mask_row(const NoiseRow& row, std::uint32_t dropped, float kept, std::span<float> mask) {
  HWY_DYNAMIC_DISPATCH(run_mask)(row, dropped, kept, mask);
}

void normal_row(const NoiseRow& row, std::span<float> numbers) { HWY_DYNAMIC_DISPATCH(run_normal)(row, numbers); }

}  // namespace drift::cpu
#endif  // HWY_ONCE
