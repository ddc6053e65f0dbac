#include "gp/small_factor.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "core/random.h"

namespace drift::gp {
namespace {

using Eigen::Index;

// An exponential covariance of points on a line, and right-hand sides.
struct System {
  Eigen::MatrixXd k, sides;
};
System some_system(Index n, Index sides) {
  RandomStream stream({.seed = 3, .purpose = Purpose::simulation});
  System system{Eigen::MatrixXd(n, n), Eigen::MatrixXd(n, sides)};
  Eigen::VectorXd x(n);
  for (double& at : x) at = stream.normal();
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) system.k(i, j) = std::exp(-std::abs(x[i] - x[j])) + (i == j ? 0.01 : 0.0);
  }
  for (Index j = 0; j < sides; ++j) {
    for (Index i = 0; i < n; ++i) system.sides(i, j) = stream.normal();
  }
  return system;
}

SmallFactor filled(const System& system) {
  SmallFactor factor;
  const auto n = static_cast<std::size_t>(system.k.rows()), sides = static_cast<std::size_t>(system.sides.cols());
  factor.resize(n, sides);
  for (std::size_t j = 0; j < n; ++j) {
    for (std::size_t i = j; i < n; ++i) factor.column(j)[i] = system.k(static_cast<Index>(i), static_cast<Index>(j));
    for (std::size_t s = 0; s < sides; ++s) factor.side(s, j) = system.sides(static_cast<Index>(j), static_cast<Index>(s));
  }
  return factor;
}

constexpr double kRounding = 1e-11;  // some hundred terms, a condition of 1e4

TEST(SmallFactor, IsCholeskysWithItsRightHandSidesSolved) {
  for (const Index n : {1, 2, 3, 4, 5, 7, 8, 24, 31, 96, 130, 201}) {
    for (const Index sides : {1, 3, 4}) {
      const System system = some_system(n, sides);
      SmallFactor factor = filled(system);
      ASSERT_EQ(factor.factor(), 0) << n;
      const Eigen::MatrixXd lower = system.k.llt().matrixL();
      const Eigen::MatrixXd solved = lower.triangularView<Eigen::Lower>().solve(system.sides);
      double worst = 0.0;
      for (Index j = 0; j < n; ++j) {
        const auto column = static_cast<std::size_t>(j);
        for (Index i = j; i < n; ++i) worst = std::max(worst, std::abs(factor.column(column)[i] - lower(i, j)));
        for (Index s = 0; s < sides; ++s)
          worst = std::max(worst, std::abs(factor.side(static_cast<std::size_t>(s), column) - solved(j, s)));
      }
      EXPECT_LT(worst, kRounding) << n << " rows, " << sides << " sides";
      Eigen::MatrixXd back = system.sides;
      factor.solve_transposed(back.data(), static_cast<std::size_t>(sides));
      const Eigen::MatrixXd wanted = lower.transpose().triangularView<Eigen::Upper>().solve(system.sides);
      EXPECT_LT((back - wanted).cwiseAbs().maxCoeff(), kRounding * wanted.cwiseAbs().maxCoeff() * 10.0) << n;
    }
  }
}

TEST(SmallFactor, NamesThePivotThatIsNotPositive) {
  for (const Index bad : {0, 3, 6, 17}) {
    System system = some_system(19, 2);
    system.k(bad, bad) = -1.0;
    EXPECT_EQ(filled(system).factor(), bad + 1);
    system.k(bad, bad) = std::nan("");
    EXPECT_EQ(filled(system).factor(), bad + 1);
  }
}

TEST(SmallFactor, ForgetsWhatItHeldBefore) {
  SmallFactor factor = filled(some_system(130, 4));
  ASSERT_EQ(factor.factor(), 0);
  const System small = some_system(9, 2);
  SmallFactor fresh = filled(small);
  factor.resize(9, 2);
  for (std::size_t j = 0; j < 9; ++j) std::copy(fresh.column(j) + j, fresh.column(j) + 11, factor.column(j) + j);
  ASSERT_EQ(factor.factor(), 0);
  ASSERT_EQ(fresh.factor(), 0);
  for (std::size_t j = 0; j < 9; ++j) {
    for (std::size_t i = j; i < 11; ++i) EXPECT_EQ(factor.column(j)[i], fresh.column(j)[i]);
  }
}

}  // namespace
}  // namespace drift::gp
