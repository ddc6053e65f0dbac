// Networks of one layer are linear in what they train: what their spread should be is known.

#include <gtest/gtest.h>

#include <cmath>

#include "drift/engine.h"
#include "uncertainty/uncertainty_testing.h"

namespace drift {
namespace {

using namespace uncertainty_testing;

constexpr double kNoise = 0.3;
constexpr std::size_t kMembers = 50;
constexpr Eigen::Index kTogether = 5;  // members whose noises add up to nothing

// Networks with the same features that begin at different weights and are trained to the end.
Eigen::MatrixXd trained_at(const NetworkSpec& spec, const Observations& data, const FloatRows& points, double value_noise) {
  Ensemble ensemble = draw_ensemble(spec, 5, kMembers);
  for (Member& member : ensemble.members) member.fixed = ensemble.members.front().fixed;
  Recipe recipe;
  recipe.optimiser = Optimiser::adam;
  recipe.rate = 0.05;
  recipe.batch = data.set().values.rows;
  recipe.epochs = 400;
  recipe.noise_sd = kNoise;
  recipe.value_noise = value_noise;
  const auto engine = make_cpu_engine({.threads = 2});
  TrainingState state;
  engine->advance(ensemble, state, data.set(), recipe, total_steps(recipe, recipe.batch), {});
  FloatRows out(points.rows(), static_cast<Eigen::Index>(kMembers));
  engine->predict(ensemble, Observations::view(points),
                  {.mean = {}, .variance = {}, .members = {out.data(), static_cast<std::size_t>(points.rows()), kMembers}});
  return out.cast<double>();
}

// Between all members, mean over the points.
double variance_between(const Eigen::MatrixXd& members) {
  return (members.colwise() - members.rowwise().mean()).squaredNorm() /
         static_cast<double>((members.cols() - 1) * members.rows());
}

class ValueNoiseOfALinearModel : public testing::Test {
 protected:
  void SetUp() override {
    spec.spatial.lengthscales = {0.1};  // features that hardly resemble each other: training comes to its end
    for (Eigen::Index i = 0; i < data.values.rows(); ++i) data.weights.push_back(i % 2 == 0 ? 1.5F : 0.5F);
  }

  NetworkSpec spec = one_layer(Space::plane, 12);
  Observations data = observations(Space::plane, 300, 3);
  const FloatRows points = observations(Space::plane, 50, 4).coordinates;
};

// With 40 degrees of freedom and 12 directions the variance has a standard error of 6 %.
TEST_F(ValueNoiseOfALinearModel, GivesMembersTheSpreadOfThePosterior) {
  const Member member = draw_ensemble(spec, 5, 1).members[0];
  const Eigen::MatrixXd phi = features(spec, member, data.coordinates), at = features(spec, member, points);
  Eigen::MatrixXd precision = Eigen::MatrixXd::Identity(phi.cols(), phi.cols());
  for (Eigen::Index i = 0; i < phi.rows(); ++i) {
    const double weight = data.weights[static_cast<std::size_t>(i)];
    precision += weight / (kNoise * kNoise) * phi.row(i).transpose() * phi.row(i);
  }
  const double exact = at.cwiseProduct(at * precision.inverse()).sum() / static_cast<double>(at.rows());
  EXPECT_NEAR(variance_between(trained_at(spec, data, points, kNoise)) / exact, 1.0, 0.2);
  EXPECT_LT(variance_between(trained_at(spec, data, points, 0.0)) / exact, 0.05);
}

TEST_F(ValueNoiseOfALinearModel, LeavesTheMeanOfFiveMembersWhereItWas) {
  const Eigen::MatrixXd with = trained_at(spec, data, points, kNoise), without = trained_at(spec, data, points, 0.0);
  const auto mean_of = [](const Eigen::MatrixXd& members, Eigen::Index first) -> Eigen::VectorXd {
    return members.middleCols(first, kTogether).rowwise().mean();
  };
  const double sd = std::sqrt(variance_between(with));
  const auto apart = [&](Eigen::Index first) {
    return (mean_of(with, first) - mean_of(without, first)).norm() / std::sqrt(static_cast<double>(with.rows())) / sd;
  };
  EXPECT_LT(apart(0), 0.05);
  EXPECT_GT(apart(3), 0.1);  // that of any other five moves
}

}  // namespace
}  // namespace drift
