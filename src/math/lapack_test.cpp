#include "math/lapack.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <thread>
#include <vector>

#include "drift/error.h"

namespace drift {
namespace {

using Eigen::MatrixXd;

// Eigen's own algebra is the reference. Sums of at most 150 terms of size one.
constexpr double kRounding = 1e-12;

MatrixXd numbers(Eigen::Index rows, Eigen::Index cols, double phase) {
  MatrixXd out(rows, cols);
  for (Eigen::Index j = 0; j < cols; ++j) {
    for (Eigen::Index i = 0; i < rows; ++i) {
      const auto k = static_cast<double>(i + j * rows);
      out(i, j) = std::sin(phase + 0.7 * k + 0.013 * k * k);
    }
  }
  return out;
}

MatrixXd positive(Eigen::Index n) {
  const MatrixXd a = numbers(n, n, 1.0);
  return a * a.transpose() + MatrixXd::Identity(n, n);
}

MatrixXd lower_of(const MatrixXd& a) { return a.triangularView<Eigen::Lower>(); }

TEST(Eigen, LeavesThreadsToUs) { EXPECT_EQ(Eigen::nbThreads(), 1); }

TEST(Lapack, ProductsAgreeWithEigenForEveryTransposition) {
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const MatrixXd a = ta ? numbers(7, 5, 0.1) : numbers(5, 7, 0.1);
      const MatrixXd b = tb ? numbers(6, 7, 0.2) : numbers(7, 6, 0.2);
      const MatrixXd before = numbers(5, 6, 0.3);
      MatrixXd c = before;
      multiply(2.0, a, ta, b, tb, 0.5, c);
      const MatrixXd left = ta ? MatrixXd(a.transpose()) : a;
      const MatrixXd right = tb ? MatrixXd(b.transpose()) : b;
      EXPECT_LT((c - (2.0 * left * right + 0.5 * before)).cwiseAbs().maxCoeff(), kRounding);
    }
  }
}

TEST(Lapack, TakesBlocksOfALargerMatrix) {
  const MatrixXd whole = numbers(20, 20, 0.4);
  MatrixXd out = MatrixXd::Zero(20, 20);
  multiply(1.0, whole.block(2, 3, 4, 5), false, whole.block(1, 7, 5, 6), false, 0.0, out.block(8, 9, 4, 6));
  EXPECT_LT((out.block(8, 9, 4, 6) - whole.block(2, 3, 4, 5) * whole.block(1, 7, 5, 6)).cwiseAbs().maxCoeff(), kRounding);
  out.block(8, 9, 4, 6).setZero();
  EXPECT_EQ(out.cwiseAbs().maxCoeff(), 0.0);
}

TEST(Lapack, ProductsWithThemselvesFillTheLowerTriangle) {
  for (const bool transpose : {false, true}) {
    const MatrixXd a = transpose ? numbers(7, 5, 0.5) : numbers(5, 7, 0.5);
    MatrixXd c = MatrixXd::Zero(5, 5);
    multiply_self(1.5, a, transpose, 0.0, c);
    const MatrixXd full = 1.5 * (transpose ? MatrixXd(a.transpose() * a) : MatrixXd(a * a.transpose()));
    EXPECT_LT((lower_of(c) - lower_of(full)).cwiseAbs().maxCoeff(), kRounding);
  }
}

TEST(Lapack, FactorsSolvesAndInvertsAsEigenDoes) {
  const Eigen::Index n = 150;  // more than one block
  const MatrixXd k = positive(n);
  MatrixXd l = k;
  ASSERT_EQ(factor_in_place(l), 0);
  const MatrixXd reference = k.llt().matrixL();
  EXPECT_LT((lower_of(l) - reference).cwiseAbs().maxCoeff(), kRounding);

  const MatrixXd b = numbers(n, 3, 0.6);
  for (const bool transpose : {false, true}) {
    const MatrixXd op = transpose ? MatrixXd(reference.transpose()) : reference;
    for (const Eigen::Index columns : {1, 3}) {  // a vector takes another road
      MatrixXd x = b.leftCols(columns);
      solve_lower(l, transpose, x);
      EXPECT_LT((op * x - b.leftCols(columns)).cwiseAbs().maxCoeff(), kRounding);
    }
    MatrixXd y = b.transpose();
    solve_lower_right(l, transpose, y);
    EXPECT_LT((y * op - b.transpose()).cwiseAbs().maxCoeff(), kRounding);
  }
  MatrixXd inverse = l;
  invert_factored(inverse);
  const MatrixXd full = inverse.selfadjointView<Eigen::Lower>();
  EXPECT_LT((full * k - MatrixXd::Identity(n, n)).cwiseAbs().maxCoeff(), 1e-10);
  MatrixXd lower_inverse = l;
  invert_lower(lower_inverse);
  EXPECT_LT((lower_of(lower_inverse) * reference - MatrixXd::Identity(n, n)).cwiseAbs().maxCoeff(), kRounding);
}

TEST(Lapack, NamesTheFirstPivotThatIsNotPositive) {
  MatrixXd k = positive(6);
  k(3, 3) = -1.0;
  EXPECT_EQ(factor_in_place(k), 4);
}

TEST(Lapack, RejectsSizesThatDoNotGoTogether) {
  MatrixXd a = numbers(3, 4, 0.0);
  MatrixXd c = numbers(3, 3, 0.0);
  EXPECT_THROW(multiply(1.0, a, false, a, false, 0.0, c), Error);
  EXPECT_THROW(factor_in_place(a), Error);
  MatrixXd b = numbers(4, 1, 0.0);
  EXPECT_THROW(solve_lower(c, false, b), Error);
}

TEST(Lapack, GivesTheSameNumbersFromSeveralThreadsAtOnce) {
  const MatrixXd k = positive(150);
  MatrixXd alone = k;
  factor_in_place(alone);
  std::vector<MatrixXd> together(4, k);
  std::vector<std::jthread> threads;
  for (MatrixXd& l : together) threads.emplace_back([&l] { factor_in_place(l); });
  threads.clear();
  for (const MatrixXd& l : together) EXPECT_EQ(l, alone);
}

}  // namespace
}  // namespace drift
