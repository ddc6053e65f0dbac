#pragma once

#include <cmath>

#include "drift/network_spec.h"

namespace drift {

// The spectral density of a covariance on the sphere, as a function of the eigenvalue lambda_n = n (n + 1) of degree n, in
// logarithms so that no lengthscale or nu overflows; x = log(lambda l^2 / 2 nu):
//   Matérn  Phi = (2 nu / l^2 + lambda)^(-nu - 1)   log Phi / Phi(0) = -(nu + 1) log(1 + e^x)   slope = -2 (nu + 1) / (1 + e^-x)
//   heat    Phi = exp(-l^2 lambda / 2)              log Phi / Phi(0) = -l^2 lambda / 2          slope = -l^2 lambda
// where the slope is d log(Phi / Phi(0)) / d log l. Arguments are log lambda, -infinity for degree 0. A constexpr template, so
// that CUDA's compiler takes it (with --expt-relaxed-constexpr) for the device as well.
template <class Real>
class SpectralDensity {
 public:
  constexpr SpectralDensity(const Covariance& covariance, Real lengthscale)
      : matern_(covariance.family == Family::matern),
        nu_(covariance.nu),
        log_inverse_scale_(2 * std::log(lengthscale) - std::log(matern_ ? 2 * nu_ : Real{1})) {}

  constexpr Real log_value(Real log_lambda) const {  // log Phi / Phi(0)
    return matern_ ? -(nu_ + 1) * softplus(log_lambda + log_inverse_scale_) : -scaled(log_lambda) / 2;
  }
  // log of the integral of Phi / Phi(0) from lambda to infinity.
  constexpr Real log_tail(Real log_lambda) const {
    return matern_ ? -std::log(nu_) - log_inverse_scale_ - nu_ * softplus(log_lambda + log_inverse_scale_)
                   : std::log(Real{2}) - log_inverse_scale_ - scaled(log_lambda) / 2;
  }
  constexpr Real log_slope(Real log_lambda) const {
    return matern_ ? -2 * (nu_ + 1) / (1 + std::exp(-log_lambda - log_inverse_scale_)) : -scaled(log_lambda);
  }

 private:
  // log(1 + e^x) for any x, infinities included.
  static constexpr Real softplus(Real x) { return (x > 0 ? x : Real{0}) + std::log1p(std::exp(-std::abs(x))); }
  // l^2 lambda of the heat covariance. Held below infinity, so that a mass of zero times its slope is zero.
  constexpr Real scaled(Real log_lambda) const {
    const Real exponent = log_lambda + log_inverse_scale_;
    return std::exp(exponent < 600 ? exponent : Real{600});
  }

  bool matern_;
  Real nu_;
  Real log_inverse_scale_;  // log of l^2 / 2 nu (Matérn) or l^2 (heat)
};

}  // namespace drift
