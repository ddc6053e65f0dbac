// Features of space and time in one chain against the exact product covariance, as networks draw and engines evaluate them:
//   sqrt(2 / H) cos(2 pi (u . f + x / l . v + t / l_t w + b)),   E = k(|(u, x / l) - (u', x' / l)|) k_t(|t - t'| / l_t)
// with x the unit vector on the sphere, where its distance is a chord.

#include <gtest/gtest.h>

#include <numbers>

#include "features/gram_testing.h"
#include "network/draw.h"

namespace drift {
namespace {

constexpr Eigen::Index kPoints = 12;
constexpr Covariance kSpaceCovariance{.family = Family::matern, .nu = 1.5};
constexpr Covariance kTimeCovariance{.family = Family::matern, .nu = 0.5};
constexpr int kHidden = 5;

NetworkSpec spec_of(Space space, int layers, Eigen::Index features, Frequencies frequencies) {
  NetworkSpec spec = default_spec(space, space == Space::plane ? 2 : 3, true);
  spec.spatial.layers = layers;
  spec.spatial.covariance = spec.spatial.hidden_covariance = kSpaceCovariance;
  spec.temporal.covariance = kTimeCovariance;
  spec.features = static_cast<int>(features);
  spec.bottleneck = kHidden;
  spec.frequencies = frequencies;
  return spec;
}

// What a layer takes in, over the lengthscales.
struct Inputs {
  gram::Points hidden;  // [points, kHidden]; no columns: a first layer
  gram::Points space;   // [points, 2 or 3]
  gram::Points time;    // [points, 1]

  // Lengthscales of half a radian on the sphere; distances of one or two lengthscales everywhere.
  Inputs(Space of, bool with_hidden)
      : hidden(with_hidden ? gram::plane_points(kPoints, kHidden, 1.0, 1) : gram::Points(kPoints, 0)),
        space(of == Space::plane ? gram::plane_points(kPoints, 2, 1.5, 2) : gram::Points(2.0 * gram::sphere_points(kPoints, 2))),
        time(gram::plane_points(kPoints, 1, 1.2, 3)) {}

  Eigen::MatrixXd exact() const {
    gram::Points together(kPoints, hidden.cols() + space.cols());
    together << hidden, space;
    return gram::exact_planar_gram(kSpaceCovariance, together).cwiseProduct(gram::exact_planar_gram(kTimeCovariance, time));
  }
  // Were space and time under one distance.
  Eigen::MatrixXd joint() const {
    gram::Points together(kPoints, hidden.cols() + space.cols() + 1);
    together << hidden, space, time;
    return gram::exact_planar_gram(kSpaceCovariance, together);
  }
};

// [points, features]
Eigen::MatrixXd features_of(const NetworkSpec& spec, const Inputs& inputs, std::uint64_t seed) {
  const Plan plan = make_plan(spec);
  const Member member = draw_member(plan, seed, 0);
  const LayerPlan& layer = plan.layers.back();
  const Eigen::Index features = layer.features;
  gram::Points coordinates(kPoints, layer.coordinates);
  coordinates << inputs.space, inputs.time;
  const Eigen::Map<const gram::FloatMatrix> frequencies(member.fixed.data() + layer.coordinate_frequencies, layer.coordinates,
                                                        features);
  Eigen::MatrixXd phase = coordinates * frequencies.cast<double>();
  if (layer.hidden > 0) {
    phase += inputs.hidden *
             Eigen::Map<const gram::FloatMatrix>(member.fixed.data() + layer.hidden_frequencies, layer.hidden, features)
                 .cast<double>();
  }
  phase.rowwise() += Eigen::Map<const Eigen::RowVectorXf>(member.fixed.data() + layer.phases, features).cast<double>();
  return std::sqrt(2.0 / static_cast<double>(features)) * (2.0 * std::numbers::pi * phase.array()).cos();
}

gram::ErrorCurve curve_of(Space space, bool hidden, Frequencies frequencies, const Eigen::MatrixXd& exact) {
  const Inputs inputs(space, hidden);
  return gram::error_curve(exact, [&](Eigen::Index features, std::uint64_t seed) {
    return gram::gram_of(features_of(spec_of(space, hidden ? 2 : 1, features, frequencies), inputs, seed));
  });
}

class SpaceTimeFeatures : public testing::TestWithParam<Space> {};
INSTANTIATE_TEST_SUITE_P(Spaces, SpaceTimeFeatures, testing::Values(Space::plane, Space::sphere),
                         [](const auto& space) { return space.param == Space::plane ? "plane" : "sphere"; });

TEST_P(SpaceTimeFeatures, OfTheFirstLayerHaveTheProductOfTheCovariances) {
  const gram::ErrorCurve curve = curve_of(GetParam(), false, Frequencies::independent, Inputs(GetParam(), false).exact());
  EXPECT_NEAR(curve.slope(), -0.5, gram::kSlopeTolerance);
  EXPECT_LT(curve.errors.back(), 0.02);  // 4096 features of unit variance: 1 / sqrt(4096) each
}

TEST_P(SpaceTimeFeatures, OfLaterLayersHaveItTooWithHiddenEntriesBesideThePosition) {
  const gram::ErrorCurve curve = curve_of(GetParam(), true, Frequencies::orthogonal, Inputs(GetParam(), true).exact());
  EXPECT_NEAR(curve.slope(), -0.5, gram::kSlopeTolerance);
  EXPECT_LT(curve.errors.back(), 0.02);
}

// The negative control: one distance of space and time together is another covariance, and these features tell them apart.
TEST_P(SpaceTimeFeatures, DoNotHaveTheCovarianceOfOneDistance) {
  const gram::ErrorCurve curve = curve_of(GetParam(), false, Frequencies::independent, Inputs(GetParam(), false).joint());
  EXPECT_GT(curve.slope(), -0.5 + 2.0 * gram::kSlopeTolerance);
}

}  // namespace
}  // namespace drift
