// With L L' = K_uu, A = L^-1 K_uf S^-1/2, B = I + A A', r = y - m, the inverse of P = Q + S is S^-1 - S^-1/2 A' B^-1 A S^-1/2 and
//   bound = -n/2 log 2pi - 1/2 log|S| - 1/2 log|B| - 1/2 r'P^-1 r - 1/2 tr(S^-1 K_ff) + 1/2 tr(A A').
// Gradients, with a = P^-1 r, V = K_uu^-1 K_uf = L'^-1 A S^1/2 and dbound/dQ = 1/2 (a a' + S^-1/2 A' B^-1 A S^-1/2):
//   dK_uf = (V a) a' + L'^-1 (A - B^-1 A) S^-1/2
//   dK_uu = -1/2 ((V a)(V a)' + L'^-1 (B - 2 I + B^-1) L^-1)
//   ds_i  = 1/2 (a_i^2 - [P^-1]_ii) + 1/2 (k_ii - q_ii) / s_i^2

#include "gp/sgpr.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "math/lapack.h"

namespace drift::gp {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd noise_of(const GpParameters& parameters, const GpData& data) {
  VectorXd s = VectorXd::Constant(data.size(), parameters.noise_variance());
  if (data.known_variance.size() > 0) s += data.known_variance;
  return s;
}

// The matrices that the bound, its gradient and predictions share.
struct Parts {
  VectorXd s;                // [n] noise variances
  VectorXd root;             // S^-1/2
  MatrixXd lower, a, inner;  // L, A, the factor of B
  MatrixXd inner_a;          // inner^-1 A

  // P^-1 v = S^-1/2 (w - A' B^-1 A w), w = S^-1/2 v.
  VectorXd solve(const VectorXd& v) const {
    const VectorXd w = v.cwiseProduct(root);
    const VectorXd projected = inner_a * w;
    return (w - inner_a.transpose() * projected).cwiseProduct(root);
  }
};

std::optional<Parts> parts_of(const Kernel& kernel, const GpParameters& parameters, const GpData& data,
                              const MatrixXd& inducing) {
  const Index m = inducing.cols();
  Parts p;
  p.s = noise_of(parameters, data);
  p.root = p.s.cwiseSqrt().cwiseInverse();
  MatrixXd k_uu(m, m);
  kernel.lower(inducing, k_uu);
  std::optional<Factor> factor = try_factor(std::move(k_uu));
  if (!factor || !p.root.allFinite()) return std::nullopt;
  p.lower = std::move(factor->lower);
  p.a.resize(m, data.size());
  kernel.matrix(inducing, data.points, p.a);
  solve_lower(p.lower, false, p.a);
  p.a *= p.root.asDiagonal();
  MatrixXd b = MatrixXd::Identity(m, m);
  multiply_self(1.0, p.a, false, 1.0, b);
  std::optional<Factor> inner = try_factor(std::move(b));
  if (!inner) return std::nullopt;
  p.inner = std::move(inner->lower);
  p.inner_a = p.a;
  solve_lower(p.inner, false, p.inner_a);
  return p;
}

void add_gradient(const Kernel& kernel, const GpParameters& parameters, const GpData& data, const MatrixXd& inducing,
                  const Parts& p, const VectorXd& alpha, VectorXd& gradient) {
  const Index q = parameters.kernel.size();
  VectorXd v_alpha = p.a * alpha.cwiseQuotient(p.root);  // V a
  solve_lower(p.lower, true, v_alpha);

  MatrixXd by_uf = p.inner_a;  // B^-1 A, then what the head of the file says
  solve_lower(p.inner, true, by_uf);
  by_uf = p.a - by_uf;
  solve_lower(p.lower, true, by_uf);
  by_uf *= p.root.asDiagonal();
  by_uf.noalias() += v_alpha * alpha.transpose();
  KernelParameters by_kernel = KernelParameters::Zero(q);
  kernel.backward(inducing, data.points, by_uf, by_kernel, nullptr, nullptr);

  MatrixXd middle = p.inner;
  invert_factored(middle);
  multiply_self(1.0, p.a, false, 1.0, middle);  // B^-1 + A A' = B - I + B^-1
  middle.diagonal().array() -= 1.0;
  MatrixXd by_uu = middle.selfadjointView<Eigen::Lower>();
  solve_lower(p.lower, true, by_uu);         // L'^-1 middle
  solve_lower_right(p.lower, false, by_uu);  // ... L^-1
  by_uu = -0.5 * (by_uu + v_alpha * v_alpha.transpose());
  kernel.backward_symmetric(inducing, by_uu, by_kernel);

  by_kernel[q - 1] -= kernel.variance() * p.s.cwiseInverse().sum();  // the trace of K_ff
  const VectorXd inverse = p.s.cwiseInverse();
  const VectorXd of_inverse = inverse.array() * (1.0 - p.inner_a.colwise().squaredNorm().transpose().array());
  const VectorXd of_q = p.s.array() * p.a.colwise().squaredNorm().transpose().array();
  const double by_noise =
      0.5 * (alpha.array().square() - of_inverse.array() + (kernel.variance() - of_q.array()) * inverse.array().square()).sum();
  gradient.head(q) = by_kernel;
  gradient[q] = 2.0 * parameters.noise_variance() * by_noise;
}

}  // namespace

