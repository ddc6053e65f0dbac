#pragma once

#include <cstddef>
#include <cstdint>

#include "core/random.h"
#include "drift/matrix_view.h"

namespace drift::cpu {

// The random numbers of one member's training step. Each is a function of (seed, member, step, matrix, row of the batch, column)
// alone, so that results depend neither on threads nor on how a batch is cut:
//   [k0, k1, c2, c3] = Philox(counter [step mod 2^32, step / 2^32, member, matrix << 16 | purpose], key seed)
//   numbers          = Philox(counter [block of columns, row, c2, c3], key [k0, k1])
class StepNoise {
 public:
  StepNoise(std::uint64_t seed, std::uint32_t member, std::uint64_t step) : seed_(seed), member_(member), step_(step) {}

  // For dropout: mask = 0 with probability `rate`, else 1 / (1 - rate), the rate being rounded to a multiple of 2^-16.
  // `first_row` is the block's first row in the batch.
  template <class Real>
  void mask(std::size_t matrix, std::size_t first_row, double rate, MatrixView<Real> mask) const;

  // N(0, 1), in single precision whatever Real is; none beyond 5.9 (Box-Muller on 24 bits).
  template <class Real>
  void normal(std::size_t matrix, std::size_t first_row, MatrixView<Real> numbers) const;

 private:
  std::uint64_t seed_;
  std::uint32_t member_;
  std::uint64_t step_;
};

// What makes a training pass random: dropout of the inputs of every trained matrix, or the noise of variational weights.
struct PassNoise {
  StepNoise numbers;
  std::size_t first_row = 0;  // of the block, in the batch
  double dropout = 0.0;       // share of the inputs left out
};

}  // namespace drift::cpu
