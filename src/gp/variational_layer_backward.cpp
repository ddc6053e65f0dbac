// The backward pass of the variational layer; its formulas head variational_layer.h.
//
// A step of M = 1,000 inducing points and n = 1,024 points, one output, in units of M^2 n = 1 GFLOP, triangular zeros left out:
//   double  factor of K_uu 1/3
//   float   A 1, S'A 1 | S dB 1, dS 1, L^-T dA 1, dA A' 1, L^-1 1/3, F L^-1 1/3, L^-T (F L^-1) 2/3
// 7.3 in all. oneDNN reaches 115 GFLOP/s on a Zen 4 core on these shapes, 105 where both operands lie the wrong way (dS, dA A'),
// so that the floor is 67 ms of one core and 8 for the factor; measured were 113 to 131 ms with covariances (9 ms), blocks'
// zeros, conversions and Adam, on a machine that was busy with other work: wall time on two quiet cores is still to be measured.
// On 16 virtual cores of a Xeon, five runs took 21 to 32 ms of wall time and some 220 of processor time a step.
// Measured and left aside: A in double, 26 ms more (dtrsm runs at 30 GFLOP/s on 128 points, in blocks of products at 34); that is
// what natural steps, predictions and badly conditioned factors still have. Y L^-1 in place of F L^-1, 0.5 GFLOP more.
// Counted and left aside: L' dL as the textbook has it, a product of M^3 more; Q = S S' - I with QA, or H = A W A' with dS = H S,
// as many operations or more, since two triangular products are one full one. M = 3,000 takes 1.6 s of one core, measured
// likewise.

#include <algorithm>

#include "gp/variational_layer.h"
#include "gp/variational_layer_parts.h"
#include "gp/variational_layer_tasks.h"
#include "math/eigen_index.h"
#include "math/gemm.h"

