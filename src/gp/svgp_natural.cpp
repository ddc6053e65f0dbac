#include "gp/svgp_natural.h"

#include <fmt/format.h>

#include "drift/error.h"
#include "gp/variational_layer_parts.h"
#include "math/eigen_index.h"
#include "math/lapack.h"

namespace drift::gp {
namespace {

// The lower triangle of precision becomes (1 - size) precision + size (I + a' a).
void blend(Eigen::MatrixXd& precision, const Eigen::MatrixXd& a, double size, int threads) {
  const BlockPairs pairs(static_cast<std::size_t>(precision.rows()));
  run_tasks(threads, pairs.size(), [&](std::size_t task) {
    const auto [row, col] = pairs[task];
    multiply(size, a.middleCols(index(row.first), index(row.size())), true, a.middleCols(index(col.first), index(col.size())),
             false, 1.0 - size, precision.block(index(row.first), index(col.first), index(row.size()), index(col.size())));
  });
  precision.diagonal().array() += size;
}

}  // namespace

template <class Real>
NaturalSteps::NaturalSteps(const LayerParameters<Real>& layer) {
  reversed_ = layer.root[0].template cast<double>();
  invert_on_threads(reversed_, 1, inverse_);
  precision_ = Eigen::MatrixXd::Zero(inverse_.rows(), inverse_.cols());
  multiply_self(1.0, inverse_, true, 0.0, precision_);
  weighted_ = precision_.selfadjointView<Eigen::Lower>() * layer.mean.col(0);
}

template <class Real>
void NaturalSteps::step(const typename DeepModel<Real>::LastLayer& at, double size, LayerParameters<Real>& layer, int threads,
                        const std::string& where) {
  const Eigen::Index m = precision_.rows(), columns = index(at.columns);
  const Eigen::VectorXd twice = 2.0 * at.dvariance->cwiseMax(0.0);
  const Eigen::VectorXd pull = twice.cwiseProduct(*at.mean) - *at.dmean;
  a_.resize(columns, m);
  run_tasks(threads, range_count(static_cast<std::size_t>(m), kBlock), [&](std::size_t task) {
    const Range cols = range_at(static_cast<std::size_t>(m), kBlock, task);
    const Eigen::Index first = index(cols.first), count = index(cols.size());
    const auto a = at.a->block(0, first, columns, count);
    weighted_.segment(first, count) = (1.0 - size) * weighted_.segment(first, count) + size * (a.transpose() * pull);
    a_.middleCols(first, count) = a.array().colwise() * twice.array().sqrt();
  });
  blend(precision_, a_, size, threads);
  // S S' = P^-1 with S lower triangular: P = U U' with U upper triangular, which is the Cholesky factor of P with the order of
  // rows and columns reversed; S = U'^-1.
  reversed_.resize(m, m);
  run_tasks(threads, range_count(static_cast<std::size_t>(m), kBlock), [&](std::size_t task) {
    const Range cols = range_at(static_cast<std::size_t>(m), kBlock, task);
    for (Eigen::Index j = index(cols.first); j < index(cols.last); ++j) {
      for (Eigen::Index i = j; i < m; ++i) reversed_(i, j) = precision_(m - 1 - j, m - 1 - i);
    }
  });
  if (!factor_on_threads(reversed_, threads)) {
    throw Error(fmt::format(
        "{}: the posterior of {} inducing points cannot be factored after a natural step of size {:g}; ask for optimiser=adam",
        where, m, size));
  }
  invert_on_threads(reversed_, threads, inverse_);
  RowMatrix<Real>& root = layer.root[0];
  run_tasks(threads, range_count(static_cast<std::size_t>(m), kBlock), [&](std::size_t task) {
    const Range rows = range_at(static_cast<std::size_t>(m), kBlock, task);
    for (Eigen::Index i = index(rows.first); i < index(rows.last); ++i) {
      for (Eigen::Index j = 0; j <= i; ++j) root(i, j) = static_cast<Real>(inverse_(m - 1 - j, m - 1 - i));
    }
  });
  // m = P^-1 (P m), by the factor rather than by S: R = L^-1 of the reversed P.
  const Eigen::VectorXd half = inverse_.triangularView<Eigen::Lower>() * weighted_.reverse();
  layer.mean.col(0) = Eigen::VectorXd(inverse_.triangularView<Eigen::Lower>().transpose() * half).reverse();
}

double NaturalSteps::bytes(std::size_t inducing, std::size_t columns) {
  const auto m = static_cast<double>(inducing);
  return 8.0 * (3.0 * m * m + m * static_cast<double>(columns));
}

template NaturalSteps::NaturalSteps(const LayerParameters<float>&);
template NaturalSteps::NaturalSteps(const LayerParameters<double>&);
template void NaturalSteps::step<float>(const DeepModel<float>::LastLayer&, double, LayerParameters<float>&, int,
                                        const std::string&);
template void NaturalSteps::step<double>(const DeepModel<double>::LastLayer&, double, LayerParameters<double>&, int,
                                         const std::string&);

}  // namespace drift::gp
