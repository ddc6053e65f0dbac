#include "gp/experts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "drift/error.h"
#include "gp/exact.h"
#include "gp/gp_testing.h"
#include "gp/simulated_testing.h"

namespace drift::gp {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

ExpertSettings small_settings() {
  ExpertSettings settings;
  settings.spacing = 1.0;
  settings.radius = 0.9;
  settings.reach = 1.2;
  settings.smoothing = 1.0;
  settings.max_observations = 60;
  settings.evaluations = 12;
  return settings;
}

struct Prediction {
  VectorXd mean, variance, noise;

  Prediction(const ExpertMixture& mixture, const MatrixXd& x) : mean(x.cols()), variance(x.cols()), noise(x.cols()) {
    mixture.predict(x, mean, &variance, noise);
  }
};

TEST(Experts, OneThatCoversEverythingIsTheExactProcess) {
  const Simulated s = simulated_plane(80, 41);
  for (const std::size_t inducing : {0u, 80u}) {
    ExpertSettings settings = small_settings();
    settings.radius = 10.0;
    settings.reach = 10.0;
    settings.max_observations = 80;
    settings.inducing = inducing;
    const ExpertMixture mixture(s.spec, s.data, MatrixXd::Zero(2, 1), settings, "test");
    ASSERT_EQ(mixture.experts(), 1u);
    const MatrixXd x = plane_points(3, 50, 42);
    const Prediction blended(mixture, x);
    VectorXd mean(50), variance;
    ExactGp(s.spec, mixture.smoothed(0), s.data, "test").predict(x, mean, &variance);
    EXPECT_LT((blended.mean - mean).cwiseAbs().maxCoeff(), 1e-7);
    EXPECT_LT((blended.variance - variance).cwiseAbs().maxCoeff(), 1e-7);
    EXPECT_NEAR(blended.noise[0], mixture.smoothed(0).noise_variance(), 1e-12);
  }
}

TEST(Experts, BlendContinuously) {
  const Simulated s = simulated_plane(300, 43);
  const ExpertMixture mixture(s.spec, s.data, expert_places(s.data, Space::plane, 2, 1.0), small_settings(), "test");
  // Along a line from inside the domain to far outside it, over the edges of several experts.
  MatrixXd line(3, 20000);
  for (Index i = 0; i < line.cols(); ++i) line.col(i) << -1.0 + 4.0 * static_cast<double>(i) / 20000.0, 0.3, 0.2;
  const Prediction along(mixture, line);
  const VectorXd steps = along.mean.tail(19999) - along.mean.head(19999);
  EXPECT_LT(steps.cwiseAbs().maxCoeff(), 0.02);
  const VectorXd sd = along.variance.cwiseSqrt();
  EXPECT_LT((sd.tail(19999) - sd.head(19999)).cwiseAbs().maxCoeff(), 0.02);
  // And over into the prior.
  EXPECT_NEAR(along.mean[19999], s.data.values.mean(), 1e-12);
  EXPECT_NEAR(sd[19999], std::sqrt((s.data.values.array() - s.data.values.mean()).square().mean()), 1e-9);
}

TEST(Experts, DoNotDependOnTheNumberOfThreads) {
  const Simulated s = simulated_plane(200, 44);
  const MatrixXd places = expert_places(s.data, Space::plane, 2, 1.0);
  const MatrixXd x = plane_points(3, 40, 45);
  ExpertSettings settings = small_settings();
  const Prediction one(ExpertMixture(s.spec, s.data, places, settings, "test"), x);
  settings.threads = 3;
  const Prediction three(ExpertMixture(s.spec, s.data, places, settings, "test"), x);
  EXPECT_EQ(one.mean, three.mean);
  EXPECT_EQ(one.variance, three.variance);
}

TEST(Experts, SmoothingDrawsParametersTogether) {
  const Simulated s = simulated_plane(300, 46);
  const ExpertMixture mixture(s.spec, s.data, expert_places(s.data, Space::plane, 2, 1.0), small_settings(), "test");
  ASSERT_EQ(mixture.experts(), 9u);
  double before = 0.0;
  double after = 0.0;
  for (std::size_t i = 1; i < 9; ++i) {
    before += (mixture.fitted(i).packed() - mixture.fitted(0).packed()).squaredNorm();
    after += (mixture.smoothed(i).packed() - mixture.smoothed(0).packed()).squaredNorm();
  }
  EXPECT_LT(after, 0.5 * before);
}

TEST(Experts, PlacesWithTooFewObservationsAreLeftOut) {
  Simulated s = simulated_plane(100, 47);
  s.data.points.row(0) = s.data.points.row(0).cwiseAbs();  // all on one side
  const MatrixXd places = (MatrixXd(2, 2) << -3.0, 0.5, 0.0, 0.0).finished();
  const ExpertMixture mixture(s.spec, s.data, places, small_settings(), "test");
  ASSERT_EQ(mixture.experts(), 1u);
  EXPECT_EQ(mixture.place(0)[0], 0.5);
  try {
    ExpertMixture(s.spec, s.data, places.leftCols(1), small_settings(), "method experts");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("method experts: none of 1 places has 20 observations"));
  }
}

TEST(ExpertPlaces, CoverThePlaneAndTheSphereEvenly) {
  const Simulated s = simulated_plane(400, 48);
  const MatrixXd square = expert_places(s.data, Space::plane, 2, 0.25);
  EXPECT_EQ(square.cols(), 81);
  const MatrixXd sphere = expert_places(s.data, Space::sphere, 3, 0.3);
  EXPECT_NEAR(static_cast<double>(sphere.cols()), 4.0 * M_PI / 0.09, 1.0);
  const MatrixXd x = sphere_points(false, 300, 49);
  for (Index i = 0; i < x.cols(); ++i) {
    EXPECT_LT((sphere.colwise() - x.col(i)).colwise().norm().minCoeff(), 0.3);  // as on the plane, some 0.7 of the spacing
  }
}

// Through nearly as many inducing points as observations it is the exact process but for little; and the same when made anew from
// its records.
TEST(Experts, PredictFromAllObservationsThroughInducingPoints) {
  const Simulated s = simulated_plane(200, 47);
  ExpertSettings settings = small_settings();
  settings.radius = settings.reach = 10.0;
  settings.max_observations = 200;
  settings.fit_observations = 60;
  settings.inducing = 190;
  const ExpertMixture mixture(s.spec, s.data, MatrixXd::Zero(2, 1), settings, "test");
  const MatrixXd x = plane_points(3, 50, 42);
  const Prediction sparse(mixture, x);
  VectorXd mean(50), variance;
  ExactGp(s.spec, mixture.smoothed(0), s.data, "test").predict(x, mean, &variance);
  EXPECT_LT((sparse.mean - mean).norm(), 0.1 * mean.norm());  // ten of the 200 are seen through the others
  const ExpertMixture again(s.spec, s.data, std::vector{mixture.record(0)}, settings, "test");
  const Prediction same(again, x);
  EXPECT_EQ(same.mean, sparse.mean);
  EXPECT_EQ(same.variance, sparse.variance);
  ExpertRecord outside = mixture.record(0);
  outside.rows[0] = 200;
  EXPECT_THROW(ExpertMixture(s.spec, s.data, std::vector{outside}, settings, "test"), Error);
}

}  // namespace
}  // namespace drift::gp
