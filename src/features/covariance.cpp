// Matérn's covariance of any smoothness as a mixture of squared exponentials. Its spectrum is a multivariate t, that is, a
// normal distribution divided by sqrt(G / nu), G ~ Gamma(nu, 1), so that
//   k(r) = E exp(-(r^2 / 2) nu / G) = I(r) / I(0),
//   I(r) = integral over v of exp(h(v)),  h(v) = nu (1 + v - e^v) - (r^2 / 2) e^-v,   G = nu e^v,   I(0) = Gamma(nu) (e / nu)^nu.
// This is the integral form of the Bessel function K_nu (DLMF 10.32.10), moved so that its peak stays in sight. The integrand is
// analytic and falls off doubly exponentially (on the left, for small r, exponentially), which makes the trapezoidal rule
// converge geometrically (Trefethen & Weideman 2014). Nothing overflows for any nu or r, which the product z^nu K_nu(z) does.

#include "features/covariance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "drift/error.h"
#include "math/legendre.h"

namespace drift {

namespace {

// log I(r), given log(r^2 / 2).
double log_mixture_integral(double nu, double log_half_square) {
  const auto exponent = [&](double v) { return nu * (v - std::expm1(v)) - std::exp(log_half_square - v); };
  // h'(v) = 0 at the root y = e^v of nu y (y - 1) = r^2 / 2; h is concave.
  const double peak = std::log(0.5 + 0.5 * std::sqrt(1.0 + 4.0 / nu * std::exp(log_half_square)));
  const double curvature = nu * std::exp(peak) + std::exp(log_half_square - peak);
  // Half a standard deviation of the peak leaves an error near exp(-8 pi^2); the 6 keeps the step below 0.2, which the
  // singularities' distance pi / 2 from the real line asks for.
  const double step = 0.5 / std::sqrt(curvature + 6.0);
  const double top = exponent(peak);
  if (!(top > -1e4)) return top;  // k underflows to 0; or is not a number, for distances that are not
  double sum = 1.0;
  for (const double direction : {step, -step}) {
    // On the left the terms may fall as slowly as exp(-nu step): what is left out is at most a term over that rate.
    const double negligible = 1e-17 * std::min(1.0, nu * step);
    for (double v = peak + direction;; v += direction) {
      const double term = std::exp(exponent(v) - top);
      sum += term;
      if (term < negligible * sum) break;
    }
  }
  return top + std::log(sum * step);
}

double log_mixture_integral_at_zero(double nu) {
  // The closed form loses nu log(nu) units of rounding, and Gamma overflows at 171; the sum is long when nu is small.
  if (nu > 100.0) return log_mixture_integral(nu, -std::numeric_limits<double>::infinity());
  return std::log(std::tgamma(nu)) + nu - nu * std::log(nu);
}

// The largest 1 / sqrt(G / nu). Small nu has tails so heavy that G may vanish and w overflow. Waves far shorter than a
// lengthscale are noise at any distance that matters, but a float32 phase beyond 2^24 turns has no fraction left: the feature
// would turn from noise into a constant. With this bound phases keep their fraction up to hundreds of lengthscales from the
// origin. As it bounds the mixture's scale, not |w| (which would give many features one wave number), the covariance stays a
// mixture of squared exponentials and changes only at distances below 1e-4 lengthscales, noticeably so only for nu below 1/2.
constexpr double kMaxScale = 65536.0;

}  // namespace

void check(const Covariance& covariance) {
  if (covariance.family == Family::matern && !(covariance.nu > 0.0 && std::isfinite(covariance.nu))) {
    throw UsageError(fmt::format("covariance: Matérn's nu must be a finite number greater than 0, not {}", covariance.nu));
  }
}

double draw_mixture_scale(const Covariance& covariance, RandomStream random) {
  if (covariance.family == Family::squared_exponential) return 1.0;
  return std::min(std::sqrt(covariance.nu / random.gamma(covariance.nu)), kMaxScale);
}

double matern_covariance(double nu, double scaled_distance) {
  check({.family = Family::matern, .nu = nu});
  if (scaled_distance == 0.0) return 1.0;
  if (scaled_distance > 1e100) return 0.0;  // where the square's logarithm would leave the range of exp
  const double log_half_square = 2.0 * std::log(scaled_distance) - std::log(2.0);
  return std::exp(log_mixture_integral(nu, log_half_square) - log_mixture_integral_at_zero(nu));
}

double planar_covariance(const Covariance& covariance, double scaled_distance) {
  const double r = scaled_distance;
  if (covariance.family == Family::squared_exponential) return std::exp(-0.5 * r * r);
  const double z = std::sqrt(2.0 * covariance.nu) * r;
  if (covariance.nu == 0.5) return std::exp(-z);
  if (covariance.nu == 1.5) return (1.0 + z) * std::exp(-z);
  if (covariance.nu == 2.5) return (1.0 + z + z * z / 3.0) * std::exp(-z);
  return matern_covariance(covariance.nu, r);
}

double spherical_covariance(const SphericalSpectrum& spectrum, double cos_angle) {
  LegendreRecurrence polynomial(cos_angle);
  double sum = spectrum.mass(0);
  while (polynomial.degree() < spectrum.max_degree()) {
    polynomial.next();
    sum += spectrum.mass(polynomial.degree()) * polynomial.value();
  }
  return sum;
}

}  // namespace drift
