#include "tune/gaussian_process.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "core/random.h"
#include "tune/gradient_testing.h"

namespace drift {
namespace {

// Places and values in three coordinates, the last of them a choice of three words.
GpData some_data(Eigen::Index rows) {
  RandomStream random({.seed = 5, .purpose = Purpose::simulation});
  GpData data{.places = Eigen::MatrixXd(rows, 3), .values = Eigen::VectorXd(rows), .is_choice = {false, false, true}};
  for (Eigen::Index i = 0; i < rows; ++i) {
    data.places.row(i) << random.uniform(), random.uniform(), (static_cast<double>(i % 3) + 0.5) / 3.0;
    data.values[i] = std::sin(6.0 * data.places(i, 0)) + data.places(i, 1) * static_cast<double>(i % 3) + 0.1 * random.normal();
  }
  return data;
}

GpHyperparameters some_hyperparameters() {
  return {.lengthscale = Eigen::Vector3d(0.4, 0.9, 1.3), .variance = 1.7, .noise = 0.02, .mean = 0.3};
}

// The covariance written out anew: Matérn of smoothness 5/2.
double reference_covariance(const GpData& data, const GpHyperparameters& h, const Eigen::VectorXd& x, const Eigen::VectorXd& y) {
  double r2 = 0.0;
  for (Eigen::Index c = 0; c < x.size(); ++c) {
    const double gap = data.is_choice[static_cast<std::size_t>(c)] ? (x[c] == y[c] ? 0.0 : 1.0) : x[c] - y[c];
    r2 += std::pow(gap / h.lengthscale[c], 2);
  }
  const double r = std::sqrt(5.0 * r2);
  return h.variance * (1.0 + r + r * r / 3.0) * std::exp(-r);
}

Eigen::MatrixXd reference_matrix(const GpData& data, const GpHyperparameters& h) {
  const Eigen::Index n = data.places.rows();
  Eigen::MatrixXd K(n, n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) K(i, j) = reference_covariance(data, h, data.places.row(i), data.places.row(j));
    K(i, i) += h.noise;
  }
  return K;
}

TEST(MarginalLikelihood, IsTheDensityOfAMultivariateNormal) {
  const GpData data = some_data(12);
  const GpHyperparameters h = some_hyperparameters();
  const Eigen::MatrixXd K = reference_matrix(data, h);
  const Eigen::VectorXd residual = data.values.array() - h.mean;
  const double expected =
      -0.5 * residual.dot(K.inverse() * residual) - 0.5 * std::log(K.determinant()) - 6.0 * std::log(2.0 * std::numbers::pi);
  Eigen::VectorXd gradient;
  EXPECT_NEAR(MarginalLikelihood(data)(pack(h), gradient), expected, 1e-7);
}

TEST(MarginalLikelihood, GradientAgreesWithFiniteDifferences) {
  const GpData data = some_data(20);
  const MarginalLikelihood likelihood(data);
  const auto value = [&](const Eigen::VectorXd& packed) {
    Eigen::VectorXd unused;
    return likelihood(packed, unused);
  };
  const Eigen::VectorXd packed = pack(some_hyperparameters());
  Eigen::VectorXd gradient;
  likelihood(packed, gradient);
  EXPECT_LT(gradient_error(value, packed, gradient), kGradientTolerance);
  for (Eigen::Index i = 0; i < packed.size(); ++i) {  // negative control: a flipped sign anywhere is seen
    Eigen::VectorXd flipped = gradient;
    flipped[i] = -flipped[i];
    EXPECT_GT(gradient_error(value, packed, flipped), 100.0 * kGradientTolerance) << "entry " << i;
  }
}

TEST(GaussianProcess, PosteriorIsTheConditionalNormal) {
  const GpData data = some_data(15);
  const GpHyperparameters h = some_hyperparameters();
  const GaussianProcess process(data, h);
  const Eigen::Vector3d place(0.31, 0.77, 0.5);
  Eigen::VectorXd k(15);
  for (Eigen::Index i = 0; i < 15; ++i) k[i] = reference_covariance(data, h, data.places.row(i), place);
  const Eigen::MatrixXd inverse = reference_matrix(data, h).inverse();
  const Eigen::VectorXd residual = data.values.array() - h.mean;
  const auto posterior = process.at(place);
  EXPECT_NEAR(posterior.mean, h.mean + k.dot(inverse * residual), 1e-7);
  EXPECT_NEAR(posterior.variance, h.variance - k.dot(inverse * k), 1e-7);

  Eigen::VectorXd mean;
  Eigen::VectorXd variance;
  process.at(Eigen::MatrixXd(place.transpose()), mean, variance);
  EXPECT_NEAR(mean[0], posterior.mean, 1e-12);
  EXPECT_NEAR(variance[0], posterior.variance, 1e-12);
}

TEST(GaussianProcess, SlopesAgreeWithFiniteDifferencesAndVanishForChoices) {
  const GaussianProcess process(some_data(15), some_hyperparameters());
  const Eigen::Vector3d place(0.31, 0.77, 0.5);
  const auto posterior = process.at(place);
  const auto mean = [&](const Eigen::VectorXd& x) { return process.at(Eigen::Vector3d(x[0], x[1], 0.5)).mean; };
  const auto variance = [&](const Eigen::VectorXd& x) { return process.at(Eigen::Vector3d(x[0], x[1], 0.5)).variance; };
  EXPECT_LT(gradient_error(mean, place.head(2), posterior.mean_slope.head(2)), kGradientTolerance);
  EXPECT_LT(gradient_error(variance, place.head(2), posterior.variance_slope.head(2)), kGradientTolerance);
  EXPECT_EQ(posterior.mean_slope[2], 0.0);
  EXPECT_EQ(posterior.variance_slope[2], 0.0);
}

TEST(GaussianProcess, BelievingItsOwnMeanLeavesTheMeanAndLowersTheVariance) {
  const GaussianProcess process(some_data(15), some_hyperparameters());
  const Eigen::Vector3d place(0.31, 0.77, 0.5);
  const Eigen::Vector3d near(0.35, 0.7, 0.5);
  const GaussianProcess believer = process.believing(place);
  EXPECT_NEAR(believer.at(near).mean, process.at(near).mean, 1e-9);
  EXPECT_LT(believer.at(near).variance, process.at(near).variance);
  EXPECT_LT(believer.at(place).variance, 0.03);
}

TEST(GaussianProcess, BearsPointsThatCoincideWithoutNoise) {
  GpData data{.places = Eigen::MatrixXd::Constant(6, 1, 0.5), .values = Eigen::VectorXd::Zero(6), .is_choice = {false}};
  data.places(0, 0) = 0.2;
  const GaussianProcess process(data,
                                {.lengthscale = Eigen::VectorXd::Constant(1, 0.5), .variance = 1.0, .noise = 1e-12, .mean = 0.0});
  EXPECT_TRUE(std::isfinite(process.at(Eigen::VectorXd::Constant(1, 0.5)).mean));
}

}  // namespace
}  // namespace drift
