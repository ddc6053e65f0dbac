#include <gtest/gtest.h>

#include <cmath>

#include "drift/error.h"
#include "drift/uncertainty.h"
#include "train/variational.h"
#include "uncertainty/uncertainty_testing.h"

namespace drift {
namespace {

using namespace uncertainty_testing;

constexpr std::size_t kDraws = 4000;
// Five standard errors of a mean in units of the sd; of a variance, times about 1.5.
const double kError = 5.0 / std::sqrt(static_cast<double>(kDraws));

// Mean and variance over the draws' outputs at the points.
std::pair<Eigen::VectorXd, Eigen::VectorXd> moments_of(const Ensemble& draws, const FloatRows& points) {
  const auto count = static_cast<std::size_t>(points.rows());
  std::vector<float> mean(count), variance(count);
  make_cpu_engine({.threads = 2})
      ->predict(draws, Observations::view(points),
                {.mean = {mean.data(), count, 1}, .variance = {variance.data(), count, 1}, .members = {}});
  return {Eigen::Map<Eigen::VectorXf>(mean.data(), points.rows()).cast<double>(),
          Eigen::Map<Eigen::VectorXf>(variance.data(), points.rows()).cast<double>()};
}

Eigen::VectorXd weights_of(const Member& member, Eigen::Index count) {
  return Eigen::Map<const Eigen::VectorXf>(member.parameters.data(), count).cast<double>();
}

TEST(DropoutDraws, HaveTheMomentsOfTheirMasks) {
  const NetworkSpec spec = one_layer(Space::plane, 50);
  const Ensemble ensemble = draw_ensemble(spec, 1, 1);
  const FloatRows points = observations(Space::plane, 5, 2).coordinates;
  const Eigen::MatrixXd terms = features(spec, ensemble.members[0], points) * weights_of(ensemble.members[0], 50).asDiagonal();
  for (const double rate : {0.1, 0.5}) {
    const auto [mean, variance] = moments_of(dropout_draws(ensemble, rate, kDraws, 3), points);
    for (Eigen::Index i = 0; i < 5; ++i) {
      const double expected = rate / (1 - rate) * terms.row(i).squaredNorm();
      EXPECT_NEAR(mean(i), terms.row(i).sum(), kError * std::sqrt(expected));
      EXPECT_NEAR(variance(i) / expected, 1.0, 2 * kError);
    }
  }
}

TEST(DropoutDraws, LeaveOutWholeRowsOfEveryMatrix) {
  NetworkSpec spec = default_spec(Space::plane, 2, true);
  spec.features = 300;
  spec.bottleneck = 7;
  const Ensemble ensemble = draw_ensemble(spec, 1, 1);
  const Ensemble draws = dropout_draws(ensemble, 0.25, 1, 9);
  for (const MatrixPlace& place : trained_matrices(make_plan(spec))) {
    double dropped = 0.0;
    for (std::size_t row = 0; row < place.rows; ++row) {
      const float* before = ensemble.members[0].parameters.data() + place.offset + row * place.cols;
      const float* after = draws.members[0].parameters.data() + place.offset + row * place.cols;
      const bool gone = after[0] == 0.0F;
      dropped += gone ? 1.0 : 0.0;
      for (std::size_t col = 0; col < place.cols; ++col) EXPECT_FLOAT_EQ(after[col], gone ? 0.0F : before[col] / 0.75F);
    }
    const auto rows = static_cast<double>(place.rows);
    EXPECT_NEAR(dropped / rows, 0.25, 4 * std::sqrt(0.1875 / rows));
  }
}

TEST(VariationalDraws, HaveTheMomentsOfTheirWeights) {
  const NetworkSpec spec = one_layer(Space::plane, 50);
  Ensemble ensemble = draw_ensemble(spec, 1, 1);
  make_variational(ensemble, 0.3);
  for (std::size_t i = 0; i < 50; i += 2) ensemble.members[0].log_sd[i] = std::log(0.8F);
  const FloatRows points = observations(Space::plane, 5, 2).coordinates;
  const Eigen::MatrixXd phi = features(spec, ensemble.members[0], points);
  const Eigen::VectorXd variances = Eigen::VectorXd::NullaryExpr(50, [](Eigen::Index i) { return i % 2 == 0 ? 0.64 : 0.09; });
  const auto [mean, variance] = moments_of(variational_draws(ensemble, kDraws, 3), points);
  for (Eigen::Index i = 0; i < 5; ++i) {
    const double expected = phi.row(i).cwiseAbs2().dot(variances);
    EXPECT_NEAR(mean(i), phi.row(i).dot(weights_of(ensemble.members[0], 50)), kError * std::sqrt(expected));
    EXPECT_NEAR(variance(i) / expected, 1.0, 2 * kError);
  }
}

TEST(Draws, MadeAFewAtATimeAreTheSame) {
  Ensemble ensemble = draw_ensemble(one_layer(Space::plane, 20), 1, 2);
  make_variational(ensemble, 0.1);
  const auto check = [](const Ensemble& all, const Ensemble& first, const Ensemble& second) {
    ASSERT_EQ(all.members.size(), 10u);  // of member 0, then of member 1
    for (std::size_t member = 0; member < 2; ++member) {
      for (std::size_t draw = 0; draw < 5; ++draw) {
        const Ensemble& part = draw < 2 ? first : second;
        const std::size_t at = draw < 2 ? member * 2 + draw : member * 3 + draw - 2;
        EXPECT_EQ(all.members[member * 5 + draw].parameters, part.members[at].parameters);
        EXPECT_TRUE(all.members[member * 5 + draw].log_sd.empty());
      }
    }
    EXPECT_NE(all.members[0].parameters, all.members[1].parameters);
  };
  check(variational_draws(ensemble, 5, 7), variational_draws(ensemble, 2, 7), variational_draws(ensemble, 3, 7, 2));
  check(dropout_draws(ensemble, 0.3, 5, 7), dropout_draws(ensemble, 0.3, 2, 7), dropout_draws(ensemble, 0.3, 3, 7, 2));
}

TEST(Draws, WithoutDropoutAreTheMemberItself) {
  const Ensemble ensemble = draw_ensemble(one_layer(Space::plane, 20), 1, 1);
  EXPECT_EQ(dropout_draws(ensemble, 0.0, 1, 7).members[0].parameters, ensemble.members[0].parameters);
}

TEST(Draws, RefuseWhatCannotBe) {
  Ensemble ensemble = draw_ensemble(one_layer(Space::plane, 20), 1, 1);
  EXPECT_THROW(dropout_draws(ensemble, 1.0, 1, 7), UsageError);
  EXPECT_THROW(dropout_draws(ensemble, 0.1, 0, 7), UsageError);
  EXPECT_THROW(variational_draws(ensemble, 1, 7), UsageError);
  EXPECT_THROW(make_variational(ensemble, 0.0), UsageError);
}

}  // namespace
}  // namespace drift
