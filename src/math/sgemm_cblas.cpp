// Single-precision products by OpenBLAS, where oneDNN is missing.

#include <cblas.h>

#include "math/gemm.h"

namespace drift::cpu {
namespace {

CBLAS_TRANSPOSE flag(Transpose transpose) { return transpose == Transpose::yes ? CblasTrans : CblasNoTrans; }

void run(const Gemm<float>& p) {
  cblas_sgemm(CblasRowMajor, flag(p.transpose_a), flag(p.transpose_b), static_cast<int>(p.m), static_cast<int>(p.n),
              static_cast<int>(p.k), p.alpha, p.a, static_cast<int>(p.lda), p.b, static_cast<int>(p.ldb), p.beta, p.c,
              static_cast<int>(p.ldc));
}

}  // namespace

// OpenBLAS has one number of threads for the whole process; drift keeps it at one, since it is parallel above the products.
void gemm(const Gemm<float>& product) {
  static const bool once = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(once);
  run(product);
}

void gemm_on_all_threads(const Gemm<float>& product, int threads) {
  const int before = openblas_get_num_threads();
  openblas_set_num_threads(threads);
  run(product);
  openblas_set_num_threads(before);
}

const char* gemm_library() { return "OpenBLAS"; }

}  // namespace drift::cpu
