#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>

namespace drift {

// The largest difference between a gradient and central differences of f, as a share of the gradient's largest entry.
inline double gradient_error(const std::function<double(const Eigen::VectorXd&)>& f, const Eigen::VectorXd& x,
                             const Eigen::VectorXd& gradient, double step = 1e-5) {
  double worst = 0.0;
  for (Eigen::Index i = 0; i < x.size(); ++i) {
    Eigen::VectorXd high = x;
    Eigen::VectorXd low = x;
    high[i] += step;
    low[i] -= step;
    worst = std::max(worst, std::abs((f(high) - f(low)) / (2.0 * step) - gradient[i]));
  }
  return worst / std::max(1e-300, gradient.cwiseAbs().maxCoeff());
}

constexpr double kGradientTolerance = 1e-6;  // central differences with step 1e-5 are good to about 1e-9 of the slope

}  // namespace drift
