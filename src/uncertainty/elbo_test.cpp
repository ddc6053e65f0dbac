// The evidence lower bound for a linear-Gaussian model, a network of one layer, where all is known in closed form. With features
// phi, A = phi^T phi / sigma^2 + I and mu = A^-1 phi^T y / sigma^2, the posterior is N(mu, A^-1), the evidence
// log N(y; 0, phi phi^T + sigma^2 I), the best factorised q has means mu and variances 1 / A_ii (Bishop 2006, section 10.1.2),
// and the bound there is the evidence less KL(q | posterior) = (sum log A_ii - log det A) / 2.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/uncertainty.h"
#include "train/variational.h"
#include "uncertainty/uncertainty_testing.h"

namespace drift {
namespace {

using namespace uncertainty_testing;

constexpr double kSigma = 0.3;
constexpr Eigen::Index kObservations = 80, kFeatures = 12;

class LinearModel : public testing::Test {
 protected:
  LinearModel() {
    make_variational(ensemble_);
    phi_ = features(spec_, ensemble_.members[0], data_.coordinates);
    precision_ = phi_.transpose() * phi_ / (kSigma * kSigma) + Eigen::MatrixXd::Identity(kFeatures, kFeatures);
    mean_ = precision_.llt().solve(phi_.transpose() * data_.values.cast<double>() / (kSigma * kSigma));
    recipe_.noise_sd = kSigma;
  }

  double evidence() const {
    const Eigen::MatrixXd k = phi_ * phi_.transpose() + kSigma * kSigma * Eigen::MatrixXd::Identity(kObservations, kObservations);
    const Eigen::LLT<Eigen::MatrixXd> factor(k);
    const Eigen::VectorXd y = data_.values.cast<double>();
    const double log_determinant = 2 * factor.matrixLLT().diagonal().array().log().sum();
    return -0.5 * (y.dot(factor.solve(y)) + log_determinant + kObservations * std::log(2 * std::numbers::pi));
  }
  double gap_at_optimum() const {
    const double log_determinant = 2 * precision_.llt().matrixLLT().diagonal().array().log().sum();
    return 0.5 * (precision_.diagonal().array().log().sum() - log_determinant);
  }
  void put_at_optimum() {
    for (Eigen::Index i = 0; i < kFeatures; ++i) {
      ensemble_.members[0].parameters[static_cast<std::size_t>(i)] = static_cast<float>(mean_(i));
      ensemble_.members[0].log_sd[static_cast<std::size_t>(i)] = static_cast<float>(-0.5 * std::log(precision_(i, i)));
    }
  }
  Elbo bound(std::size_t draws = 3000) { return elbo(*engine_, ensemble_, data_.set(), recipe_, draws); }

