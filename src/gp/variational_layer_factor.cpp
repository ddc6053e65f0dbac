// Cholesky factors, solves and inverses in blocks, on several threads. Almost all is products: OpenBLAS's dgemm reaches 50
// GFLOP/s a Zen 4 core, its dtrsm only 30 with 128 right-hand sides and 39 with a thousand. Every call runs on the calling
// thread, and its bounds depend on the size alone, so that the result does not depend on the number of threads.

#include <algorithm>

#include "gp/variational_layer_parts.h"
#include "math/eigen_index.h"
#include "math/lapack.h"

namespace drift::gp {
namespace {

// Columns of the Cholesky factor that go together: wide enough that packing is cheap. Rows of one task: few enough that there is
// work for all threads.
std::size_t panel_width(std::size_t m) { return m < 2048 ? 128 : 256; }
std::size_t task_rows(std::size_t m) { return panel_width(m) / 2; }

template <class Matrix>
auto block_of(Matrix& matrix, const Range& rows, const Range& cols) {
  return matrix.block(index(rows.first), index(cols.first), index(rows.size()), index(cols.size()));
}

}  // namespace

// Left-looking: a panel's columns are made up to date by one product with all columns before them, then factored.
bool factor_on_threads(Eigen::MatrixXd& matrix, int threads) {
  const auto m = static_cast<std::size_t>(matrix.rows());
  const std::size_t width = panel_width(m);
  for (std::size_t p = 0; p < range_count(m, width); ++p) {
    const Range panel = range_at(m, width, p), before{0, panel.first};
    const auto rows_of = [&](std::size_t first, std::size_t i) {
      const Range r = range_at(m - first, task_rows(m), i);
      return Range{first + r.first, first + r.last};
    };
    if (panel.first > 0) {
      run_tasks(threads, range_count(m - panel.first, task_rows(m)), [&](std::size_t i) {
        const Range rows = rows_of(panel.first, i);
        multiply(-1.0, block_of(matrix, rows, before), false, block_of(matrix, panel, before), true, 1.0,
                 block_of(matrix, rows, panel));
      });
    }
    if (factor_in_place(block_of(matrix, panel, panel)) != 0) return false;
    run_tasks(threads, range_count(m - panel.last, task_rows(m)), [&](std::size_t i) {
      solve_lower_right(block_of(matrix, panel, panel), true, block_of(matrix, rows_of(panel.last, i), panel));
    });
  }
  run_tasks(threads, range_count(m, kBlock), [&](std::size_t task) {
    const Range cols = range_at(m, kBlock, task);
    for (Eigen::Index j = index(cols.first); j < index(cols.last); ++j) matrix.col(j).head(j).setZero();
  });
  return matrix.diagonal().allFinite();
}

void inverse_blocks(const Eigen::MatrixXd& lower, int threads, std::vector<Eigen::MatrixXd>& blocks) {
  const auto m = static_cast<std::size_t>(lower.rows());
  blocks.resize(range_count(m, kSolveBlock));
  run_tasks(threads, blocks.size(), [&](std::size_t i) {
    const Range rows = range_at(m, kSolveBlock, i);
    blocks[i] = block_of(lower, rows, rows);
    invert_lower(blocks[i]);
  });
}

// Forward substitution, X'_i = (B'_i - sum_{j < i} X'_j L_ij') L_ii'^-1.
void solve_right(const Eigen::MatrixXd& lower, const std::vector<Eigen::MatrixXd>& blocks, MatrixRef b) {
  const auto m = static_cast<std::size_t>(lower.rows());
  Eigen::MatrixXd part;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Range rows = range_at(m, kSolveBlock, i), before{0, rows.first};
    auto here = b.middleCols(index(rows.first), index(rows.size()));
    part = here;
    if (i > 0) multiply(-1.0, b.leftCols(index(rows.first)), false, block_of(lower, rows, before), true, 1.0, part);
    multiply(1.0, part, false, blocks[i], true, 0.0, here);
  }
}

template <class Real>
void lower_in(const Eigen::MatrixXd& lower, int threads, RowMatrix<Real>& low) {
  const auto m = static_cast<std::size_t>(lower.rows());
  low.resize(index(m), index(m));
  run_tasks(threads, range_count(m, kSolveBlock), [&](std::size_t i) {
    const Range rows = range_at(m, kSolveBlock, i);
    for (std::size_t j = 0; j <= i; ++j) {
      const Range cols = range_at(m, kSolveBlock, j);
      block_of(low, rows, cols) = block_of(lower, rows, cols).template cast<Real>();
    }
  });
}

