#define EIGEN_DONT_PARALLELIZE  // on the calling thread alone
#include <Eigen/Core>

#include "math/gemm.h"

namespace drift::cpu {

void gemm(const Gemm<double>& p) {
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Stored = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;
  const auto index = [](std::size_t size) { return static_cast<Eigen::Index>(size); };
  const bool ta = p.transpose_a == Transpose::yes;
  const bool tb = p.transpose_b == Transpose::yes;
  const Stored a(p.a, index(ta ? p.k : p.m), index(ta ? p.m : p.k), Eigen::OuterStride<>(index(p.lda)));
  const Stored b(p.b, index(tb ? p.n : p.k), index(tb ? p.k : p.n), Eigen::OuterStride<>(index(p.ldb)));
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> c(p.c, index(p.m), index(p.n), Eigen::OuterStride<>(index(p.ldc)));
  const Matrix left = ta ? Matrix(a.transpose()) : Matrix(a);
  const Matrix right = tb ? Matrix(b.transpose()) : Matrix(b);
  if (p.beta == 0.0) {
    c.noalias() = p.alpha * left * right;
  } else {
    c = p.beta * c + p.alpha * left * right;
  }
}

}  // namespace drift::cpu