namespace drift::gp {
namespace {

constexpr std::size_t kWide = 2 * kBlock;  // columns of one product where both factors are triangular
constexpr std::size_t kThin = kBlock / 2;  // rows of a task that takes a row's whole length
constexpr std::size_t kPart = 8 * kBlock;  // columns of a task that does not

// Some rows and columns of c = a b' + beta c; a, b [M, stride], c [M, M].
template <class Real>
void product_part(const Real* a, const Real* b, std::size_t stride, std::size_t points, const Range& rows, const Range& cols,
                  Real beta, RowMatrix<Real>& c) {
  const auto m = static_cast<std::size_t>(c.cols());
  cpu::gemm({.transpose_b = cpu::Transpose::yes,
             .m = rows.size(),
             .n = cols.size(),
             .k = points,
             .a = a + rows.first * stride,
             .lda = stride,
             .b = b + cols.first * stride,
             .ldb = stride,
             .beta = beta,
             .c = c.data() + rows.first * m + cols.first,
             .ldc = m});
}

// The part of those rows up to column `last` that lies above the diagonal.
template <class Real>
void clear_above_diagonal(RowMatrix<Real>& matrix, const Range& rows, std::size_t last) {
  for (std::size_t i = rows.first; i + 1 < std::min(rows.last, last); ++i) {
    matrix.row(index(i)).segment(index(i + 1), index(last - i - 1)).setZero();
  }
}

// Blocks of rows by parts of the columns up to the diagonal, the lowest, longest rows first.
std::vector<std::pair<Range, Range>> lower_parts(std::size_t m) {
  std::vector<std::pair<Range, Range>> parts;
  for (std::size_t block = range_count(m, kBlock); block-- > 0;) {
    const Range rows = range_at(m, kBlock, block);
    for (std::size_t part = 0; part < range_count(rows.last, kPart); ++part)
      parts.emplace_back(rows, range_at(rows.last, kPart, part));
  }
  return parts;
}

}  // namespace

template <class Real>
void VariationalLayer<Real>::backward(const Eigen::MatrixXd& dmean, const Eigen::MatrixXd& dvariance, LayerWork<Real>& work,
                                      const Wanted& wanted) {
  LayerParameters<Real>& gradient = *wanted.gradient;
  backward_mean(dmean, work, gradient);
  if (!wanted.root && !wanted.kernel && wanted.inputs == nullptr) return;
  const std::size_t size = parameters_->points() * work.stride;
  if (work.da.size() != size) work.da.assign(size, Real{0});
  if (work.dk.size() != size) work.dk.assign(size, Real{0});
  if (wanted.kernel || wanted.inputs != nullptr) invert();
  scale_b(dvariance, work);
  if (wanted.root) backward_root(work, gradient);
  if (!wanted.kernel && wanted.inputs == nullptr) return;
  backward_a(dmean, dvariance, work);
  backward_cross(work, wanted);
  if (wanted.inputs != nullptr && spec_.skip.size() > 0) *wanted.inputs += spec_.skip * dmean.transpose();
  if (!wanted.kernel) return;
  gradient.kernel[gradient.kernel.size() - 1] += 2.0 * kernel_.variance() * dvariance.sum();
  backward_prior(work, gradient);
}

template <class Real>
void VariationalLayer<Real>::backward_mean(const Eigen::MatrixXd& dmean, const LayerWork<Real>& work,
                                           LayerParameters<Real>& gradient) const {
  run_tasks(threads_, range_count(parameters_->points(), kBlock), [&](std::size_t task) {
    const Range rows = range_at(parameters_->points(), kBlock, task);
    for (std::size_t i = rows.first; i < rows.last; ++i) {
      const Real* low = work.a_low.data() + i * work.stride;
      const Eigen::VectorXd a =
          Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>(low, index(work.points)).template cast<double>();
      gradient.mean.row(index(i)) += a.transpose() * dmean;
    }
  });
}

// B_p becomes dB_p = 2 B_p diag(w_p).
template <class Real>
void VariationalLayer<Real>::scale_b(const Eigen::MatrixXd& dvariance, LayerWork<Real>& work) const {
  const Eigen::Array<Real, Eigen::Dynamic, Eigen::Dynamic> twice = (2.0 * dvariance.array()).template cast<Real>();
  run_tasks(threads_, range_count(parameters_->points(), kBlock), [&](std::size_t task) {
    const Range rows = range_at(parameters_->points(), kBlock, task);
    for (std::size_t p = 0; p < work.b.size(); ++p) {
      for (std::size_t i = rows.first; i < rows.last; ++i) {
        Eigen::Map<Eigen::Array<Real, Eigen::Dynamic, 1>>(work.b[p].data() + i * work.stride, index(work.points)) *=
            twice.col(index(p));
      }
    }
  });
}

template <class Real>
void VariationalLayer<Real>::backward_root(const LayerWork<Real>& work, LayerParameters<Real>& gradient) const {
  const std::vector<std::pair<Range, Range>> parts = lower_parts(parameters_->points());
  run_tasks(threads_, work.b.size() * parts.size(), [&](std::size_t task) {
    const std::size_t p = task / parts.size();
    const auto& [rows, cols] = parts[task % parts.size()];
    product_part<Real>(work.a_low.data(), work.b[p].data(), work.stride, work.points, rows, cols, 1, gradient.root[p]);
    clear_above_diagonal(gradient.root[p], rows, cols.last);
  });
}

template <class Real>
void VariationalLayer<Real>::backward_a(const Eigen::MatrixXd& dmean, const Eigen::MatrixXd& dvariance,
                                        LayerWork<Real>& work) const {
  const std::size_t m = parameters_->points();
  using Column = Eigen::Array<Real, Eigen::Dynamic, 1>;
  const Column all = (-2.0 * dvariance.rowwise().sum().array()).template cast<Real>();
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): float's is another matrix
  const Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> slopes = dmean.template cast<Real>();
  const Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic> means = parameters_->mean.template cast<Real>();
  run_tasks(threads_, range_count(work.points, kSlice), [&](std::size_t task) {
    const Range slice = range_at(work.points, kSlice, task);
    const Eigen::Index first = index(slice.first), count = index(slice.size());
    for (std::size_t i = 0; i < m; ++i) {
      const std::size_t at = i * work.stride + slice.first;
      const Eigen::Map<const Column> a(work.a_low.data() + at, count);
      Eigen::Map<Column> da(work.da.data() + at, count);
      da = a * all.segment(first, count);
      for (Eigen::Index p = 0; p < slopes.cols(); ++p) da += means(index(i), p) * slopes.col(p).segment(first, count).array();
    }
    for (std::size_t p = 0; p < work.b.size(); ++p) {
      add_root_product<Real>(parameters_->root[p], work.b[p].data(), work.da.data(), work.stride, slice);
    }
    multiply_root_transposed<Real>(inverse_, work.da.data(), work.dk.data(), work.stride, slice);
  });
}

