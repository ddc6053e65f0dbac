#include "features/spherical.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "drift/error.h"
#include "features/covariance.h"
#include "features/gram_testing.h"

namespace drift {
namespace {

using gram::ErrorCurve;
using gram::kErrorTolerance;
using gram::kSlopeTolerance;
using gram::Points;

constexpr Covariance kHeat{.family = Family::squared_exponential};
constexpr Covariance matern(double nu) { return {.family = Family::matern, .nu = nu}; }

// (2n + 1) Phi(n (n + 1)) as printed, without logarithms: for moderate lengthscales only.
double plain_weight(const Covariance& covariance, double l, double n) {
  const double lambda = n * (n + 1.0);
  const double nu = covariance.nu;
  const double density =
      covariance.family == Family::matern ? std::pow(2.0 * nu / (l * l) + lambda, -nu - 1.0) : std::exp(-0.5 * l * l * lambda);
  return (2.0 * n + 1.0) * density;
}

// The share of the infinite sum beyond `degree`, by brute force: to a million terms, smallest first.
double plain_tail(const Covariance& covariance, double l, int degree) {
  double tail = 0.0;
  double total = 0.0;
  for (int n = 1'000'000; n >= 0; --n) {
    total += plain_weight(covariance, l, n);
    if (n == degree + 1) tail = total;
  }
  return tail / total;
}

TEST(SphericalSpectrum, MassesAreTheNormalisedSpectrum) {
  for (const Covariance& covariance : {kHeat, matern(0.5), matern(1.5), matern(7.3)}) {
    const SphericalSpectrum spectrum(covariance, 0.2, 1e-3, 2000);
    double total = 0.0;
    for (int n = 0; n <= spectrum.max_degree(); ++n) total += plain_weight(covariance, 0.2, n);
    double sum = 0.0;
    for (int n = 0; n <= spectrum.max_degree(); ++n) {
      EXPECT_NEAR(spectrum.mass(n) / (plain_weight(covariance, 0.2, n) / total), 1.0, 1e-12) << n;
      sum += spectrum.mass(n);
    }
    EXPECT_NEAR(sum, 1.0, 1e-12);
  }
}

TEST(SphericalSpectrum, KeepsTheFirstDegreeBeyondWhichLessThanTheTailMassLies) {
  struct Case {
    Covariance covariance;
    double lengthscale, tail_mass;
  };
  // Smooth enough for a million terms to be the whole sum to 1e-5 of the tail.
  for (const Case& c : {Case{kHeat, 0.3, 1e-3}, Case{kHeat, 0.05, 1e-6}, Case{kHeat, 2.0, 1e-2}, Case{matern(1.5), 0.1, 1e-3},
                        Case{matern(2.5), 0.5, 1e-4}, Case{matern(1.0), 1.0, 1e-3}}) {
    const int degree = SphericalSpectrum(c.covariance, c.lengthscale, c.tail_mass, 5000).max_degree();
    ASSERT_GT(degree, 0);
    ASSERT_LT(degree, 5000);
    EXPECT_LT(plain_tail(c.covariance, c.lengthscale, degree), c.tail_mass) << degree;
    EXPECT_GE(plain_tail(c.covariance, c.lengthscale, degree - 1), c.tail_mass) << degree;
  }
}

// With nu = 1/2, l = 1/2 the tail falls to 1e-3 only near degree 2000. Judged by the degrees up to a limit of 1500 alone, the
// tail would seem to end there and fewer degrees would do.
TEST(SphericalSpectrum, CountsWhatLiesBeyondTheLimitAsTail) {
  EXPECT_EQ(SphericalSpectrum(matern(0.5), 0.5, 1e-3, 1500).max_degree(), 1500);
  const int unlimited = SphericalSpectrum(matern(0.5), 0.5, 1e-3, 1'000'000).max_degree();
  EXPECT_GT(unlimited, 1900);
  EXPECT_LT(unlimited, 2100);
  // The integral stands in for the terms: the limit does not move the answer.
  EXPECT_NEAR(SphericalSpectrum(matern(0.5), 0.5, 1e-3, 2200).max_degree(), unlimited, 1);
  EXPECT_NEAR(SphericalSpectrum(matern(0.5), 0.5, 1e-2, 250).max_degree(),
              SphericalSpectrum(matern(0.5), 0.5, 1e-2, 100'000).max_degree(), 1);
}

TEST(SphericalSpectrum, TruncationChangesTheCovarianceByNoMoreThanTwiceTheTailMass) {
  const double tail_mass = 1e-2;
  for (const Covariance& covariance : {kHeat, matern(1.0), matern(1.5)}) {
    const SphericalSpectrum kept(covariance, 0.3, tail_mass, 2000);
    const SphericalSpectrum nearly_all(covariance, 0.3, 1e-7, 200'000);
    for (double angle = 0.0; angle < 3.2; angle += 0.05) {
      const double x = std::cos(angle);
      EXPECT_NEAR(spherical_covariance(kept, x), spherical_covariance(nearly_all, x), 2.0 * tail_mass) << angle;
    }
  }
}

TEST(SphericalSpectrum, ReachesDegreesBeyondAThousandForShortLengthscales) {
  // Matérn 3/2: the tail beyond N is (1 + N^2 l^2 / 3)^(-3/2), 1e-3 at N l = sqrt(3 * 99) = 17.2.
  const SphericalSpectrum spectrum(matern(1.5), 0.01, 1e-3, 5000);
  EXPECT_NEAR(spectrum.max_degree(), 1723, 5);
  // 30 km on the Earth.
  EXPECT_GT(SphericalSpectrum(kHeat, 30.0 / 6371.0, 1e-3, 5000).max_degree(), 780);
  EXPECT_EQ(SphericalSpectrum(matern(0.5), 1e-4, 1e-3, 3000).max_degree(), 3000);
}

// On a flat patch x = n + 1/2 is the wave number, of density 2 nu kappa^(2 nu) x (kappa^2 + x^2)^(-nu - 1), kappa^2 = 2 nu / l^2:
// for nu = 3/2 its mean is sqrt(3) / l. The heat covariance's is Rayleigh's, of mean sqrt(pi / 2) / l.
TEST(SphericalSpectrum, MeanDegreeIsThatOfThePlanesSpectrumForShortLengthscales) {
  const double l = 0.01;
  EXPECT_NEAR(SphericalSpectrum(kHeat, l, 1e-9, 10'000).mean_degree(), std::sqrt(std::numbers::pi / 2.0) / l - 0.5, 0.01);
  EXPECT_NEAR(SphericalSpectrum(matern(1.5), l, 1e-9, 500'000).mean_degree(), std::sqrt(3.0) / l - 0.5, 0.01);
}

TEST(SphericalSpectrum, LogMassSlopeIsTheDerivativeByLogLengthscale) {
  const double h = 1e-5;  // central differences in log l: an error of order h^2 times the third derivative, at most 1e3 here
  for (const Covariance& covariance : {kHeat, matern(0.5), matern(1.5), matern(10.0)}) {
    const SphericalSpectrum spectrum(covariance, 0.2, 1e-3, 100);
    const SphericalSpectrum longer = spectrum.with_lengthscale(0.2 * std::exp(h));
    const SphericalSpectrum shorter = spectrum.with_lengthscale(0.2 * std::exp(-h));
    for (int n = 0; n <= spectrum.max_degree(); ++n) {
      const double slope = (std::log(longer.mass(n)) - std::log(shorter.mass(n))) / (2.0 * h);
      EXPECT_NEAR(spectrum.log_mass_slope(n), slope, 1e-6) << n;
    }
  }
}

TEST(SphericalSpectrum, WithLengthscaleKeepsTheDegrees) {
  const SphericalSpectrum spectrum(matern(1.5), 0.2, 1e-3, 2000);
  const SphericalSpectrum shorter = spectrum.with_lengthscale(0.02);
  EXPECT_EQ(shorter.max_degree(), spectrum.max_degree());
  EXPECT_GT(shorter.mean_degree(), spectrum.mean_degree());
  const SphericalSpectrum back = shorter.with_lengthscale(0.2);
  for (int n = 0; n <= spectrum.max_degree(); ++n) EXPECT_EQ(back.mass(n), spectrum.mass(n));
}

TEST(SphericalSpectrum, StaysFiniteForExtremeLengthscalesAndNu) {
  for (const Covariance& covariance : {kHeat, matern(1e-6), matern(0.5), matern(1e6)}) {
    for (const double lengthscale : {1e-200, 1e-100, 1e-10, 1.0, 1e10, 1e200}) {
      const SphericalSpectrum spectrum(covariance, lengthscale, 1e-3, 50);
      double sum = 0.0;
      for (int n = 0; n <= spectrum.max_degree(); ++n) {
        sum += spectrum.mass(n);
        EXPECT_TRUE(std::isfinite(spectrum.log_mass_slope(n))) << "nu " << covariance.nu << ", l " << lengthscale << ", n " << n;
      }
      EXPECT_NEAR(sum, 1.0, 1e-12) << "nu " << covariance.nu << ", l " << lengthscale;
    }
  }
}

TEST(SphericalSpectrum, RefusesSettingsOutOfRange) {
  EXPECT_THROW(SphericalSpectrum(matern(0.0), 0.1, 1e-3, 100), UsageError);
  EXPECT_THROW(SphericalSpectrum(matern(1.5), 0.0, 1e-3, 100), UsageError);
  EXPECT_THROW(SphericalSpectrum(matern(1.5), std::numeric_limits<double>::infinity(), 1e-3, 100), UsageError);
  EXPECT_THROW(SphericalSpectrum(matern(1.5), 0.1, 0.0, 100), UsageError);
  EXPECT_THROW(SphericalSpectrum(matern(1.5), 0.1, 1.0, 100), UsageError);
  EXPECT_THROW(SphericalSpectrum(matern(1.5), 0.1, 1e-3, -1), UsageError);
  EXPECT_THROW(SphericalSpectrum(matern(1.5), 0.1, 1e-3, 100).with_lengthscale(-1.0), UsageError);
  EXPECT_EQ(SphericalSpectrum(matern(1.5), 0.1, 1e-3, 0).mass(0), 1.0);
}

TEST(DrawSpherical, DegreesAscendAndFollowTheSpectrum) {
  const SphericalSpectrum spectrum(matern(1.5), 0.3, 1e-2, 100);
  constexpr Eigen::Index kFeatures = 50'000;
  const gram::SphereDraw draw = gram::draw_sphere(spectrum, {.seed = 1}, kFeatures);
  EXPECT_TRUE(std::is_sorted(draw.degrees.begin(), draw.degrees.end()));
  for (int n = 0; n <= spectrum.max_degree(); ++n) {
    const auto count = static_cast<double>(std::count(draw.degrees.begin(), draw.degrees.end(), static_cast<float>(n)));
    const double expected = kFeatures * spectrum.mass(n);
    EXPECT_NEAR(count, expected, 4.0 * std::sqrt(expected) + 1.0) << n;  // Poisson, four standard deviations
  }
}

TEST(DrawSpherical, PolesAreUnitVectorsUniformOnTheSphere) {
  constexpr Eigen::Index kFeatures = 50'000;
  const gram::SphereDraw draw = gram::draw_sphere(SphericalSpectrum(matern(1.5), 0.3, 1e-2, 100), {.seed = 2}, kFeatures);
  const Eigen::MatrixXd poles = draw.poles.cast<double>();
  EXPECT_LT((poles.colwise().norm().array() - 1.0).abs().maxCoeff(), 1.2e-7);  // the rounding of three floats
  // Uniform: mean 0 with variance 1/3, second moments I/3, whose entries have variances 4/45 on the diagonal and 1/15 off it.
  const double root_n = std::sqrt(static_cast<double>(kFeatures));
  EXPECT_LT(poles.rowwise().mean().cwiseAbs().maxCoeff(), 4.0 * std::sqrt(1.0 / 3.0) / root_n);
  const Eigen::Matrix3d second = poles * poles.transpose() / static_cast<double>(kFeatures) - Eigen::Matrix3d::Identity() / 3.0;
  EXPECT_LT(second.cwiseAbs().maxCoeff(), 4.0 * std::sqrt(4.0 / 45.0) / root_n);
}

TEST(DrawSpherical, DegreesAndPolesAreIndependent) {
  const SphericalSpectrum spectrum(matern(1.5), 0.3, 1e-2, 100);
  constexpr Eigen::Index kFeatures = 50'000;
  const gram::SphereDraw draw = gram::draw_sphere(spectrum, {.seed = 3}, kFeatures);
  const Eigen::ArrayXd degrees = Eigen::Map<const Eigen::ArrayXf>(draw.degrees.data(), kFeatures).cast<double>();
  const Eigen::ArrayXd centred = degrees - degrees.mean();
  for (Eigen::Index c = 0; c < 3; ++c) {
    const Eigen::ArrayXd pole = draw.poles.row(c).transpose().cast<double>().array();
    const double correlation = (centred * pole).mean() / std::sqrt(centred.square().mean() / 3.0);
    EXPECT_LT(std::abs(correlation), 4.0 / std::sqrt(static_cast<double>(kFeatures)));
  }
}

TEST(DrawSpherical, RefusesWrongShapes) {
  const SphericalSpectrum spectrum(matern(1.5), 0.3, 1e-2, 100);
  std::vector<float> degrees(10), poles(40);
  EXPECT_THROW(draw_spherical(spectrum, {}, degrees, {poles.data(), 3, 9}), UsageError);
  EXPECT_THROW(draw_spherical(spectrum, {}, degrees, {poles.data(), 4, 10}), UsageError);
  EXPECT_NO_THROW(draw_spherical(spectrum, {}, degrees, {poles.data(), 3, 10}));
}

ErrorCurve sphere_error_curve(const SphericalSpectrum& spectrum, const Eigen::MatrixXd& exact, const Points& points) {
  return gram::error_curve(exact, [&](Eigen::Index features, std::uint64_t seed) {
    return gram::gram_of(gram::sphere_features(gram::draw_sphere(spectrum, {.seed = seed}, features), points));
  });
}

ErrorCurve sphere_error_curve(const SphericalSpectrum& spectrum, const Points& points) {
  return sphere_error_curve(spectrum, gram::exact_sphere_gram(spectrum, points), points);
}

class SphereGram : public testing::TestWithParam<Covariance> {};

TEST_P(SphereGram, ApproachesTheCovarianceAsOneOverRootH) {
  const SphericalSpectrum spectrum(GetParam(), 0.5, 1e-2, 500);
  const ErrorCurve curve = sphere_error_curve(spectrum, gram::sphere_points(12, 4));
  EXPECT_NEAR(curve.slope(), -0.5, kSlopeTolerance);
}

TEST_P(SphereGram, ErrorIsTheSameWhenAllPointsAreRotated) {
  const SphericalSpectrum spectrum(GetParam(), 0.5, 1e-2, 500);
  const Points points = gram::sphere_points(12, 5);
  const double before = sphere_error_curve(spectrum, points).single_feature_error();
  for (const std::uint64_t seed : {1u, 2u}) {
    const Points rotated = points * gram::random_rotation(seed).transpose();
    const ErrorCurve curve = sphere_error_curve(spectrum, rotated);
    EXPECT_NEAR(curve.slope(), -0.5, kSlopeTolerance);
    EXPECT_NEAR(curve.single_feature_error() / before, 1.0, std::numbers::sqrt2 * kErrorTolerance);  // both are uncertain
    EXPECT_LT((gram::exact_sphere_gram(spectrum, rotated) - gram::exact_sphere_gram(spectrum, points)).cwiseAbs().maxCoeff(),
              1e-12);
  }
}

// The negative control: the covariance of a spectrum that forgets the 2n + 1 harmonics of a degree is not approached.
TEST_P(SphereGram, DoesNotApproachACovarianceWithoutTheMultiplicities) {
  const SphericalSpectrum spectrum(GetParam(), 0.5, 1e-2, 500);
  const Points points = gram::sphere_points(12, 4);
  const Eigen::MatrixXd wrong = gram::exact_gram(points, [&](const auto& s, const auto& t) {
    double sum = 0.0;
    double total = 0.0;
    for (int n = 0; n <= spectrum.max_degree(); ++n) {
      const double mass = spectrum.mass(n) / (2.0 * n + 1.0);
      sum += mass * legendre(n, std::clamp(s.dot(t), -1.0, 1.0));
      total += mass;
    }
    return sum / total;
  });
  EXPECT_GT(sphere_error_curve(spectrum, wrong, points).slope(), -0.5 + 2.0 * kSlopeTolerance);
}

INSTANTIATE_TEST_SUITE_P(Covariances, SphereGram, testing::Values(kHeat, matern(0.5), matern(1.5)),
                         [](const auto& param) { return gram::name_of(param.param); });

// Pairs of points in six places of the globe, all at one angle: by how many of its standard errors the worst mean product of
// features departs from the one covariance. `spoil` may change the draw.
double worst_departure_at_angle(double angle, const std::function<void(gram::SphereDraw&)>& spoil) {
  const SphericalSpectrum spectrum(matern(1.5), 0.5, 1e-2, 500);
  constexpr Eigen::Index kFeatures = 40'000;
  gram::SphereDraw draw = gram::draw_sphere(spectrum, {.seed = 6}, kFeatures);
  spoil(draw);
  const double exact = spherical_covariance(spectrum, std::cos(angle));
  double worst = 0.0;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Points pair(2, 3);
    pair << 0.0, 0.0, 1.0, std::sin(angle), 0.0, std::cos(angle);
    if (seed > 0) pair = (pair * gram::random_rotation(seed).transpose()).eval();  // the first pair sits at the pole
    const Eigen::MatrixXd features = gram::sphere_features(draw, pair);
    const Eigen::ArrayXd products = kFeatures * features.row(0).transpose().array() * features.row(1).transpose().array();
    const double error = std::sqrt((products - products.mean()).square().mean() / kFeatures);
    worst = std::max(worst, std::abs(products.mean() - exact) / error);
  }
  return worst;
}

TEST(SphereFeatures, CovarianceDependsOnTheAngleAlone) {
  for (const double angle : {0.0, 0.3, 1.0, 3.0}) {
    EXPECT_LT(worst_departure_at_angle(angle, [](gram::SphereDraw&) {}), 4.0) << angle;
  }
}

// The negative control: poles uniform in longitude and latitude crowd at the ends of the axis.
TEST(SphereFeatures, AngleTestRejectsPolesUniformInLatitude) {
  const auto crowd = [](gram::SphereDraw& draw) {
    RandomStream random({.seed = 7, .purpose = Purpose::simulation});
    for (Eigen::Index m = 0; m < draw.poles.cols(); ++m) {
      const double latitude = std::numbers::pi * (random.uniform() - 0.5);
      const double longitude = 2.0 * std::numbers::pi * random.uniform();
      draw.poles.col(m) =
          Eigen::Vector3d(std::cos(latitude) * std::cos(longitude), std::cos(latitude) * std::sin(longitude), std::sin(latitude))
              .cast<float>();
    }
  };
  EXPECT_GT(worst_departure_at_angle(0.3, crowd), 8.0);
}

// Degrees in the thousands must count in full: nearby points, whose covariance they decide.
TEST(SphereFeatures, AreRightForDegreesBeyondAThousand) {
  const double l = 0.005;
  const SphericalSpectrum spectrum(matern(1.5), l, 1e-3, 4000);
  constexpr Eigen::Index kFeatures = 20'000;
  const gram::SphereDraw draw = gram::draw_sphere(spectrum, {.seed = 8}, kFeatures);
  EXPECT_GT(draw.degrees.back(), 1500.0f);
  Points points = gram::sphere_points(1, 9).replicate(4, 1);
  points += l * gram::plane_points(4, 3, 1.5, 10);
  points.rowwise().normalize();
  const Eigen::MatrixXd features = gram::sphere_features(draw, points);
  for (Eigen::Index i = 0; i < 4; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      const Eigen::ArrayXd products = kFeatures * features.row(i).transpose().array() * features.row(j).transpose().array();
      const double error = std::sqrt((products - products.mean()).square().mean() / kFeatures);
      const double plane = planar_covariance(matern(1.5), (points.row(i) - points.row(j)).norm() / l);
      // 1e-3: the truncated tail; the sphere's curvature matters a hundred times less.
      EXPECT_NEAR(products.mean(), plane, 4.0 * error + 1e-3) << i << ", " << j;
    }
  }
}

}  // namespace
}  // namespace drift
