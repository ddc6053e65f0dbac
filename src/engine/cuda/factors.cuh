#pragma once

// How the factors of a product are rounded and lie in registers and images (fused.h): one of these is the template argument
// `Factors` of whatever multiplies or makes factors. An instruction takes kInner numbers of the inner index, 32 bytes of an
// image.

#include <cstdint>

namespace drift::cuda {

// 11 bits. The accumulators of 8 columns are the left factor of the next product once the columns are taken in the order
// 0 2 4 6 1 3 5 7.
struct Tf32 {
  using Number = std::uint32_t;
  static constexpr int kInner = 8;

  __device__ static Number rounded(float x) {
    Number bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
  }
  // Where the j-th of the inner index lies, and which of them is the i-th of a chunk of 16 bytes.
  __device__ static int place(int j) { return (j & ~7) | ((j & 1) << 2) | ((j & 7) >> 1); }
  __device__ static int from_place(int chunk, int i) { return chunk / 2 * 8 + chunk % 2 + 2 * i; }
  // Neighbours (2 c, 2 c + 1) of the n8-th group of 8 columns, row 0 or 8, into a thread's share of a left factor.
  __device__ static void put(std::uint32_t* left, int n8, int half, float x0, float x1) {
    left[4 * n8 + half] = rounded(x0);
    left[4 * n8 + half + 2] = rounded(x1);
  }
};

// 8 bits, at twice the rate. The accumulators of 16 columns are a left factor in the order that they have.
struct Bf16 {
  using Number = std::uint16_t;
  static constexpr int kInner = 16;

  __device__ static Number rounded(float x) {
    Number bits;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
  }
  __device__ static int place(int j) { return j; }
  __device__ static int from_place(int chunk, int i) { return chunk * 8 + i; }
  __device__ static void put(std::uint32_t* left, int n8, int half, float x0, float x1) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(left[2 * n8 + half]) : "f"(x1), "f"(x0));
  }
};

// Registers of a thread for its share of a left factor [64, columns].
template <class Factors>
constexpr int left_registers(int columns) {
  return columns * 4 / Factors::kInner;
}

}  // namespace drift::cuda