// Propagates dK_uf to Z, the covariance's parameters and the inputs; slices are summed in their order.
template <class Real>
void VariationalLayer<Real>::backward_cross(LayerWork<Real>& work, const Wanted& wanted) const {
  const std::size_t m = parameters_->points(), slices = range_count(work.points, kSlice);
  const Eigen::MatrixXd& z = parameters_->inducing;
  std::vector<KernelParameters> kernel_parts(slices, Eigen::VectorXd::Zero(parameters_->kernel.size()));
  std::vector<Eigen::MatrixXd> z_parts(wanted.kernel ? slices : 0, Eigen::MatrixXd::Zero(z.rows(), z.cols()));
  std::vector<Eigen::MatrixXd> x_parts(wanted.inputs != nullptr ? slices : 0);
  run_tasks(threads_, slices, [&](std::size_t task) {
    const Range slice = range_at(work.points, kSlice, task);
    Eigen::MatrixXd weights(index(slice.size()), index(m));
    for (std::size_t i = 0; i < m; ++i) {
      const Real* from = work.dk.data() + i * work.stride + slice.first;
      std::copy(from, from + slice.size(), weights.data() + i * slice.size());
    }
    if (wanted.inputs != nullptr) x_parts[task] = Eigen::MatrixXd::Zero(z.rows(), index(slice.size()));
    kernel_.backward(work.inputs.middleCols(index(slice.first), index(slice.size())), z, weights, kernel_parts[task],
                     wanted.inputs != nullptr ? &x_parts[task] : nullptr, wanted.kernel ? &z_parts[task] : nullptr);
  });
  for (std::size_t task = 0; task < slices; ++task) {
    const Range slice = range_at(work.points, kSlice, task);
    if (wanted.kernel) wanted.gradient->kernel += kernel_parts[task];
    if (wanted.kernel) wanted.gradient->inducing += z_parts[task];
    if (wanted.inputs != nullptr) wanted.inputs->middleCols(index(slice.first), index(slice.size())) += x_parts[task];
  }
}

// Rows of F and of half = F L^-1; see prior_slopes().
template <class Real>
void VariationalLayer<Real>::half_slopes(const Range& rows, LayerWork<Real>& work) const {
  const std::size_t m = parameters_->points();
  RowMatrix<Real>&f = work.f, &half = work.half;
  product_part<Real>(work.da.data(), work.a_low.data(), work.stride, work.points, rows, {0, rows.last}, 0, f);
  clear_above_diagonal(f, rows, rows.last);
  for (Eigen::Index i = index(rows.first); i < index(rows.last); ++i) f(i, i) *= static_cast<Real>(0.5);
  // Columns in wide blocks up to the one that holds the diagonal: what lies above it there comes out as zero.
  for (std::size_t first = 0; first < rows.last; first += kWide) {
    const Range cols{first, std::min(m, first + kWide)};
    cpu::gemm({.m = rows.size(),
               .n = cols.size(),
               .k = rows.last - cols.first,
               .a = f.data() + rows.first * m + cols.first,
               .lda = m,
               .b = inverse_.data() + cols.first * m + cols.first,
               .ldb = m,
               .beta = 0,
               .c = half.data() + rows.first * m + cols.first,
               .ldc = m});
  }
}

