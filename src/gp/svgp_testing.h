#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <numbers>
#include <vector>

#include "drift/interpolator.h"
#include "gp/kernel.h"
#include "gp/variational_layer_testing.h"

namespace drift::gp {

// Observations with their memory.
struct OwnedData {
  std::vector<float> coordinates, values, noise_sd;
  InterpolatorData data;

  OwnedData(const Eigen::MatrixXd& x, const Eigen::VectorXd& y, Space space, int space_coordinates,
            const Eigen::VectorXd& noise = {}) {
    for (Eigen::Index i = 0; i < x.cols(); ++i) {
      for (Eigen::Index d = 0; d < x.rows(); ++d) coordinates.push_back(static_cast<float>(x(d, i)));
      values.push_back(static_cast<float>(y[i]));
      if (noise.size() > 0) noise_sd.push_back(static_cast<float>(noise[i]));
    }
    const auto n = static_cast<std::size_t>(x.cols()), d = static_cast<std::size_t>(x.rows());
    data.training = {.coordinates = {coordinates.data(), n, d}, .values = {values.data(), n, 1}};
    data.space = space;
    data.space_coordinates = space_coordinates;
    data.noise_sd = noise_sd;
  }
  OwnedData(const OwnedData&) = delete;
  OwnedData& operator=(const OwnedData&) = delete;

  Eigen::MatrixXd x() const {  // as float32 holds them
    const auto d = static_cast<Eigen::Index>(data.training.coordinates.cols);
    return Eigen::Map<const Eigen::MatrixXf>(coordinates.data(), d, static_cast<Eigen::Index>(coordinates.size()) / d)
        .cast<double>();
  }
  Eigen::VectorXd y() const {
    return Eigen::Map<const Eigen::VectorXf>(values.data(), static_cast<Eigen::Index>(values.size())).cast<double>();
  }
};

// The exact process, by Eigen alone (Rasmussen & Williams 2006, algorithm 2.1).
struct ExactReference {
  Eigen::VectorXd mean, sd;
  double log_evidence = 0.0;

  ExactReference(const Kernel& kernel, const Eigen::MatrixXd& x, const Eigen::VectorXd& y, const Eigen::VectorXd& noise_variance,
                 const Eigen::MatrixXd& at) {
    Eigen::MatrixXd k(x.cols(), x.cols()), cross(x.cols(), at.cols());
    for (Eigen::Index i = 0; i < x.cols(); ++i) {
      for (Eigen::Index j = 0; j < x.cols(); ++j) k(i, j) = kernel(x.col(i), x.col(j));
      for (Eigen::Index j = 0; j < at.cols(); ++j) cross(i, j) = kernel(x.col(i), at.col(j));
    }
    k.diagonal() += noise_variance;
    const Eigen::LLT<Eigen::MatrixXd> llt(k);
    const Eigen::VectorXd alpha = llt.solve(y);
    mean = cross.transpose() * alpha;
    const Eigen::MatrixXd half = llt.matrixL().solve(cross);
    sd = (kernel.variance() - half.colwise().squaredNorm().array()).sqrt().transpose();
    const double log_determinant = 2.0 * Eigen::MatrixXd(llt.matrixL()).diagonal().array().log().sum();
    log_evidence = -0.5 * (y.dot(alpha) + log_determinant + static_cast<double>(y.size()) * std::log(2.0 * std::numbers::pi));
  }
};

}  // namespace drift::gp
