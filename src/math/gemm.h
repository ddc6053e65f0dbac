#pragma once

#include <cstddef>

namespace drift::cpu {

enum class Transpose { no, yes };

// C [m, n] = alpha op(A) op(B) + beta C, row-major, on the calling thread alone (so that results do not depend on threads).
// op(A) is [m, k], op(B) is [k, n]; lda, ldb, ldc are the distances between stored rows.
template <class Real>
struct Gemm {
  Transpose transpose_a = Transpose::no;
  Transpose transpose_b = Transpose::no;
  std::size_t m, n, k;
  Real alpha = 1;
  const Real* a;
  std::size_t lda;
  const Real* b;
  std::size_t ldb;
  Real beta = 0;
  Real* c;
  std::size_t ldc;
};

void gemm(const Gemm<float>& product);   // the fast one: oneDNN or CBLAS
void gemm(const Gemm<double>& product);  // Eigen: for tests and finite differences

// The same product on `threads` threads of the library's own: the machine's speed, for `drift bench` alone.
void gemm_on_all_threads(const Gemm<float>& product, int threads);

// "oneDNN 2.6.3" or the like.
const char* gemm_library();

}  // namespace drift::cpu