Evidence sgpr_bound(const KernelSpec& spec, const GpData& data, const MatrixXd& inducing, const VectorXd& theta,
                    const std::optional<double>& mean, bool with_gradient) {
  const GpParameters parameters = GpParameters::unpacked(theta, 0.0);
  const Kernel kernel(spec, parameters.kernel);
  Evidence out{.value = -std::numeric_limits<double>::infinity(), .mean = mean.value_or(0.0), .gradient = {}};
  if (with_gradient) out.gradient = VectorXd::Zero(theta.size());
  const std::optional<Parts> p = parts_of(kernel, parameters, data, inducing);
  if (!p) return out;
  const VectorXd ones = VectorXd::Ones(data.size());
  if (!mean) {
    const VectorXd solved = p->solve(ones);
    out.mean = solved.dot(data.values) / solved.sum();
  }
  const VectorXd residual = data.values.array() - out.mean;
  const VectorXd alpha = p->solve(residual);
  out.value = -0.5 * static_cast<double>(data.size()) * std::log(2.0 * std::numbers::pi) - 0.5 * p->s.array().log().sum() -
              p->inner.diagonal().array().log().sum() - 0.5 * residual.dot(alpha) -
              0.5 * kernel.variance() * p->s.cwiseInverse().sum() + 0.5 * p->a.squaredNorm();
  if (with_gradient) add_gradient(kernel, parameters, data, inducing, *p, alpha, out.gradient);
  return out;
}

SgprGp::SgprGp(KernelSpec spec, const GpParameters& parameters, const GpData& data, MatrixXd inducing, const std::string& where)
    : kernel_(std::move(spec), parameters.kernel), mean_(parameters.mean), inducing_(std::move(inducing)) {
  std::optional<Parts> p = parts_of(kernel_, parameters, data, inducing_);
  if (!p) {  // says so
    MatrixXd k_uu(inducing_.cols(), inducing_.cols());
    kernel_.lower(inducing_, k_uu);
    factor(std::move(k_uu), where, "give fewer inducing points");
    factor(MatrixXd::Constant(1, 1, std::numeric_limits<double>::quiet_NaN()), where, "give a larger noise");
  }
  weights_ = p->inner_a * (data.values.array() - mean_).matrix().cwiseProduct(p->root);
  lower_ = std::move(p->lower);
  inner_ = std::move(p->inner);
}

void SgprGp::predict(Points points, Eigen::Ref<VectorXd> mean, VectorXd* variance) const {
  MatrixXd k(inducing_.cols(), points.cols());
  kernel_.matrix(inducing_, points, k);
  solve_lower(lower_, false, k);
  if (variance != nullptr) *variance = kernel_.variance() - k.colwise().squaredNorm().transpose().array();
  solve_lower(inner_, false, k);
  mean = (k.transpose() * weights_).array() + mean_;
  if (variance != nullptr) *variance = (*variance + k.colwise().squaredNorm().transpose()).cwiseMax(0.0);
}

}  // namespace drift::gp
