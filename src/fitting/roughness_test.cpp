#include "drift/roughness.h"

#include <gtest/gtest.h>

#include <boost/math/special_functions/spherical_harmonic.hpp>
#include <cmath>
#include <numbers>

#include "fitting/fitting_testing.h"

namespace drift {
namespace {

constexpr double kPi = std::numbers::pi;

// |grad Y|^2 of the real part of a spherical harmonic, by central differences along the sphere.
double harmonic_slope(unsigned degree, int order, const UnitVector& at) {
  const double latitude = std::asin(at[2]), longitude = std::atan2(at[1], at[0]), step = 1e-5;
  const auto value = [&](double lat, double lon) {
    return boost::math::spherical_harmonic_r(degree, order, 0.5 * kPi - lat, lon);
  };
  const double north = (value(latitude + step, longitude) - value(latitude - step, longitude)) / (2.0 * step);
  const double east = (value(latitude, longitude + step) - value(latitude, longitude - step)) / (2.0 * step * std::cos(latitude));
  return north * north + east * east;
}

TEST(SphereEnergy, OfSphericalHarmonicsIsDegreeTimesDegreePlusOne) {
  for (const auto& [degree, order] : {std::pair{1u, 0}, {2u, 1}, {5u, 0}, {5u, 3}, {9u, 9}}) {
    const double energy = sphere_energy(
        [&, l = degree, m = order](std::span<const UnitVector> points, std::span<double> squares) {
          for (std::size_t i = 0; i < points.size(); ++i) squares[i] = harmonic_slope(l, m, points[i]);
        },
        120);
    // The real part of a harmonic of order > 0 has half its square's integral.
    const double norm = order == 0 ? 1.0 : 0.5;
    EXPECT_NEAR(energy / norm, degree * (degree + 1.0), 2e-3 * degree * (degree + 1.0)) << degree << " " << order;
  }
}

TEST(PlaneEnergy, OfPlaneWavesIsTheirClosedForm) {
  // f = sin(a x + b y): |grad f|^2 = (a^2 + b^2) cos^2, whose mean over whole periods is half of that.
  const double a = 2.0 * kPi, b = 4.0 * kPi;
  const double energy = plane_energy(
      [&](std::span<const std::array<double, 2>> points, std::span<double> squares) {
        for (std::size_t i = 0; i < points.size(); ++i)
          squares[i] = (a * a + b * b) * std::pow(std::cos(a * points[i][0] + b * points[i][1]), 2);
      },
      {0.0, 0.0, 2.0, 1.0}, 65);
  EXPECT_NEAR(energy, 2.0 * 0.5 * (a * a + b * b), 1e-9);
}

TEST(PlaneEnergy, OfALinearFieldIsExact) {
  const double energy = plane_energy(
      [](std::span<const std::array<double, 2>> points, std::span<double> squares) {
        for (std::size_t i = 0; i < points.size(); ++i) squares[i] = points[i][0] * points[i][1];  // bilinear: exact
      },
      {0.0, 0.0, 2.0, 3.0}, 2);
  EXPECT_NEAR(energy, 2.0 * 4.5, 1e-12);
}

TEST(Roughness, OfGaussianProcessDrawsIsTheirSpectralMoment) {
  // Networks of one layer, untrained, are draws from a Gaussian process. For the squared exponential on the plane the mean of
  // |grad f|^2 is 2 / lengthscale^2.
  const auto engine = make_cpu_engine();
  for (const double lengthscale : {0.4, 0.8}) {
    FieldModel model;
    model.domain = xy_domain("m");
    NetworkSpec spec = default_spec(Space::plane, 2, false);
    spec.spatial.layers = 1;
    spec.spatial.covariance.family = Family::squared_exponential;
    spec.spatial.lengthscales = {lengthscale};
    double mean = 0.0;
    constexpr int kDraws = 20;
    for (int draw = 0; draw < kDraws; ++draw) {
      model.ensemble = draw_ensemble(spec, static_cast<std::uint64_t>(draw), 1);
      mean += roughness(*engine, model) / kDraws;
    }
    EXPECT_NEAR(mean, 2.0 / (lengthscale * lengthscale), 0.15 * 2.0 / (lengthscale * lengthscale));
  }
}

}  // namespace
}  // namespace drift
