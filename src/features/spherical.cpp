// The spectrum, with w_n = (2n + 1) Phi(lambda_n) / Phi(0) and lambda_n = n (n + 1), Phi as in spectral_density.h:
//   p_n = w_n / sum w,   d log p_n / d log l = d log w_n / d log l - sum_m p_m d log w_m / d log l.

#include "features/spherical.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "drift/error.h"
#include "features/covariance.h"
#include "features/spectral_density.h"

namespace drift {

namespace {

using Density = SpectralDensity<double>;

double log_eigenvalue(std::size_t degree) {
  const auto n = static_cast<double>(degree);
  return std::log(n * (n + 1.0));
}

double log_weight(const Density& density, std::size_t degree) {
  return std::log(2.0 * static_cast<double>(degree) + 1.0) + density.log_value(log_eigenvalue(degree));
}

// The degrees to keep, 0 ... max_degree at most, so that less than tail_mass of the infinite sum lies beyond. What lies beyond
// max_degree is part of that sum: with 2n + 1 = d lambda / dn, the midpoint rule makes it the integral of Phi over
// lambda from N^2 - 1/4 on (n = N - 1/2, N = max_degree + 1), to a relative error of order 1 / N^2.
std::size_t kept_degrees(const Density& density, double tail_mass, std::size_t max_degree) {
  const double first_left_out = static_cast<double>(max_degree) + 1.0;
  const double log_beyond = density.log_tail(std::log(first_left_out * first_left_out - 0.25));
  std::vector<double> weights(max_degree + 1);
  for (std::size_t n = 0; n <= max_degree; ++n) weights[n] = log_weight(density, n);
  const double top = std::max(log_beyond, *std::max_element(weights.begin(), weights.end()));
  const double beyond = std::exp(log_beyond - top);
  double total = beyond;
  for (double& weight : weights) total += weight = std::exp(weight - top);

  double tail = beyond;  // of the degrees from `kept` on
  std::size_t kept = max_degree + 1;
  while (kept > 1 && tail + weights[kept - 1] < tail_mass * total) tail += weights[--kept];
  return kept;
}

void check_lengthscale(double lengthscale) {
  if (!(lengthscale > 0.0 && std::isfinite(lengthscale))) {
    throw UsageError(
        fmt::format("spherical features: the lengthscale must be above 0 and finite (radians), not {}", lengthscale));
  }
}

std::size_t checked_degrees(const Covariance& covariance, double lengthscale, double tail_mass, int max_degree) {
  check_lengthscale(lengthscale);
  check(covariance);
  if (!(tail_mass > 0.0 && tail_mass < 1.0)) {
    throw UsageError(fmt::format("spherical features: the tail mass must lie between 0 and 1, not {}", tail_mass));
  }
  if (max_degree < 0)
    throw UsageError(fmt::format("spherical features: the highest degree must be 0 or more, not {}", max_degree));
  return kept_degrees(Density(covariance, lengthscale), tail_mass, static_cast<std::size_t>(max_degree));
}

}  // namespace

SphericalSpectrum::SphericalSpectrum(const Covariance& covariance, double lengthscale, double tail_mass, int max_degree)
    : SphericalSpectrum(covariance, lengthscale, checked_degrees(covariance, lengthscale, tail_mass, max_degree)) {}

SphericalSpectrum::SphericalSpectrum(const Covariance& covariance, double lengthscale, std::size_t degrees)
    : covariance_(covariance), mass_(degrees), slope_(degrees) {
  check_lengthscale(lengthscale);
  const Density density(covariance, lengthscale);
  for (std::size_t n = 0; n < degrees; ++n) {
    mass_[n] = log_weight(density, n);
    slope_[n] = density.log_slope(log_eigenvalue(n));
  }
  const double top = *std::max_element(mass_.begin(), mass_.end());
  double total = 0.0;
  for (double& mass : mass_) total += mass = std::exp(mass - top);
  double mean_slope = 0.0;
  for (std::size_t n = 0; n < degrees; ++n) mean_slope += (mass_[n] /= total) * slope_[n];
  for (double& slope : slope_) slope -= mean_slope;
}

SphericalSpectrum SphericalSpectrum::with_lengthscale(double lengthscale) const {
  return SphericalSpectrum(covariance_, lengthscale, mass_.size());
}

double SphericalSpectrum::mean_degree() const {
  double mean = 0.0;
  for (std::size_t n = 0; n < mass_.size(); ++n) mean += static_cast<double>(n) * mass_[n];
  return mean;
}

void draw_spherical(const SphericalSpectrum& spectrum, const RandomKey& key, std::span<float> degrees, MatrixView<float> poles) {
  if (poles.rows != 3 || poles.cols != degrees.size()) {
    throw UsageError(fmt::format("spherical features: poles [{}, {}] but {} degrees", poles.rows, poles.cols, degrees.size()));
  }
  std::vector<double> cumulative(static_cast<std::size_t>(spectrum.max_degree()) + 1);
  double sum = 0.0;
  for (int n = 0; n <= spectrum.max_degree(); ++n) cumulative[static_cast<std::size_t>(n)] = sum += spectrum.mass(n);

  RandomKey degree_key = key;
  degree_key.purpose = Purpose::degrees;
  RandomKey pole_key = key;
  pole_key.purpose = Purpose::poles;
  for (std::size_t feature = 0; feature < degrees.size(); ++feature) {
    const auto substream = static_cast<std::uint32_t>(feature);
    // The sum may round to a little less than 1; the last degree takes what is left.
    const double level = RandomStream(degree_key, substream).uniform();
    const auto degree = std::upper_bound(cumulative.begin(), cumulative.end() - 1, level) - cumulative.begin();
    degrees[feature] = static_cast<float>(degree);

    // Archimedes: the height of a uniform point on the sphere is uniform.
    RandomStream random(pole_key, substream);
    const double height = 2.0 * random.uniform() - 1.0;
    const double radius = std::sqrt((1.0 - height) * (1.0 + height));
    const double longitude = 2.0 * std::numbers::pi * random.uniform();
    poles(0, feature) = static_cast<float>(radius * std::cos(longitude));
    poles(1, feature) = static_cast<float>(radius * std::sin(longitude));
    poles(2, feature) = static_cast<float>(height);
  }
  // Degrees and poles are independent of each other: the order of one may change without the other's.
  std::sort(degrees.begin(), degrees.end());
}

}  // namespace drift
