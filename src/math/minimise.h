#pragma once

#include <Eigen/Core>
#include <functional>

namespace drift {

struct Minimum {
  Eigen::VectorXd place;
  double value = 0.0;
  int evaluations = 0;
};

// f's value at x; fills the gradient. Not finite where it cannot be told.
using Differentiable = std::function<double(const Eigen::VectorXd& x, Eigen::VectorXd& gradient)>;

// The lowest place that NLopt's L-BFGS (Nocedal 1980; the code is Luksan's) sees inside the box from one start.
Minimum minimise(const Differentiable& f, const Eigen::VectorXd& start, const Eigen::VectorXd& low, const Eigen::VectorXd& high,
                 int evaluations);

}  // namespace drift