template <class Real>
void solve_left(const RowMatrix<Real>& lower, const std::vector<RowMatrix<Real>>& blocks, Real* b, std::size_t stride,
                const Range& slice) {
  const auto m = static_cast<std::size_t>(lower.rows());
  RowMatrix<Real> part(index(kSolveBlock), index(slice.size()));
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Range rows = range_at(m, kSolveBlock, i);
    Real* here = b + rows.first * stride + slice.first;
    if (i > 0) {
      cpu::gemm({.m = rows.size(),
                 .n = slice.size(),
                 .k = rows.first,
                 .alpha = -1,
                 .a = lower.data() + rows.first * m,
                 .lda = m,
                 .b = b + slice.first,
                 .ldb = stride,
                 .beta = 1,
                 .c = here,
                 .ldc = stride});
    }
    for (std::size_t r = 0; r < rows.size(); ++r) {
      std::copy(here + r * stride, here + r * stride + slice.size(), part.data() + r * slice.size());
    }
    cpu::gemm({.m = rows.size(),
               .n = slice.size(),
               .k = rows.size(),
               .a = blocks[i].data(),
               .lda = rows.size(),
               .b = part.data(),
               .ldb = slice.size(),
               .beta = 0,
               .c = here,
               .ldc = stride});
  }
}

// X_jj = L_jj^-1,  X_ij = -L_ii^-1 sum_{j <= k < i} L_ik X_kj; a block of columns at a time.
template <class Real>
void inverse_of(const RowMatrix<Real>& lower, const std::vector<RowMatrix<Real>>& blocks, int threads, RowMatrix<Real>& inverse) {
  const auto m = static_cast<std::size_t>(lower.rows());
  constexpr std::size_t kCols = kSolveBlock / 4;
  inverse.resize(index(m), index(m));
  run_tasks(threads, range_count(m, kCols), [&](std::size_t j) {
    const Range cols = range_at(m, kCols, j);
    const std::size_t own = cols.first / kSolveBlock, before = own * kSolveBlock;
    inverse.middleCols(index(cols.first), index(cols.size())).topRows(index(before)).setZero();
    const Range own_rows = range_at(m, kSolveBlock, own);
    block_of(inverse, own_rows, cols) = blocks[own].middleCols(index(cols.first - before), index(cols.size()));
    RowMatrix<Real> sum(index(kSolveBlock), index(cols.size()));
    for (std::size_t i = own + 1; i < blocks.size(); ++i) {
      const Range rows = range_at(m, kSolveBlock, i);
      cpu::gemm({.m = rows.size(),
                 .n = cols.size(),
                 .k = rows.first - cols.first,
                 .alpha = -1,
                 .a = lower.data() + rows.first * m + cols.first,
                 .lda = m,
                 .b = inverse.data() + cols.first * m + cols.first,
                 .ldb = m,
                 .beta = 0,
                 .c = sum.data(),
                 .ldc = cols.size()});
      cpu::gemm({.m = rows.size(),
                 .n = cols.size(),
                 .k = rows.size(),
                 .a = blocks[i].data(),
                 .lda = rows.size(),
                 .b = sum.data(),
                 .ldb = cols.size(),
                 .beta = 0,
                 .c = inverse.data() + rows.first * m + cols.first,
                 .ldc = m});
    }
  });
}

void invert_on_threads(const Eigen::MatrixXd& lower, int threads, Eigen::MatrixXd& inverse) {
  const auto m = static_cast<std::size_t>(lower.rows());
  std::vector<Eigen::MatrixXd> blocks;
  inverse_blocks(lower, threads, blocks);
  inverse.resize(index(m), index(m));
  run_tasks(threads, blocks.size(), [&](std::size_t j) {
    const Range cols = range_at(m, kSolveBlock, j);
    block_of(inverse, {0, cols.first}, cols).setZero();
    block_of(inverse, cols, cols) = blocks[j];
    Eigen::MatrixXd sum;
    for (std::size_t i = j + 1; i < blocks.size(); ++i) {
      const Range rows = range_at(m, kSolveBlock, i), between{cols.first, rows.first};
      sum.resize(index(rows.size()), index(cols.size()));
      multiply(1.0, block_of(lower, rows, between), false, block_of(inverse, between, cols), false, 0.0, sum);
      multiply(-1.0, blocks[i], false, sum, false, 0.0, block_of(inverse, rows, cols));
    }
  });
}

template void lower_in(const Eigen::MatrixXd&, int, RowMatrix<float>&);
template void lower_in(const Eigen::MatrixXd&, int, RowMatrix<double>&);
template void solve_left(const RowMatrix<float>&, const std::vector<RowMatrix<float>>&, float*, std::size_t, const Range&);
template void solve_left(const RowMatrix<double>&, const std::vector<RowMatrix<double>>&, double*, std::size_t, const Range&);
template void inverse_of(const RowMatrix<float>&, const std::vector<RowMatrix<float>>&, int, RowMatrix<float>&);
template void inverse_of(const RowMatrix<double>&, const std::vector<RowMatrix<double>>&, int, RowMatrix<double>&);

}  // namespace drift::gp
