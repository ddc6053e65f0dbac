#include "tune/gaussian_process.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "drift/error.h"

namespace drift {
namespace {

const double kRoot5 = std::sqrt(5.0);
// Added to the diagonal as a share of s. Points that nearly coincide leave K singular to rounding; a hundred rows lose about
// 1e-14 s, and this is well above it while far below any noise that is fitted.
constexpr double kJitter = 1e-10;

struct Matern {
  double value;  // k / s
  double slope;  // g = 5/3 (1 + sqrt5 r) exp(-sqrt5 r): dk/d log l_j = s g (d_j / l_j)^2, dk/dx_j = -s g d_j / l_j^2
};

Matern matern(double r_squared) {
  const double a = kRoot5 * std::sqrt(r_squared);
  const double e = std::exp(-a);
  return {.value = (1.0 + a + a * a / 3.0) * e, .slope = 5.0 / 3.0 * (1.0 + a) * e};
}

double difference(double a, double b, bool is_choice) {
  if (is_choice) return std::abs(a - b) > 1e-9 ? 1.0 : 0.0;
  return a - b;
}

}  // namespace

Eigen::VectorXd pack(const GpHyperparameters& hyperparameters) {
  const Eigen::Index d = hyperparameters.lengthscale.size();
  Eigen::VectorXd packed(d + 3);
  packed.head(d) = hyperparameters.lengthscale.array().log();
  packed[d] = std::log(hyperparameters.variance);
  packed[d + 1] = std::log(hyperparameters.noise);
  packed[d + 2] = hyperparameters.mean;
  return packed;
}

GpHyperparameters unpack(const Eigen::VectorXd& packed) {
  const Eigen::Index d = packed.size() - 3;
  return {.lengthscale = packed.head(d).array().exp(),
          .variance = std::exp(packed[d]),
          .noise = std::exp(packed[d + 1]),
          .mean = packed[d + 2]};
}

MarginalLikelihood::MarginalLikelihood(const GpData& data) : values_(data.values) {
  const Eigen::Index n = data.places.rows();
  squares_.resize(n * (n - 1) / 2, data.places.cols());
  for (Eigen::Index c = 0; c < data.places.cols(); ++c) {
    Eigen::Index pair = 0;
    for (Eigen::Index j = 0; j < n; ++j) {
      for (Eigen::Index i = j + 1; i < n; ++i) {
        const double d = difference(data.places(i, c), data.places(j, c), data.is_choice[static_cast<std::size_t>(c)]);
        squares_(pair++, c) = d * d;
      }
    }
  }
}

double MarginalLikelihood::operator()(const Eigen::VectorXd& packed, Eigen::VectorXd& gradient) const {
  const Eigen::Index n = values_.size();
  const Eigen::Index d = squares_.cols();
  const GpHyperparameters h = unpack(packed);
  const Eigen::VectorXd inverse_square = h.lengthscale.array().square().inverse();
  const Eigen::VectorXd r_squared = squares_ * inverse_square;
  Eigen::MatrixXd K(n, n);
  Eigen::VectorXd value(r_squared.size());
  Eigen::VectorXd slope(r_squared.size());
  for (Eigen::Index pair = 0; pair < r_squared.size(); ++pair) {
    const Matern m = matern(r_squared[pair]);
    value[pair] = m.value;
    slope[pair] = m.slope;
  }
  Eigen::Index pair = 0;
  for (Eigen::Index j = 0; j < n; ++j) {
    K(j, j) = h.variance * (1.0 + kJitter) + h.noise;
    for (Eigen::Index i = j + 1; i < n; ++i) K(i, j) = h.variance * value[pair++];
  }
  const Eigen::LLT<Eigen::MatrixXd> factor(K);  // reads the lower half
  gradient = Eigen::VectorXd::Zero(d + 3);
  if (factor.info() != Eigen::Success) return -std::numeric_limits<double>::infinity();

  const Eigen::VectorXd residual = values_.array() - h.mean;
  const Eigen::VectorXd a = factor.solve(residual);
  const Eigen::MatrixXd inverse = factor.solve(Eigen::MatrixXd::Identity(n, n));
  // Sums over pairs i > j count twice, which takes away the factor 1/2.
  Eigen::VectorXd pull(r_squared.size());  // (aa' - K^-1)_ij g_ij
  pair = 0;
  double by_variance = 0.0;
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = j + 1; i < n; ++i, ++pair) {
      const double w = a[i] * a[j] - inverse(i, j);
      pull[pair] = w * slope[pair];
      by_variance += w * value[pair];
    }
  }
  const double trace = a.squaredNorm() - inverse.trace();
  gradient.head(d) = h.variance * (squares_.transpose() * pull).array() * inverse_square.array();
  gradient[d] = h.variance * (by_variance + 0.5 * (1.0 + kJitter) * trace);
  gradient[d + 1] = 0.5 * h.noise * trace;
  gradient[d + 2] = a.sum();
  const double log_determinant = 2.0 * factor.matrixLLT().diagonal().array().log().sum();
  return -0.5 * residual.dot(a) - 0.5 * log_determinant - 0.5 * static_cast<double>(n) * std::log(2.0 * std::numbers::pi);
}

