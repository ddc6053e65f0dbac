#pragma once

#include <Eigen/Core>
#include <cmath>
#include <functional>

#include "core/random.h"

namespace drift::gp {

// Points for tests, the same on every machine.
inline Eigen::MatrixXd plane_points(Eigen::Index dimensions, Eigen::Index n, std::uint32_t member, double extent = 1.0) {
  RandomStream random({.seed = 5, .member = member, .purpose = Purpose::simulation});
  Eigen::MatrixXd x(dimensions, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index d = 0; d < dimensions; ++d) x(d, j) = extent * (2.0 * random.uniform() - 1.0);
  }
  return x;
}

// Unit vectors in the first three rows, times in the last where there is one.
inline Eigen::MatrixXd sphere_points(bool time, Eigen::Index n, std::uint32_t member) {
  RandomStream random({.seed = 6, .member = member, .purpose = Purpose::simulation});
  Eigen::MatrixXd x(time ? 4 : 3, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    Eigen::Vector3d s(random.normal(), random.normal(), random.normal());
    x.col(j).head(3) = s.normalized();
    if (time) x(3, j) = 2.0 * random.uniform() - 1.0;
  }
  return x;
}

inline Eigen::VectorXd normal_numbers(Eigen::Index n, std::uint32_t member) {
  RandomStream random({.seed = 7, .member = member, .purpose = Purpose::simulation});
  Eigen::VectorXd out(n);
  for (double& number : out) number = random.normal();
  return out;
}

// The largest difference between a gradient and central differences of f, relative to the gradient's size.
inline double gradient_error(const std::function<double(const Eigen::VectorXd&)>& f, const Eigen::VectorXd& at,
                             const Eigen::VectorXd& gradient, double step = 1e-5) {
  Eigen::VectorXd numeric(at.size());
  for (Eigen::Index i = 0; i < at.size(); ++i) {
    Eigen::VectorXd up = at;
    Eigen::VectorXd down = at;
    up[i] += step;
    down[i] -= step;
    numeric[i] = (f(up) - f(down)) / (2.0 * step);
  }
  return (numeric - gradient).cwiseAbs().maxCoeff() / std::max(1e-12, numeric.cwiseAbs().maxCoeff());
}

}  // namespace drift::gp
