// Additive features, as the skip connections on the sphere use them: phi_R(h) + phi_S(s), feature by feature, with one shared
// matrix after them. Their covariance is k_R + k_S, since the cross terms phi_R(h) . phi_S(s') vanish on average over the phases.

#include <gtest/gtest.h>

#include <algorithm>

#include "features/covariance.h"
#include "features/gram_testing.h"

namespace drift {
namespace {

constexpr Covariance kPlane{.family = Family::matern, .nu = 1.5};
constexpr Covariance kSphere{.family = Family::matern, .nu = 1.5};

gram::ErrorCurve additive_error_curve(bool with_phases) {
  const gram::Points hidden = gram::plane_points(12, 5, 1.5, 1);
  const gram::Points places = gram::sphere_points(12, 2);
  const SphericalSpectrum spectrum(kSphere, 0.5, 1e-2, 500);
  const Eigen::MatrixXd exact = gram::exact_planar_gram(kPlane, hidden) + gram::exact_sphere_gram(spectrum, places);
  return gram::error_curve(exact, [&](Eigen::Index features, std::uint64_t seed) {
    const RandomKey key{.seed = seed, .layer = 1};  // both parts of a layer share its key; their purposes differ
    gram::PlanarDraw planar = gram::draw_planar({kPlane, Frequencies::orthogonal, key}, hidden.cols(), features);
    if (!with_phases) std::fill(planar.phases.begin(), planar.phases.end(), 0.0f);
    const Eigen::MatrixXd sum =
        gram::planar_features(planar, hidden) + gram::sphere_features(gram::draw_sphere(spectrum, key, features), places);
    return gram::gram_of(sum);
  });
}

TEST(AdditiveFeatures, HaveTheSumOfTheCovariances) {
  const gram::ErrorCurve curve = additive_error_curve(true);
  EXPECT_NEAR(curve.slope(), -0.5, gram::kSlopeTolerance);
  EXPECT_LT(curve.errors.back(), 0.05);  // 4096 features; the covariances themselves are of order one
}

// The negative control: without phases the mean of a planar feature is not zero, and the degree-0 spherical features carry it.
TEST(AdditiveFeatures, DoNotWithoutThePhases) {
  const gram::ErrorCurve curve = additive_error_curve(false);
  EXPECT_GT(curve.slope(), -0.5 + 2.0 * gram::kSlopeTolerance);
}

}  // namespace
}  // namespace drift
