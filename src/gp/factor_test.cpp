#include "gp/factor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <chrono>
#include <cmath>
#include <thread>

#include "drift/error.h"
#include "gp/gp_testing.h"

namespace drift::gp {
namespace {

using Eigen::MatrixXd;

TEST(Factor, IsCholeskysWhereNothingIsAmiss) {
  const MatrixXd a = plane_points(12, 12, 1);
  const MatrixXd k = a * a.transpose() + MatrixXd::Identity(12, 12);
  const Factor f = factor(k, "test", "nothing");
  EXPECT_EQ(f.jitter, 0.0);
  EXPECT_LT((f.lower - MatrixXd(k.llt().matrixL())).cwiseAbs().maxCoeff(), 1e-13);
  EXPECT_NEAR(f.log_determinant(), std::log(k.determinant()), 1e-11);
}

// Larger than what is factored in one call.
MatrixXd large_covariance() {
  constexpr Eigen::Index kSize = 5000;
  MatrixXd k(kSize, kSize);
  for (Eigen::Index j = 0; j < kSize; ++j) {
    for (Eigen::Index i = 0; i < kSize; ++i) k(i, j) = std::exp(-0.5 * std::abs(static_cast<double>(i - j)));
  }
  return k;
}

// Of exp(-|x - x'| / 2) on a line: a first-order autoregression.
TEST(Factor, OfALargeMatrixIsTheAutoregressionsOwn) {
  const double step = std::exp(-0.5), fresh = std::sqrt(1.0 - step * step);
  const Factor f = factor(large_covariance(), "test", "nothing");
  EXPECT_EQ(f.jitter, 0.0);
  for (const auto& [i, j] :
       std::vector<std::pair<int, int>>{{1, 0}, {511, 508}, {512, 511}, {2000, 1998}, {4999, 4990}, {4999, 4999}}) {
    const double expected = std::pow(step, i - j) * (j == 0 ? 1.0 : fresh);
    EXPECT_NEAR(f.lower(i, j), expected, 1e-12) << i << ", " << j;
    if (i > j) {
      EXPECT_EQ(f.lower(j, i), 0.0);
    }
  }
}

TEST(Factor, OfALargeMatrixIsStoppedInItsMidst) {
  std::stop_source stop;
  const MatrixXd k = large_covariance();
  std::jthread asking([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request_stop();
  });
  EXPECT_THROW(factor(k, "test", "nothing", {.stop = stop.get_token()}), Stopped);
}

TEST(Factor, ReportsTheJitterThatAPointSeenTwiceNeeds) {
  const Eigen::VectorXd v = normal_numbers(6, 1);
  const MatrixXd k = v * v.transpose();  // of rank one
  const Factor f = factor(k, "test", "nothing");
  EXPECT_GT(f.jitter, 0.0);
  EXPECT_LE(f.jitter, 1e-6 * k.diagonal().mean());
  const MatrixXd with_jitter = k + f.jitter * MatrixXd::Identity(6, 6);
  EXPECT_LT((f.lower * f.lower.transpose() - with_jitter).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(Factor, SaysWhereAndWhatToDoWhenThereIsNone) {
  const MatrixXd k = -MatrixXd::Identity(5, 5);
  EXPECT_FALSE(try_factor(k).has_value());
  try {
    factor(k, "svgp, layer 2", "give fewer inducing points");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::HasSubstr("svgp, layer 2: the covariance of 5 points"),
                                             testing::HasSubstr("; give fewer inducing points")));
  }
}

TEST(Factor, NeverLetsANanThrough) {
  MatrixXd k = MatrixXd::Identity(4, 4);
  k(2, 1) = NAN;
  EXPECT_THROW(factor(k, "test", "look at the data"), Error);
  EXPECT_FALSE(try_factor(k).has_value());
}

}  // namespace
}  // namespace drift::gp
