#include "math/legendre.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/special_functions/legendre.hpp>
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <cmath>
#include <utility>
#include <vector>

namespace drift {
namespace {

// Fifty digits: Boost's plain recurrence loses n^2 units of rounding near |x| = 1, which leaves over forty of them.
using Exact = boost::multiprecision::cpp_bin_float_50;

const std::vector<int> kDegrees = {0, 1, 2, 3, 4, 5, 7, 10, 23, 24, 25, 50, 100, 101, 333, 500, 999, 1000, 2000};

// Ordinary places, zeros of the function's simplest forms, and both ends to the last representable number.
std::vector<double> places() {
  std::vector<double> xs = {0.0, 1.0, 0.5, 1.0 / 3.0, 0.1, 0.77, 0.9, 0.99, 0.999, 1.0 - 1e-5, 1.0 - 1e-8, 1.0 - 0x1p-53};
  const std::size_t count = xs.size();
  for (std::size_t i = 0; i < count; ++i) xs.push_back(-xs[i]);
  return xs;
}

// What the header promises; 600 random places gave a quarter of it at degree 1000.
double tolerance(int degree) { return 4e-16 * std::sqrt(std::max(degree, 1)); }

// P_n' by P_n' = n (P_{n-1} - x P_n) / (1 - x^2), and its limit at the ends.
Exact exact_derivative(int degree, const Exact& x) {
  if (degree == 0) return 0;
  if (x == 1 || x == -1) return (x < 0 && degree % 2 == 0 ? -1 : 1) * Exact(degree) * (degree + 1) / 2;
  return degree * (boost::math::legendre_p(degree - 1, x) - x * boost::math::legendre_p(degree, x)) / (1 - x * x);
}

TEST(Legendre, AgreesWithBoostToDegreeTwoThousand) {
  for (const int n : kDegrees) {
    for (const double x : places()) {
      const double error = std::abs(static_cast<double>(Exact(legendre(n, x)) - boost::math::legendre_p(n, Exact(x))));
      EXPECT_LE(error, tolerance(n)) << "P_" << n << "(" << x << ")";
    }
  }
}

// The tolerance is one that the textbook recurrence, in the same precision, does not meet.
TEST(Legendre, BeatsThePlainRecurrenceTenfoldNearOne) {
  double plain_error = 0.0;
  for (const double x : {1.0 - 3e-5, 1.0 - 1e-5, 1.0 - 3e-6}) {
    double before = 1.0;
    double plain = x;
    for (int n = 1; n < 1000; ++n) before = std::exchange(plain, ((2 * n + 1) * x * plain - n * before) / (n + 1));
    plain_error = std::max(plain_error, std::abs(static_cast<double>(Exact(plain) - boost::math::legendre_p(1000, Exact(x)))));
  }
  EXPECT_GT(plain_error, 10.0 * tolerance(1000));
}

TEST(Legendre, DerivativeAgreesWithBoostToDegreeTwoThousand) {
  for (const int n : kDegrees) {
    for (const double x : places()) {
      // |P_n'| <= n (n + 1) / 2, reached at the ends: the error is measured against that bound.
      const double bound = std::max(1.0, 0.5 * n * (n + 1.0));
      const double error = std::abs(static_cast<double>(Exact(legendre_derivative(n, x)) - exact_derivative(n, Exact(x))));
      EXPECT_LE(error, tolerance(n) * bound) << "P_" << n << "'(" << x << ")";
    }
  }
}

// Where x itself would round to 1, the gap still tells points apart.
TEST(Legendre, KeepsItsRelativeAccuracyForGapsFarBelowRounding) {
  for (const double gap : {1e-300, 1e-30, 1e-20, 1e-12, 1e-6, 1e-3, 0.3, 1.0, 1.7}) {
    LegendreRecurrence polynomial = LegendreRecurrence::at_gap(gap);
    while (polynomial.degree() < 1000) polynomial.next();
    const Exact x = 1 - Exact(gap);
    EXPECT_NEAR(polynomial.value(), static_cast<double>(boost::math::legendre_p(1000, x)), tolerance(1000)) << gap;
    if (gap > 1e-15) {  // fifty digits do not tell 1 - gap from 1 much below
      EXPECT_NEAR(polynomial.derivative(), static_cast<double>(exact_derivative(1000, x)), tolerance(1000) * 500500.0) << gap;
    } else {
      EXPECT_DOUBLE_EQ(polynomial.derivative(), 500500.0) << gap;
    }
  }
}

TEST(Legendre, RecurrenceGivesEveryDegreeOnTheWay) {
  LegendreRecurrence polynomial(-0.6);
  for (int n = 0; n <= 30; ++n) {
    EXPECT_EQ(polynomial.degree(), n);
    EXPECT_EQ(polynomial.value(), legendre(n, -0.6));
    EXPECT_EQ(polynomial.derivative(), legendre_derivative(n, -0.6));
    polynomial.next();
  }
}

// Legendre's equation ((1 - x^2) P')' = -n (n + 1) P ties value and derivative together without any other library.
TEST(Legendre, DerivativeSolvesLegendresEquation) {
  for (const int n : {1, 2, 5, 24, 100}) {
    for (const double x : {-0.95, -0.4, 0.0, 0.3, 0.8}) {
      const double h = 1e-3 / (n + 1);  // central differences: an error of order (n h)^2 relative to n^2
      const auto flux = [&](double at) { return (1.0 - at * at) * legendre_derivative(n, at); };
      const double left = (flux(x + h) - flux(x - h)) / (2.0 * h);
      EXPECT_NEAR(left, -n * (n + 1.0) * legendre(n, x), 1e-5 * n * (n + 1.0)) << n << " at " << x;
    }
  }
}

}  // namespace
}  // namespace drift
