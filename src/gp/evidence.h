#pragma once

#include <Eigen/Core>
#include <optional>

#include "gp/gp_data.h"

namespace drift::gp {

// log p(y | theta) = -1/2 (y - m)' K^-1 (y - m) - 1/2 log|K| - n/2 log 2 pi,   K = k(x, x) + diag(noise^2 + known).
// With its gradient in theta = [log lengthscales, log amplitude, log noise]: 1/2 tr((a a' - K^-1) dK/dtheta), a = K^-1 (y - m).
// The mean m is given, or the one that makes the evidence highest, m = 1'K^-1 y / 1'K^-1 1 (generalised least squares), whose own
// dependence on theta then adds nothing to the gradient. Rasmussen & Williams 2006, section 5.4.1.
struct Evidence {
  double value = 0.0;  // minus infinity where K cannot be factored
  double mean = 0.0;
  Eigen::VectorXd gradient;  // empty where it was not asked for
};
Evidence log_evidence(const KernelSpec& spec, const GpData& data, const Eigen::VectorXd& theta, const std::optional<double>& mean,
                      bool with_gradient);

}  // namespace drift::gp
