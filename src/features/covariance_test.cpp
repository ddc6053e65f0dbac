#include "features/covariance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "drift/error.h"

namespace drift {
namespace {

constexpr Covariance kSquaredExponential{.family = Family::squared_exponential};
constexpr Covariance matern(double nu) { return {.family = Family::matern, .nu = nu}; }

const std::vector<double> kDistances = {1e-8, 1e-4, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0};

// 2^(1 - nu) / Gamma(nu) z^nu K_nu(z), in long double and by Boost's Bessel function.
double bessel_form(double nu, double r) {
  const long double n = nu;
  const long double z = std::sqrt(2.0L * n) * r;
  const long double log_factor = (1.0L - n) * std::log(2.0L) - boost::math::lgamma(n) + n * std::log(z);
  return static_cast<double>(std::exp(log_factor + std::log(boost::math::cyl_bessel_k(n, z))));
}

TEST(MaternCovariance, AgreesWithBoostsBesselFunction) {
  double worst = 0.0;
  for (const double nu : {0.01, 0.1, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 3.3, 7.0, 20.0, 60.0, 150.0, 1000.0}) {
    for (const double r : kDistances) {
      if (nu > 20.0 && r < 0.01) continue;  // Boost's K overflows there; the limit at zero is tested below
      const double expected = bessel_form(nu, r);
      if (expected < 1e-300) continue;
      const double error = std::abs(matern_covariance(nu, r) / expected - 1.0);
      EXPECT_LT(error, 1e-12) << "nu " << nu << ", r " << r << ": " << expected;
      worst = std::max(worst, error);
    }
  }
  RecordProperty("worst_relative_error", std::to_string(1e15 * worst) + "e-15");
}

TEST(MaternCovariance, GeneralFormAgreesWithTheElementaryOnes) {
  for (const double nu : {0.5, 1.5, 2.5}) {
    for (const double r : kDistances) {
      const double elementary = planar_covariance(matern(nu), r);
      EXPECT_NEAR(matern_covariance(nu, r) / elementary, 1.0, 1e-12) << "nu " << nu << ", r " << r;
    }
  }
}

TEST(PlanarCovariance, IsOneAtZeroDistanceAndContinuousThere) {
  for (const Covariance& covariance :
       {kSquaredExponential, matern(0.5), matern(0.8), matern(1.5), matern(2.5), matern(3.7), matern(500.0)}) {
    EXPECT_EQ(planar_covariance(covariance, 0.0), 1.0);
    // Matérn with nu = 0.5 falls fastest: as 1 - r.
    EXPECT_NEAR(planar_covariance(covariance, 1e-13), 1.0, 1e-12);
  }
  // Rougher ones fall as r^(2 nu): the limit is reached, but not in sight.
  EXPECT_EQ(planar_covariance(matern(0.01), 0.0), 1.0);
  EXPECT_NEAR(planar_covariance(matern(0.01), 1e-300), 1.0, 2e-6);
}

TEST(PlanarCovariance, FallsWithDistanceAndNeverBelowZero) {
  for (const Covariance& covariance : {kSquaredExponential, matern(0.05), matern(0.8), matern(4.2), matern(1e4), matern(1e7)}) {
    double before = 1.0;
    for (double r = 0.05; r < 1e4; r *= 1.7) {
      const double value = planar_covariance(covariance, r);
      EXPECT_TRUE(value < before || value == 0.0) << "nu " << covariance.nu << ", r " << r;
      EXPECT_GE(value, 0.0);
      before = value;
    }
  }
}

// k_nu = exp(-r^2/2) (1 + O(1/nu)): ten times nu, a tenth of the difference.
TEST(MaternCovariance, TendsToTheSquaredExponentialAsNuGrows) {
  for (const double r : {0.3, 1.0, 2.5}) {
    const double limit = planar_covariance(kSquaredExponential, r);
    const double at_1e2 = std::abs(matern_covariance(1e2, r) - limit);
    const double at_1e3 = std::abs(matern_covariance(1e3, r) - limit);
    const double at_1e6 = std::abs(matern_covariance(1e6, r) - limit);
    EXPECT_NEAR(at_1e2 / at_1e3, 10.0, 0.5) << r;
    EXPECT_LT(at_1e6, 1e-6) << r;
  }
}

TEST(PlanarCovariance, IsZeroAtVastDistances) {
  for (const Covariance& covariance : {kSquaredExponential, matern(0.01), matern(0.5), matern(0.8), matern(300.0)}) {
    for (const double r : {1e5, 1e20, 1e99, 1e101, 1e150})
      EXPECT_EQ(planar_covariance(covariance, r), 0.0) << covariance.nu << ", " << r;
    EXPECT_TRUE(std::isnan(planar_covariance(covariance, std::nan("")))) << covariance.nu;
  }
  EXPECT_EQ(matern_covariance(0.8, std::numeric_limits<double>::infinity()), 0.0);
}

TEST(PlanarCovariance, RefusesANuThatIsNotPositive) {
  for (const double nu : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(planar_covariance(matern(nu), 1.0), UsageError) << nu;
  }
}

TEST(SphericalCovariance, IsOneAtAngleZeroAndSmallerElsewhere) {
  for (const Covariance& covariance : {kSquaredExponential, matern(0.5), matern(1.5)}) {
    const SphericalSpectrum spectrum(covariance, 0.3, 1e-3, 2000);
    EXPECT_NEAR(spherical_covariance(spectrum, 1.0), 1.0, 1e-12) << covariance.nu;  // the rounding of a sum of a thousand masses
    for (const double angle : {0.1, 1.0, 2.0, 3.1}) EXPECT_LT(std::abs(spherical_covariance(spectrum, std::cos(angle))), 1.0);
  }
}

// A sphere seen from near is flat: the largest difference from the plane's covariance over a few lengthscales.
double largest_difference_from_plane(const Covariance& covariance, double lengthscale, double tail_mass) {
  const SphericalSpectrum spectrum(covariance, lengthscale, tail_mass, 200'000);
  double largest = 0.0;
  for (double r = 0.0; r < 4.0; r += 0.1) {
    const double sphere = spherical_covariance(spectrum, std::cos(r * lengthscale));
    largest = std::max(largest, std::abs(sphere - planar_covariance(covariance, r)));
  }
  return largest;
}

// The curvature enters as l^2: half the lengthscale, a quarter of the difference, down to the truncation's share. A spectrum with
// the wrong exponent or lengthscale would differ by the same amount for every lengthscale.
TEST(SphericalCovariance, HeatTendsToTheSquaredExponentialForShortLengthscales) {
  const double at_tenth = largest_difference_from_plane(kSquaredExponential, 0.1, 1e-12);
  const double at_twentieth = largest_difference_from_plane(kSquaredExponential, 0.05, 1e-12);
  EXPECT_NEAR(at_tenth / at_twentieth, 4.0, 0.1);
  EXPECT_LT(largest_difference_from_plane(kSquaredExponential, 0.002, 1e-12), 2e-6);
}

TEST(SphericalCovariance, MaternTendsToThePlanesForShortLengthscales) {
  for (const double nu : {1.5, 2.5}) {
    const double tail = nu == 1.5 ? 1e-8 : 1e-10;
    const double at_tenth = largest_difference_from_plane(matern(nu), 0.1, tail);
    const double at_twentieth = largest_difference_from_plane(matern(nu), 0.05, tail);
    EXPECT_NEAR(at_tenth / at_twentieth, 4.0, 0.4) << nu;
    EXPECT_LT(largest_difference_from_plane(matern(nu), 0.01, tail), 5e-5) << nu;
  }
  // The roughest has the longest tail, and the difference is the truncation's: 1e-3 at the most.
  EXPECT_LT(largest_difference_from_plane(matern(0.5), 0.02, 1e-3), 2e-3);
}

}  // namespace
}  // namespace drift