GaussianProcess::GaussianProcess(GpData data, GpHyperparameters hyperparameters)
    : data_(std::move(data)), hyperparameters_(std::move(hyperparameters)) {
  Eigen::MatrixXd K = covariance_with(data_.places);
  K.diagonal().array() += hyperparameters_.noise + kJitter * hyperparameters_.variance;
  factor_.compute(K);
  if (factor_.info() != Eigen::Success)
    throw Error("the surrogate's covariance cannot be factorised; are the trials' values finite?");
  weights_ = factor_.solve((data_.values.array() - hyperparameters_.mean).matrix());
}

Eigen::MatrixXd GaussianProcess::covariance_with(const Eigen::MatrixXd& places) const {
  Eigen::MatrixXd k(data_.places.rows(), places.rows());
  const Eigen::ArrayXd inverse = hyperparameters_.lengthscale.array().inverse();
  for (Eigen::Index p = 0; p < places.rows(); ++p) {
    for (Eigen::Index i = 0; i < k.rows(); ++i) {
      double r_squared = 0.0;
      for (Eigen::Index c = 0; c < places.cols(); ++c) {
        const double d = inverse[c] * difference(places(p, c), data_.places(i, c), data_.is_choice[static_cast<std::size_t>(c)]);
        r_squared += d * d;
      }
      k(i, p) = hyperparameters_.variance * matern(r_squared).value;
    }
  }
  return k;
}

GaussianProcess::Posterior GaussianProcess::at(const Eigen::VectorXd& place) const {
  const Eigen::Index n = data_.places.rows();
  const Eigen::Index d = data_.places.cols();
  const Eigen::ArrayXd inverse_square = hyperparameters_.lengthscale.array().square().inverse();
  Eigen::VectorXd k(n);
  Eigen::MatrixXd slopes = Eigen::MatrixXd::Zero(n, d);  // dk_i / dplace
  for (Eigen::Index i = 0; i < n; ++i) {
    double r_squared = 0.0;
    for (Eigen::Index c = 0; c < d; ++c) {
      const bool is_choice = data_.is_choice[static_cast<std::size_t>(c)];
      const double gap = difference(place[c], data_.places(i, c), is_choice);
      r_squared += gap * gap * inverse_square[c];
      if (!is_choice) slopes(i, c) = -gap * inverse_square[c];
    }
    const Matern m = matern(r_squared);
    k[i] = hyperparameters_.variance * m.value;
    slopes.row(i) *= hyperparameters_.variance * m.slope;
  }
  const Eigen::VectorXd solved = factor_.solve(k);
  return {.mean = hyperparameters_.mean + k.dot(weights_),
          .variance = hyperparameters_.variance - k.dot(solved),
          .mean_slope = slopes.transpose() * weights_,
          .variance_slope = -2.0 * (slopes.transpose() * solved)};
}

void GaussianProcess::at(const Eigen::MatrixXd& places, Eigen::VectorXd& mean, Eigen::VectorXd& variance) const {
  Eigen::MatrixXd k = covariance_with(places);
  mean = (k.transpose() * weights_).array() + hyperparameters_.mean;
  factor_.matrixL().solveInPlace(k);
  variance = hyperparameters_.variance - k.colwise().squaredNorm().transpose().array();
}

Eigen::VectorXd GaussianProcess::mean_at(const Eigen::MatrixXd& places) const {
  return (covariance_with(places).transpose() * weights_).array() + hyperparameters_.mean;
}

GaussianProcess GaussianProcess::believing(const Eigen::VectorXd& place) const {
  GpData data = data_;
  const Eigen::Index n = data.places.rows();
  data.places.conservativeResize(n + 1, Eigen::NoChange);
  data.places.row(n) = place.transpose();
  data.values.conservativeResize(n + 1);
  data.values[n] = at(place).mean;
  return {std::move(data), hyperparameters_};
}

}  // namespace drift
