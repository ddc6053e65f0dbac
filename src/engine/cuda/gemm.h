#pragma once

#include "drift/engine.h"
#include "engine/cuda/device.h"

namespace drift::cuda {

// C = alpha scale A B + beta C for every member z < members, row-major, A [m, k] and B [k, n] after their transposition.
// The factors are rounded to the precision asked for, sums are in float32. `float32` splits a factor into two tf32 numbers and
// takes three of the four products: an error of 2^-21 of a product, the same order as float32's own sums.
struct Gemm {
  Precision precision = Precision::tf32;
  bool transpose_a = false;
  bool transpose_b = false;
  int members = 1;
  int m = 0;
  int n = 0;
  int k = 0;
  float alpha = 1.0F;
  Batched<const float> scale = {};  // one number a member, or none
  Batched<const float> a = {};
  bool square_a = false;  // entry by entry
  Batched<const float> b = {};
  float beta = 0.0F;
  Batched<float> c = {};
};

void gemm(const Gemm& product, cudaStream_t stream);

}  // namespace drift::cuda
