#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>

#include "gp/gp_data.h"
#include "gp/gp_testing.h"

namespace drift::gp {

// Observations drawn from a process itself, with the field's values without noise.
struct Simulated {
  KernelSpec spec;
  GpParameters parameters;
  GpData data;
  Eigen::VectorXd field;
};

inline Simulated simulated(const KernelSpec& spec, const GpParameters& parameters, const Eigen::MatrixXd& points,
                           std::uint32_t member) {
  const Eigen::Index n = points.cols();
  Eigen::MatrixXd k(n, n);
  Kernel(spec, parameters.kernel).symmetric(points, k);
  k.diagonal().array() += 1e-9;
  Simulated out{
      .spec = spec, .parameters = parameters, .data = {.points = points, .values = {}, .known_variance = {}}, .field = {}};
  out.field = (k.llt().matrixL() * normal_numbers(n, member)).array() + parameters.mean;
  out.data.values = out.field + std::exp(parameters.log_noise) * normal_numbers(n, member + 1000);
  return out;
}

// Space and time, lengthscales 0.5 and 0.8, amplitude 1, noise 0.1, in [-1, 1]^3.
inline Simulated simulated_plane(Eigen::Index n, std::uint32_t member, const Covariance& covariance = {}) {
  GpParameters parameters{.kernel = Eigen::Vector3d(std::log(0.5), std::log(0.8), 0.0), .log_noise = std::log(0.1), .mean = 0.4};
  return simulated(space_time_kernel(Space::plane, 2, true, covariance, true), parameters, plane_points(3, n, member), member);
}

// On the sphere, the chord in Matérn's place: lengthscale 0.4 radians, times with 0.8.
inline Simulated simulated_sphere(Eigen::Index n, std::uint32_t member) {
  GpParameters parameters{.kernel = Eigen::Vector3d(std::log(0.4), std::log(0.8), 0.0), .log_noise = std::log(0.1), .mean = 0.4};
  return simulated(space_time_kernel(Space::plane, 3, true, {}, true), parameters, sphere_points(true, n, member), member);
}

}  // namespace drift::gp
