#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <utility>
#include <vector>

#include "gp/variational_layer.h"
#include "gp/variational_layer_tasks.h"
#include "math/gemm.h"
#include "math/lapack.h"

namespace drift::gp {

// Pieces of the variational layer's passes: products with triangular matrices done in blocks, so that most of the zeros are left
// out, each block one product of the engine's on the calling thread.

constexpr std::size_t kSlice = 64;  // points, the share of a batch that is one task: 16 of a batch of 1,024
constexpr std::size_t kBlock = 64;  // rows of a triangular matrix that go together: 3 % of a thousand rows is zeros multiplied

constexpr std::size_t kSolveBlock = 128;  // the same for solves in double, whose products pack their operands anew each time

// Pairs of blocks of [0, m), row block at or below column block.
class BlockPairs {
 public:
  explicit BlockPairs(std::size_t m) {
    const std::size_t blocks = range_count(m, kBlock);
    for (std::size_t row = 0; row < blocks; ++row) {
      for (std::size_t col = 0; col <= row; ++col) pairs_.emplace_back(range_at(m, kBlock, row), range_at(m, kBlock, col));
    }
  }
  std::size_t size() const { return pairs_.size(); }
  const std::pair<Range, Range>& operator[](std::size_t i) const { return pairs_[i]; }

 private:
  std::vector<std::pair<Range, Range>> pairs_;
};

// The points [slice) of out = S' in or S in, S lower triangular [M, M]; in and out [M, stride].
template <class Real>
void multiply_root_transposed(const RowMatrix<Real>& s, const Real* in, Real* out, std::size_t stride, const Range& slice) {
  const auto m = static_cast<std::size_t>(s.rows());
  for (std::size_t block = 0; block < range_count(m, kBlock); ++block) {
    const Range rows = range_at(m, kBlock, block);
    cpu::gemm({.transpose_a = cpu::Transpose::yes,
               .m = rows.size(),
               .n = slice.size(),
               .k = m - rows.first,
               .a = s.data() + rows.first * m + rows.first,
               .lda = m,
               .b = in + rows.first * stride + slice.first,
               .ldb = stride,
               .beta = 0,
               .c = out + rows.first * stride + slice.first,
               .ldc = stride});
  }
}
template <class Real>
void add_root_product(const RowMatrix<Real>& s, const Real* in, Real* out, std::size_t stride, const Range& slice) {
  const auto m = static_cast<std::size_t>(s.rows());
  for (std::size_t block = 0; block < range_count(m, kBlock); ++block) {
    const Range rows = range_at(m, kBlock, block);
    cpu::gemm({.m = rows.size(),
               .n = slice.size(),
               .k = rows.last,
               .a = s.data() + rows.first * m,
               .lda = m,
               .b = in + slice.first,
               .ldb = stride,
               .beta = 1,
               .c = out + rows.first * stride + slice.first,
               .ldc = stride});
  }
}

// The lower triangle of `matrix` becomes its Cholesky factor, the upper zero. False where it is not positive; spoiled then. The
// same result for any number of threads, here and below.
bool factor_on_threads(Eigen::MatrixXd& matrix, int threads);

// L_ii^-1, the inverses of the diagonal blocks of kSolveBlock rows, with which solves become products.
void inverse_blocks(const Eigen::MatrixXd& lower, int threads, std::vector<Eigen::MatrixXd>& blocks);
// b [n, M] becomes b L'^-1.
void solve_right(const Eigen::MatrixXd& lower, const std::vector<Eigen::MatrixXd>& blocks, MatrixRef b);
// The lower triangle of L in Real, row by row.
template <class Real>
void lower_in(const Eigen::MatrixXd& lower, int threads, RowMatrix<Real>& low);
// The points [slice) of b [M, stride] become L^-1 b, and L^-1 [M, M], with products in Real.
template <class Real>
void solve_left(const RowMatrix<Real>& lower, const std::vector<RowMatrix<Real>>& blocks, Real* b, std::size_t stride,
                const Range& slice);
template <class Real>
void inverse_of(const RowMatrix<Real>& lower, const std::vector<RowMatrix<Real>>& blocks, int threads, RowMatrix<Real>& inverse);
// L^-1 in double.
void invert_on_threads(const Eigen::MatrixXd& lower, int threads, Eigen::MatrixXd& inverse);

}  // namespace drift::gp