  NetworkSpec spec_ = one_layer(Space::plane, kFeatures);
  Ensemble ensemble_ = draw_ensemble(spec_, 4, 1);
  Observations data_ = observations(Space::plane, kObservations, 1);
  Recipe recipe_;
  std::unique_ptr<Engine> engine_ = make_cpu_engine({.threads = 1});
  Eigen::MatrixXd phi_, precision_;
  Eigen::VectorXd mean_;
};

// The log likelihood's sd over draws is about sqrt(H / 2) = 2.4 at the optimum; over 3000 draws five standard errors are 0.22.
constexpr double kDrawError = 0.22;

TEST_F(LinearModel, HasItsBoundAtTheOptimumBelowTheEvidenceByTheKnownGap) {
  put_at_optimum();
  EXPECT_GT(gap_at_optimum(), 4 * kDrawError) << "the features are too nearly orthogonal for this check";
  EXPECT_NEAR(bound().value(), evidence() - gap_at_optimum(), kDrawError);
}

TEST_F(LinearModel, HasATightBoundWhereThePosteriorFactorises) {
  // One feature alone: the factorised family holds the posterior.
  NetworkSpec spec = one_layer(Space::plane, 1);
  Ensemble ensemble = draw_ensemble(spec, 4, 1);
  make_variational(ensemble);
  const Eigen::VectorXd phi = features(spec, ensemble.members[0], data_.coordinates), y = data_.values.cast<double>();
  const double a = phi.squaredNorm() / (kSigma * kSigma) + 1.0, mu = phi.dot(y) / (kSigma * kSigma) / a;
  ensemble.members[0].parameters[0] = static_cast<float>(mu);
  ensemble.members[0].log_sd[0] = static_cast<float>(-0.5 * std::log(a));
  const double quadratic = (y.squaredNorm() - kSigma * kSigma * a * mu * mu) / (kSigma * kSigma);  // Woodbury
  const double evidence = -0.5 * (quadratic + std::log(a) + kObservations * std::log(2 * std::numbers::pi * kSigma * kSigma));
  EXPECT_NEAR(elbo(*engine_, ensemble, data_.set(), recipe_, 3000).value(), evidence, kDrawError);
}

TEST_F(LinearModel, HasALowerBoundElsewhere) {
  put_at_optimum();
  const double best = bound().value();
  for (const float change : {-0.7F, 0.7F}) {
    const float before = ensemble_.members[0].log_sd[3];
    ensemble_.members[0].log_sd[3] = before + change;
    EXPECT_LT(bound().value(), best) << "the draws are the same";
    ensemble_.members[0].log_sd[3] = before;
  }
  ensemble_.members[0].parameters[2] += 0.5F;
  EXPECT_LT(bound().value(), best);
}

TEST_F(LinearModel, IsTrainedToTheOptimumOfTheFactorisedFamily) {
  recipe_.optimiser = Optimiser::adam;
  recipe_.batch = 40;  // two steps an epoch: the KL term is scaled for the data, not for the batch
  recipe_.epochs = 20000;
  recipe_.rate = 1e-2;
  TrainingState state;
  train(*engine_, ensemble_, state, data_.set(), recipe_);
  for (Eigen::Index i = 0; i < kFeatures; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double sd = 1.0 / std::sqrt(precision_(i, i));
    // What the noise of the last steps, small as the schedule makes them, leaves.
    EXPECT_NEAR(ensemble_.members[0].parameters[at], mean_(i), 0.2 * sd) << i;
    EXPECT_NEAR(ensemble_.members[0].log_sd[at], std::log(sd), 0.05) << i;
  }
  const double reached = bound().value();
  EXPECT_LT(reached, evidence());
  EXPECT_NEAR(reached, evidence() - gap_at_optimum(), 2 * kDrawError);
}

TEST(KlFromPrior, IsTheIntegral) {
  for (const auto& [mean, log_sd] : {std::pair{0.0F, 0.0F}, {0.7F, -1.0F}, {-2.0F, -3.5F}, {1.5F, 0.6F}}) {
    // Simpson over twelve standard deviations either way of q log(q / p).
    const double sd = std::exp(static_cast<double>(log_sd));
    constexpr int kIntervals = 4000;
    double sum = 0.0;
    for (int i = 0; i <= kIntervals; ++i) {
      const double z = -12.0 + 24.0 * i / kIntervals, x = static_cast<double>(mean) + sd * z;
      const double log_q = -0.5 * z * z - std::log(sd), log_p = -0.5 * x * x;
      sum += (i == 0 || i == kIntervals ? 1 : i % 2 == 1 ? 4 : 2) * std::exp(-0.5 * z * z) * (log_q - log_p);
    }
    const double integral = sum * 24.0 / kIntervals / 3.0 / std::sqrt(2.0 * std::numbers::pi);
    EXPECT_NEAR(kl_from_prior(std::vector<float>{mean}, std::vector<float>{log_sd}), integral, 1e-9) << mean << " " << log_sd;
  }
  EXPECT_EQ(kl_from_prior(std::vector<float>(3, 0.0F), std::vector<float>(3, 0.0F)), 0.0);
}

TEST(HuberLikelihood, IntegratesToOne) {
  // The density of one observation as a function of its value: a network that is certain, so that only the value moves.
  const NetworkSpec spec = one_layer(Space::plane, 1);
  Ensemble ensemble = draw_ensemble(spec, 4, 1);
  make_variational(ensemble, 1e-20);
  ensemble.members[0].parameters[0] = 0.0F;
  const auto engine = make_cpu_engine({.threads = 1});
  Observations one = observations(Space::plane, 1, 1);
  one.weights = {0.6F};
  for (const LossKind kind : {LossKind::huber, LossKind::squared}) {
    Recipe recipe;
    recipe.loss = kind;
    recipe.huber_delta = 0.5;
    recipe.noise_sd = 0.4;
    double sum = 0.0;
    for (double y = -25.0; y < 25.0; y += 0.02) {
      one.values(0, 0) = static_cast<float>(y);
      sum += 0.02 * std::exp(elbo(*engine, ensemble, one.set(), recipe, 1).log_likelihood);
    }
    EXPECT_NEAR(sum, 1.0, 1e-5);
  }
}

TEST(VariationalNetwork, ComesBackFromItsFilesAndGoesOnToTheSameResult) {
  NetworkSpec spec = default_spec(Space::plane, 2, false);
  spec.spatial.layers = 2;
  spec.features = 30;
  spec.bottleneck = 5;
  const Observations data = observations(Space::plane, 600, 3);
  Recipe recipe;
  recipe.batch = 200;
  recipe.epochs = 5;
  const auto train_to = [&](Ensemble& ensemble, TrainingState& state, std::uint64_t step, int threads) {
    make_cpu_engine({.threads = threads})->advance(ensemble, state, data.set(), recipe, step, {});
  };
  Ensemble whole = draw_ensemble(spec, 1, 2), halted = whole;
  make_variational(whole);
  make_variational(halted);
  TrainingState whole_state, state;
  train_to(whole, whole_state, 15, 1);
  train_to(halted, state, 7, 3);
  const ScratchFolder folder;
  save_checkpoint(folder / "c", halted, state, recipe);
  Checkpoint loaded = load_checkpoint(folder / "c");
  EXPECT_TRUE(is_variational(loaded.ensemble));
  train_to(loaded.ensemble, loaded.state, 15, 2);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_EQ(loaded.ensemble.members[j].parameters, whole.members[j].parameters);
    EXPECT_EQ(loaded.ensemble.members[j].log_sd, whole.members[j].log_sd);
    EXPECT_EQ(loaded.state.members[j].moment2, whole_state.members[j].moment2);
  }
  std::string bytes = read_bytes(folder / "c");
  bytes.replace(bytes.find("member.1.log_sd"), 15, "member.1.log_sq");
  write_bytes(folder / "damaged", bytes);
  EXPECT_THROW(load_checkpoint(folder / "damaged"), Error);
  save_model(folder / "m", whole);
  EXPECT_EQ(load_model(folder / "m").ensemble.members[1].log_sd, whole.members[1].log_sd);
}

TEST(VariationalNetwork, RefusesDropoutBesidesAndMembersOfTwoKinds) {
  Ensemble ensemble = draw_ensemble(one_layer(Space::plane, 10), 1, 2);
  make_variational(ensemble);
  const Observations data = observations(Space::plane, 50, 3);
  const auto engine = make_cpu_engine({.threads = 1});
  Recipe recipe;
  recipe.dropout = 0.1;
  TrainingState state;
  EXPECT_THROW(engine->advance(ensemble, state, data.set(), recipe, 1, {}), UsageError);
  ensemble.members[1].log_sd.clear();
  TrainingState other;
  EXPECT_THROW(engine->advance(ensemble, other, data.set(), Recipe{}, 1, {}), UsageError);
  const ScratchFolder folder;
  EXPECT_THROW(save_model(folder / "m", ensemble), UsageError);
}

}  // namespace
}  // namespace drift
