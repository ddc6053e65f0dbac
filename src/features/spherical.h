#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/random.h"
#include "drift/matrix_view.h"
#include "drift/network_spec.h"

namespace drift {

// Random features of an isotropic covariance on the sphere:
//   k(s, s') = sigma^2 sum_n p_n P_n(s . s'),  p_n proportional to (2n + 1) Phi(n (n + 1)),  sum p_n = 1,
//   Phi(lambda) = (2 nu / l^2 + lambda)^(-nu - 1) for Matérn, exp(-l^2 lambda / 2) for the heat covariance.
// Since the mean over uniform b of P_n(s . b) P_n(s' . b) is P_n(s . s') / (2n + 1), the features are
//   phi_m(s) = sigma sqrt((2 n_m + 1) / M) P_{n_m}(s . b_m),  n_m ~ p, b_m uniform on the sphere.
// Borovitskiy et al. 2020; Azangulov et al. 2022.
class SphericalSpectrum {
 public:
  // Keeps the degrees up to the first beyond which less than `tail_mass` of the variance lies, at most `max_degree`. The variance
  // is that of all degrees, those beyond `max_degree` included (by an integral); the masses kept are then made to sum to 1.
  // `lengthscale` in radians, > 0.
  SphericalSpectrum(const Covariance& covariance, double lengthscale, double tail_mass, int max_degree);
  // The same degrees under another lengthscale: how trained lengthscales reweight features already drawn.
  SphericalSpectrum with_lengthscale(double lengthscale) const;

  int max_degree() const { return static_cast<int>(mass_.size()) - 1; }
  double mass(int degree) const { return mass_[static_cast<std::size_t>(degree)]; }             // p_n
  double log_mass_slope(int degree) const { return slope_[static_cast<std::size_t>(degree)]; }  // d log p_n / d log l
  double mean_degree() const;

 private:
  SphericalSpectrum(const Covariance& covariance, double lengthscale, std::size_t degrees);

  Covariance covariance_;
  std::vector<double> mass_;
  std::vector<double> slope_;
};

// Fills degrees [features], ascending, and poles [3, features], uniform unit columns. The key's purpose is set by the draw.
void draw_spherical(const SphericalSpectrum& spectrum, const RandomKey& key, std::span<float> degrees, MatrixView<float> poles);

}  // namespace drift
