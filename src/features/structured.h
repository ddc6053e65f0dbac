#pragma once

#include <bit>
#include <cstddef>
#include <span>

#include "drift/matrix_view.h"
#include "features/fourier.h"

namespace drift {

// Structured orthogonal random features (Yu et al. 2016): the frequencies of a block of n features, n a power of two, are the
// rows of H D_3 H D_2 H D_1, each times a length of its own, with H the Walsh-Hadamard matrix and D_i random signs. Nearly the
// same distribution as orthogonal frequencies, but their product with a vector takes 3 n log2(n) additions instead of n^2
// multiplications, and 4 numbers a feature are kept instead of n.

// Features of one block, for inputs of `dimensions` entries: these are filled up with zeros.
inline std::size_t hadamard_size(std::size_t dimensions) { return std::bit_ceil(dimensions); }
inline std::size_t hadamard_blocks(std::size_t dimensions, std::size_t features) {
  return (features + hadamard_size(dimensions) - 1) / hadamard_size(dimensions);
}

struct StructuredFrequencies {
  MatrixView<float> signs;        // [3 blocks, n]: D_1, D_2, D_3 of each block
  std::span<float> lengths;       // [blocks n]: of the frequencies in turns, over n^(3/2) for the three unscaled transforms
  MatrixView<float> coordinates;  // [coordinates, features]: frequencies of further inputs, drawn independently; may be empty
  std::span<float> phases;        // [features]
};

// As draw_fourier, for inputs of `dimensions` entries followed by the further coordinates: one chi-squared divisor a feature.
void draw_structured(const FourierDraw& draw, std::size_t dimensions, const StructuredFrequencies& out);

}  // namespace drift
