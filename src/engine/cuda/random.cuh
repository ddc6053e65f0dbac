#pragma once

#include <cstdint>

#include "core/random.h"
#include "train/value_noise.h"

namespace drift::cuda {

// Philox4x32-10 as in core/random.h.
struct Words {
  std::uint32_t word[4];
};

__device__ __forceinline__ Words philox(Words c, std::uint32_t key0, std::uint32_t key1) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const std::uint32_t low0 = 0xD2511F53U * c.word[0], high0 = __umulhi(0xD2511F53U, c.word[0]);
    const std::uint32_t low1 = 0xCD9E8D57U * c.word[2], high1 = __umulhi(0xCD9E8D57U, c.word[2]);
    c = {{high1 ^ c.word[1] ^ key0, low1, high0 ^ c.word[3] ^ key1, low0}};
    key0 += 0x9E3779B9U;
    key1 += 0xBB67AE85U;
  }
  return c;
}

// The shuffle of train/batches.h, entry by entry the same.
struct Shuffle {
  std::uint64_t size;
  std::uint32_t rows, cols;
  int rounds;
  const std::uint32_t* keys;

  __device__ Shuffle(std::uint64_t count, const std::uint32_t* round_keys) : size(count), keys(round_keys) {
    rows = static_cast<std::uint32_t>(ceil(sqrt(static_cast<double>(count))));
    cols = static_cast<std::uint32_t>((count - 1) / rows + 1);
    rounds = count < 1024 ? 24 : 6;
  }
  __device__ static std::uint32_t hash(std::uint32_t value, std::uint32_t key, std::uint32_t range) {
    value = (value + key) * 0x9E3779B1U;
    value ^= value >> 15;
    value *= 0x7FEB352DU;
    return __umulhi(value, range);
  }
  __device__ static std::uint32_t add_modulo(std::uint32_t a, std::uint32_t b, std::uint32_t modulus) {
    const std::uint32_t sum = a + b;
    return min(sum, sum - modulus);
  }
  __device__ std::uint64_t operator()(std::uint64_t position) const {
    auto row = static_cast<std::uint32_t>(position / cols);
    auto col = static_cast<std::uint32_t>(position % cols);
    do {
      for (int round = 0; round < rounds; round += 2) {
        row = add_modulo(row, hash(col, keys[round], rows), rows);
        col = add_modulo(col, hash(row, keys[round + 1], cols), cols);
      }
      position = std::uint64_t{row} * cols + col;
    } while (position >= size);
    return position;
  }
};

// eps of train/value_noise.h, in float.
__device__ inline float value_noise_eps(std::uint64_t seed, std::uint32_t member, std::uint64_t observation, int output) {
  constexpr std::uint32_t kTogether = ValueNoise::kTogether;
  static_assert(kTogether == 5);
  const std::uint32_t own = member % kTogether, high = static_cast<std::uint32_t>(observation >> 32) << 2;
  const auto uniform = [](std::uint32_t bits) { return (static_cast<float>(bits >> 9) + 0.5F) * 0x1p-23F; };
  float sum = 0.0F, mine = 0.0F;
  for (std::uint32_t first = 0; first < kTogether; first += 4) {
    const Words words = philox({{static_cast<std::uint32_t>(observation), high | first / 4, member / kTogether,
                                 static_cast<std::uint32_t>(output) << 16 | static_cast<std::uint32_t>(Purpose::value_noise)}},
                               static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
    for (std::uint32_t pair = 0; pair < 4 && first + pair < kTogether; pair += 2) {
      const float radius = sqrtf(-2.0F * logf(uniform(words.word[pair])));
      float sine, cosine;
      sincospif(2.0F * uniform(words.word[pair + 1]), &sine, &cosine);
      sum += first + pair + 1 < kTogether ? radius * cosine + radius * sine : radius * cosine;
      if (own == first + pair) mine = radius * cosine;
      if (own == first + pair + 1) mine = radius * sine;
    }
  }
  return 1.118033989F * (mine - sum / kTogether);  // sqrt(5/4)
}

}  // namespace drift::cuda
