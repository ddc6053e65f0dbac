#include "gp/evidence.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "gp/factor.h"
#include "math/lapack.h"

namespace drift::gp {

Evidence log_evidence(const KernelSpec& spec, const GpData& data, const Eigen::VectorXd& theta, const std::optional<double>& mean,
                      bool with_gradient) {
  const Eigen::Index n = data.size();
  const GpParameters parameters = GpParameters::unpacked(theta, 0.0);
  const Kernel kernel(spec, parameters.kernel);
  Eigen::MatrixXd k(n, n);
  kernel.lower(data.points, k);
  k.diagonal().array() += parameters.noise_variance();
  if (data.known_variance.size() > 0) k.diagonal() += data.known_variance;

  Evidence out{.value = -std::numeric_limits<double>::infinity(), .mean = mean.value_or(0.0), .gradient = {}};
  if (with_gradient) out.gradient = Eigen::VectorXd::Zero(theta.size());
  std::optional<Factor> factor = try_factor(std::move(k));
  if (!factor) return out;

  Eigen::VectorXd whitened = data.values;  // L^-1 (y - m)
  solve_lower(factor->lower, false, whitened);
  Eigen::VectorXd ones = Eigen::VectorXd::Ones(n);
  solve_lower(factor->lower, false, ones);
  if (!mean) out.mean = ones.dot(whitened) / ones.squaredNorm();
  whitened -= out.mean * ones;
  out.value = -0.5 * whitened.squaredNorm() - 0.5 * factor->log_determinant() -
              0.5 * static_cast<double>(n) * std::log(2.0 * std::numbers::pi);
  if (!with_gradient) return out;

  Eigen::VectorXd a = whitened;
  solve_lower(factor->lower, true, a);
  Eigen::MatrixXd weights = std::move(factor->lower);
  invert_factored(weights);
  // dL/dK = 1/2 (a a' - K^-1), its lower triangle.
  const double trace = a.squaredNorm() - weights.diagonal().sum();
  for (Eigen::Index j = 0; j < n; ++j) {
    weights.col(j).tail(n - j) = 0.5 * a[j] * a.tail(n - j) - 0.5 * weights.col(j).tail(n - j);
  }
  KernelParameters gradient = KernelParameters::Zero(parameters.kernel.size());
  kernel.backward_symmetric(data.points, weights, gradient);
  out.gradient.head(gradient.size()) = gradient;
  out.gradient[gradient.size()] = parameters.noise_variance() * trace;
  return out;
}

}  // namespace drift::gp
