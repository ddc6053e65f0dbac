#include "gp/variational_layer.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "gp/factor.h"
#include "gp/variational_layer_parts.h"
#include "gp/variational_layer_tasks.h"
#include "math/eigen_index.h"
#include "math/gemm.h"
#include "math/lapack.h"

namespace drift::gp {
namespace {

constexpr double kQuickShare = 1e-4;           // see the header
constexpr double kLeastVarianceShare = 1e-10;  // of k(x, x): rounding may leave less than nothing of a variance

template <class Real>
std::size_t padded(std::size_t points) {
  constexpr std::size_t kLine = kCacheLine / sizeof(Real);
  const std::size_t lines = range_count(points, kLine);
  return (lines % 2 == 0 ? lines + 1 : lines) * kLine;
}

template <class Real>
void resize(LayerWork<Real>& work, std::size_t dimensions, std::size_t points, std::size_t inducing, std::size_t outputs) {
  const std::size_t stride = padded<Real>(points);
  work.points = points;
  work.inputs.resize(index(dimensions), index(points));
  work.mean.resize(index(points), index(outputs));
  work.variance.resize(index(points), index(outputs));
  if (!work.quick && (work.a.rows() != index(stride) || work.a.cols() != index(inducing))) {
    work.a.setZero(index(stride), index(inducing));
  }
  if (work.stride == stride && work.a_low.size() == inducing * stride && work.b.size() == outputs) return;
  work.stride = stride;
  work.a_low.assign(inducing * stride, Real{0});
  work.b.assign(outputs, AlignedVector<Real>(inducing * stride, Real{0}));
}

}  // namespace

template <class Real>
LayerParameters<Real> LayerParameters<Real>::zero() const {
  LayerParameters out;
  out.inducing = Eigen::MatrixXd::Zero(inducing.rows(), inducing.cols());
  out.kernel = Eigen::VectorXd::Zero(kernel.size());
  out.mean = Eigen::MatrixXd::Zero(mean.rows(), mean.cols());
  for (const RowMatrix<Real>& s : root) out.root.push_back(RowMatrix<Real>::Zero(s.rows(), s.cols()));
  return out;
}

template <class Real>
LayerParameters<Real> initial_layer(const LayerSpec& spec, const Eigen::MatrixXd& inducing, const KernelParameters& kernel,
                                    double root_sd) {
  const Eigen::Index m = inducing.cols();
  LayerParameters<Real> out;
  out.inducing = inducing;
  out.kernel = kernel;
  out.mean = Eigen::MatrixXd::Zero(m, spec.outputs);
  out.root.assign(static_cast<std::size_t>(spec.outputs), RowMatrix<Real>::Identity(m, m) * static_cast<Real>(root_sd));
  return out;
}

template <class Real>
VariationalLayer<Real>::VariationalLayer(const LayerSpec& spec, const LayerParameters<Real>& parameters, int threads)
    : spec_(spec), parameters_(&parameters), threads_(threads), kernel_(spec.kernel, parameters.kernel) {
  prepare();
}

template <class Real>
void VariationalLayer<Real>::renew(const LayerParameters<Real>& parameters) {
  parameters_ = &parameters;
  kernel_ = Kernel(spec_.kernel, parameters.kernel);
  prepare();
}

template <class Real>
void VariationalLayer<Real>::prepare() {
  covariance_and_factor();
  inverse_blocks(lower_, threads_, blocks_);
  well_conditioned_ =
      sizeof(Real) < sizeof(double) && lower_.diagonal().array().square().minCoeff() >= kQuickShare * kernel_.variance();
  lower_in<Real>(lower_, threads_, low_);
  low_blocks_.resize(blocks_.size());
  for (std::size_t i = 0; i < blocks_.size(); ++i) low_blocks_[i] = blocks_[i].template cast<Real>();
  inverted_ = false;
}

template <class Real>
void VariationalLayer<Real>::covariance_and_factor() {
  const std::size_t m = parameters_->points();
  const Eigen::MatrixXd& z = parameters_->inducing;
  lower_.resize(index(m), index(m));
  const BlockPairs pairs(m);
  run_tasks(threads_, pairs.size(), [&](std::size_t task) {
    const auto [row, col] = pairs[task];
    kernel_.matrix(z.middleCols(index(row.first), index(row.size())), z.middleCols(index(col.first), index(col.size())),
                   lower_.block(index(row.first), index(col.first), index(row.size()), index(col.size())));
  });
  jitter_ = spec_.jitter * kernel_.variance();
  lower_.diagonal().array() += jitter_;
  if (factor_on_threads(lower_, threads_)) return;
  // Rare: fill what was spoiled and let the patient way find how much more is needed.
  kernel_.symmetric(z, lower_);
  lower_.diagonal().array() += jitter_;
  Factor found = factor(std::move(lower_), spec_.where, "ask for fewer inducing points, or a lower rate");
  lower_ = std::move(found.lower);
  jitter_ += found.jitter;
}

template <class Real>
void VariationalLayer<Real>::forward(Points x, LayerWork<Real>& work, Solve solve) const {
  const std::size_t points = static_cast<std::size_t>(x.cols());
  work.quick = solve == Solve::quick && well_conditioned_;
  resize(work, static_cast<std::size_t>(x.rows()), points, parameters_->points(), static_cast<std::size_t>(spec_.outputs));
  work.inputs = x;
  run_tasks(threads_, range_count(points, kSlice), [&](std::size_t task) {
    const Range slice = range_at(points, kSlice, task);
    solve_slice(slice, work);
    mean_and_variance(slice, work);
  });
}

// A of the points [slice).
template <class Real>
void VariationalLayer<Real>::solve_slice(const Range& slice, LayerWork<Real>& work) const {
  const std::size_t m = parameters_->points(), size = slice.size();
  const Eigen::Index first = index(slice.first), count = index(size);
  const auto to_real = [&](const double* from, std::size_t stride) {
    for (std::size_t i = 0; i < m; ++i) {
      std::transform(from + i * stride, from + i * stride + size, work.a_low.data() + i * work.stride + slice.first,
                     [](double value) { return static_cast<Real>(value); });
    }
  };
  if (work.quick) {
    Eigen::MatrixXd k(count, index(m));
    kernel_.matrix(work.inputs.middleCols(first, count), parameters_->inducing, k);
    to_real(k.data(), size);
    solve_left<Real>(low_, low_blocks_, work.a_low.data(), work.stride, slice);
  } else {
    auto a = work.a.middleRows(first, count);
    kernel_.matrix(work.inputs.middleCols(first, count), parameters_->inducing, a);
    solve_right(lower_, blocks_, a);
    to_real(work.a.data() + slice.first, work.stride);
  }
}

template <class Real>
void VariationalLayer<Real>::mean_and_variance(const Range& slice, LayerWork<Real>& work) const {
  const std::size_t m = parameters_->points();
  const Eigen::Index first = index(slice.first), count = index(slice.size());
  const double prior = kernel_.variance();
  using Row = Eigen::Map<const Eigen::Array<Real, Eigen::Dynamic, 1>>;
  auto mean = work.mean.middleRows(first, count);
  Eigen::ArrayXd left = Eigen::ArrayXd::Constant(count, prior), row(count);
  if (work.quick) {
    mean.setZero();
    for (std::size_t i = 0; i < m; ++i) {
      row = Row(work.a_low.data() + i * work.stride + slice.first, count).template cast<double>();
      left -= row.square();
      for (Eigen::Index p = 0; p < mean.cols(); ++p) mean.col(p).array() += parameters_->mean(index(i), p) * row;
    }
  } else {
    const auto a = work.a.middleRows(first, count);
    mean.noalias() = a * parameters_->mean;
    left -= a.rowwise().squaredNorm().array();
  }
  if (spec_.skip.size() > 0) mean += work.inputs.middleCols(first, count).transpose() * spec_.skip;
  for (std::size_t p = 0; p < work.b.size(); ++p) {
    multiply_root_transposed<Real>(parameters_->root[p], work.a_low.data(), work.b[p].data(), work.stride, slice);
    Eigen::ArrayXd spread = Eigen::ArrayXd::Zero(count);
    for (std::size_t i = 0; i < m; ++i) {
      spread += Row(work.b[p].data() + i * work.stride + slice.first, count).template cast<double>().square();
    }
    work.variance.col(index(p)).segment(first, count) = (left + spread).max(kLeastVarianceShare * prior);
  }
}

template <class Real>
double VariationalLayer<Real>::divergence() const {
  const std::size_t m = parameters_->points(), blocks = range_count(m, kBlock);
  std::vector<double> parts(parameters_->root.size() * blocks, 0.0);  // summed in their order
  run_tasks(threads_, parts.size(), [&](std::size_t task) {
    const RowMatrix<Real>& s = parameters_->root[task / blocks];
    const Range rows = range_at(m, kBlock, task % blocks);
    for (Eigen::Index i = index(rows.first); i < index(rows.last); ++i) {
      parts[task] += 0.5 * (s.row(i).head(i + 1).template cast<double>().squaredNorm() - 1.0);
      parts[task] -= std::log(std::abs(static_cast<double>(s(i, i))));
    }
  });
  return std::accumulate(parts.begin(), parts.end(), 0.5 * parameters_->mean.squaredNorm());
}

template <class Real>
void VariationalLayer<Real>::add_divergence_gradient(double scale, LayerParameters<Real>& gradient) const {
  gradient.mean += scale * parameters_->mean;
  for (std::size_t p = 0; p < parameters_->root.size(); ++p) {
    const RowMatrix<Real>& s = parameters_->root[p];
    run_tasks(threads_, range_count(parameters_->points(), kBlock), [&](std::size_t task) {
      const Range rows = range_at(parameters_->points(), kBlock, task);
      for (Eigen::Index i = index(rows.first); i < index(rows.last); ++i) {
        gradient.root[p].row(i).head(i + 1) += static_cast<Real>(scale) * s.row(i).head(i + 1);
        gradient.root[p](i, i) -= static_cast<Real>(scale) / s(i, i);
      }
    });
  }
}

template <class Real>
double layer_bytes(std::size_t inducing, std::size_t outputs, std::size_t points) {
  const auto m = static_cast<double>(inducing), p = static_cast<double>(outputs), n = static_cast<double>(padded<Real>(points));
  constexpr double kReal = sizeof(Real);
  const double roots = 4.0 * kReal * p * m * m;                       // S, its gradient, two moments
  const double square = m * m * (8.0 + 4.0 * kReal + 4.0);            // L; L and L^-1 in Real, two products of theirs; some room
  const double wide = m * n * (8.0 + 3.0 * kReal + p * kReal + 8.0);  // A; A, dA, dK in Real; B_p; dK for a moment
  return roots + square + wide;
}

template struct LayerParameters<float>;
template struct LayerParameters<double>;
template LayerParameters<float> initial_layer(const LayerSpec&, const Eigen::MatrixXd&, const KernelParameters&, double);
template LayerParameters<double> initial_layer(const LayerSpec&, const Eigen::MatrixXd&, const KernelParameters&, double);
template VariationalLayer<float>::VariationalLayer(const LayerSpec&, const LayerParameters<float>&, int);
template VariationalLayer<double>::VariationalLayer(const LayerSpec&, const LayerParameters<double>&, int);
template void VariationalLayer<float>::renew(const LayerParameters<float>&);
template void VariationalLayer<double>::renew(const LayerParameters<double>&);
template void VariationalLayer<float>::forward(Points, LayerWork<float>&, Solve) const;
template void VariationalLayer<double>::forward(Points, LayerWork<double>&, Solve) const;
template double VariationalLayer<float>::divergence() const;
template double VariationalLayer<double>::divergence() const;
template void VariationalLayer<float>::add_divergence_gradient(double, LayerParameters<float>&) const;
template void VariationalLayer<double>::add_divergence_gradient(double, LayerParameters<double>&) const;
template double layer_bytes<float>(std::size_t, std::size_t, std::size_t);
template double layer_bytes<double>(std::size_t, std::size_t, std::size_t);

}  // namespace drift::gp