// The lower triangle of dK_uu = -1/2 L^-T Y L^-1. With Y = F + F', F lower triangular with half of Y's diagonal, this is
// -1/2 (Q + Q'), Q = L^-T (F L^-1): F L^-1 is lower triangular again, a third of the work of Y L^-1. Leaves Q in work.f.
template <class Real>
void VariationalLayer<Real>::prior_slopes(LayerWork<Real>& work) const {
  const std::size_t m = parameters_->points(), blocks = range_count(m, kBlock), thin = range_count(m, kThin);
  RowMatrix<Real>&f = work.f, &half = work.half;
  f.resize(index(m), index(m));
  half.resize(index(m), index(m));
  run_tasks(threads_, thin, [&](std::size_t task) { half_slopes(range_at(m, kThin, thin - 1 - task), work); });
  // Q, into F's memory: Q_ij = sum over k >= i, j of (L^-1)_ki half_kj.
  run_tasks(threads_, blocks, [&](std::size_t task) {
    const Range rows = range_at(m, kBlock, task);
    cpu::gemm({.transpose_a = cpu::Transpose::yes,
               .m = rows.size(),
               .n = rows.last,
               .k = m - rows.first,
               .a = inverse_.data() + rows.first * m + rows.first,
               .lda = m,
               .b = half.data() + rows.first * m,
               .ldb = m,
               .beta = 0,
               .c = f.data() + rows.first * m,
               .ldc = m});
    for (Range cols{rows.last, 0}; cols.first < m; cols.first = cols.last) {
      cols.last = std::min(m, (cols.first / kWide + 1) * kWide);
      cpu::gemm({.transpose_a = cpu::Transpose::yes,
                 .m = rows.size(),
                 .n = cols.size(),
                 .k = m - cols.first,
                 .a = inverse_.data() + cols.first * m + rows.first,
                 .lda = m,
                 .b = half.data() + cols.first * m + cols.first,
                 .ldb = m,
                 .beta = 0,
                 .c = f.data() + rows.first * m + cols.first,
                 .ldc = m});
    }
  });
}

// Propagates dK_uu to Z and the covariance's parameters.
template <class Real>
void VariationalLayer<Real>::backward_prior(LayerWork<Real>& work, LayerParameters<Real>& gradient) const {
  const std::size_t m = parameters_->points();
  const Eigen::MatrixXd& z = parameters_->inducing;
  prior_slopes(work);
  const RowMatrix<Real>& q = work.f;
  const BlockPairs pairs(m);
  struct Part {
    KernelParameters kernel;
    Eigen::MatrixXd rows, cols;
  };
  std::vector<Part> parts(pairs.size());
  run_tasks(threads_, pairs.size(), [&](std::size_t task) {
    const auto [row, col] = pairs[task];
    const bool diagonal = row.first == col.first;
    const auto below = q.block(index(row.first), index(col.first), index(row.size()), index(col.size()));
    const auto above = q.block(index(col.first), index(row.first), index(col.size()), index(row.size()));
    const double factor = diagonal ? -0.5 : -1.0;  // a block below the diagonal stands for its mirror image too
    const Eigen::MatrixXd weights = factor * (below + above.transpose()).template cast<double>();
    Part& part = parts[task];
    part = {Eigen::VectorXd::Zero(parameters_->kernel.size()), Eigen::MatrixXd::Zero(z.rows(), index(row.size())),
            Eigen::MatrixXd::Zero(z.rows(), index(col.size()))};
    kernel_.backward(z.middleCols(index(row.first), index(row.size())), z.middleCols(index(col.first), index(col.size())),
                     weights, part.kernel, &part.rows, &part.cols);
  });
  for (std::size_t task = 0; task < pairs.size(); ++task) {
    const auto [row, col] = pairs[task];
    gradient.kernel += parts[task].kernel;
    gradient.inducing.middleCols(index(row.first), index(row.size())) += parts[task].rows;
    gradient.inducing.middleCols(index(col.first), index(col.size())) += parts[task].cols;
  }
  // The jitter is a share of the variance.
  double trace = 0.0;
  for (std::size_t i = 0; i < m; ++i) trace -= static_cast<double>(q(index(i), index(i)));
  gradient.kernel[gradient.kernel.size() - 1] += 2.0 * jitter_ * trace;
}

template <class Real>
void VariationalLayer<Real>::invert() {
  if (!inverted_) inverse_of<Real>(low_, low_blocks_, threads_, inverse_);
  inverted_ = true;
}

template void VariationalLayer<float>::backward(const Eigen::MatrixXd&, const Eigen::MatrixXd&, LayerWork<float>&, const Wanted&);
template void VariationalLayer<double>::backward(const Eigen::MatrixXd&, const Eigen::MatrixXd&, LayerWork<double>&,
                                                 const Wanted&);

}  // namespace drift::gp
