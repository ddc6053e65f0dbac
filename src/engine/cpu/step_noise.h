#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "drift/matrix_view.h"

namespace drift::cpu {

// The random numbers of one member's training step. Each is a function of (seed, member, step, matrix, row of the batch, column)
// alone, so that results depend neither on threads nor on how a batch is cut:
//   [k0, k1, c2, c3] = Philox(counter [step mod 2^32, step / 2^32, member, matrix << 16 | purpose], key seed)
//   numbers          = Philox(counter [0, 1, ..., row, c2, c3], key [k0, k1])
// In float they are made by vectors (noise_kernels.cpp), in double by plain loops, the reference for tests.
class StepNoise {
 public:
  StepNoise(std::uint64_t seed, std::uint32_t member, std::uint64_t step) : seed_(seed), member_(member), step_(step) {}

  // For dropout: mask = 0 with probability `rate`, else 1 / (1 - rate), the rate being rounded to a multiple of 2^-16.
  // `first_row` is the block's first row in the batch.
  template <class Real>
  void mask(std::size_t matrix, std::size_t first_row, double rate, MatrixView<Real> mask) const;

  // N(0, 1), made of 23 bits: none beyond 5.8. Float and double differ by 2e-6 at most.
  template <class Real>
  void normal(std::size_t matrix, std::size_t first_row, MatrixView<Real> numbers) const;

 private:
  std::uint64_t seed_;
  std::uint32_t member_;
  std::uint64_t step_;
};

// Randomness of a training pass: dropout of the inputs of every trained matrix, or the noise of variational weights.
struct PassNoise {
  StepNoise numbers;
  std::size_t first_row = 0;  // of the block, in the batch
  double dropout = 0.0;       // share of the inputs left out
};

// Key of the numbers of one row.
struct NoiseRow {
  std::array<std::uint32_t, 2> key;
  std::array<std::uint32_t, 2> tail;  // of the counters
  std::uint32_t row;
};
inline constexpr std::size_t kCountersAGroup = 16;  // whose numbers lie together: as many as the widest vector has lanes

// mask = 0 where 16 random bits are less than `dropped`, else `kept`.
void mask_row(const NoiseRow& row, std::uint32_t dropped, float kept, std::span<float> mask);
void mask_row(const NoiseRow& row, std::uint32_t dropped, double kept, std::span<double> mask);
void normal_row(const NoiseRow& row, std::span<float> numbers);
void normal_row(const NoiseRow& row, std::span<double> numbers);

}  // namespace drift::cpu
