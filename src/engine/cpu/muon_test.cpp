#include "engine/cpu/muon.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include "core/random.h"

namespace drift::cpu {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;

Matrix normal_matrix(Eigen::Index rows, Eigen::Index cols, std::uint32_t substream) {
  RandomStream stream({.seed = 5, .purpose = Purpose::simulation}, substream);
  Matrix matrix(rows, cols);
  for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = stream.normal();
  return matrix;
}

// A matrix whose singular values fall geometrically from 1 to `least`.
Matrix conditioned_matrix(Eigen::Index rows, Eigen::Index cols, double least) {
  const Eigen::Index count = std::min(rows, cols);
  const Eigen::HouseholderQR<Eigen::MatrixXd> left(normal_matrix(rows, count, 1)), right(normal_matrix(cols, count, 2));
  Eigen::VectorXd values(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    values[i] = count == 1 ? 1.0 : std::pow(least, static_cast<double>(i) / static_cast<double>(count - 1));
  }
  const Eigen::MatrixXd u = left.householderQ() * Eigen::MatrixXd::Identity(rows, count);
  const Eigen::MatrixXd v = right.householderQ() * Eigen::MatrixXd::Identity(cols, count);
  return u * values.asDiagonal() * v.transpose();
}

// The iteration as it is written down, in double, from whichever side is smaller.
Matrix orthogonalised(const Matrix& u, int iterations) {
  const bool wide = u.rows() < u.cols();
  Matrix x = (wide ? Matrix(u.transpose()) : u) / u.norm();
  for (int k = 0; k < iterations; ++k) {
    const Matrix gram = x.transpose() * x;
    x = kA * x + x * (kB * gram + kC * gram * gram);
  }
  return wide ? Matrix(x.transpose()) : x;
}

std::vector<float> to_floats(const Matrix& matrix) { return {matrix.data(), matrix.data() + matrix.size()}; }

Matrix to_matrix(const std::vector<float>& numbers, Eigen::Index rows, Eigen::Index cols) {
  Matrix matrix(rows, cols);
  for (Eigen::Index i = 0; i < matrix.size(); ++i) matrix.data()[i] = static_cast<double>(numbers[static_cast<std::size_t>(i)]);
  return matrix;
}

// X_n as Muon makes it of a first gradient: the weights start at zero and the rate is 1 / sqrt(rows).
Matrix muon_direction(const Matrix& gradient, int iterations) {
  const auto rows = static_cast<std::size_t>(gradient.rows());
  std::vector<float> weights(static_cast<std::size_t>(gradient.size())), momentum(weights.size());
  const auto rate = static_cast<float>(1.0 / std::sqrt(static_cast<double>(rows)));
  Muon(rows, static_cast<std::size_t>(gradient.cols())).step({rate, 0.0F, iterations}, to_floats(gradient), weights, momentum);
  return -to_matrix(weights, gradient.rows(), gradient.cols());
}

Eigen::VectorXd singular_values(const Matrix& matrix) { return Eigen::BDCSVD<Eigen::MatrixXd>(matrix).singularValues(); }

// Frobenius norm of the difference of matrices whose singular values are near 1; that of [1000, 128] is 11. Rounding of the Gram
// matrix, 1e-7 of its largest eigenvalue, grows by 12 a step until the next Gram matrix, five steps on, and is seen where there
// are singular values that small; measured then: at most 2.4e-3, and 1.6e-3 for [1000, 128].
constexpr double kFloatVsDouble = 2e-4;
constexpr double kIllConditioned = 4e-3;

using Shape = std::tuple<int, int, double>;
class AnyMatrix : public testing::TestWithParam<Shape> {};

TEST_P(AnyMatrix, IsOrthogonalisedAsByTheDirectIterationInDouble) {
  const auto [rows, cols, least] = GetParam();
  // Rounded to float first, so that both start from the same numbers.
  const Matrix gradient = to_matrix(to_floats(conditioned_matrix(rows, cols, least)), rows, cols);
  // Beyond six, singular values near float32's rounding of the largest grow into the result, whichever way it is computed.
  for (const int iterations : {1, 2, 3, 4, 5, 6}) {
    const double error = (muon_direction(gradient, iterations) - orthogonalised(gradient, iterations)).norm();
    EXPECT_LT(error, iterations >= 5 && least < 0.01 ? kIllConditioned : kFloatVsDouble) << iterations << " iterations";
  }
}

INSTANTIATE_TEST_SUITE_P(WellAndIllConditioned, AnyMatrix,
                         testing::Values(Shape{150, 24, 0.5}, Shape{150, 24, 1e-3}, Shape{150, 24, 1e-6}, Shape{24, 150, 1e-6},
                                         Shape{40, 40, 1e-4}, Shape{1000, 128, 1e-3}, Shape{1000, 128, 1e-5}, Shape{100, 1, 1.0},
                                         Shape{1, 30, 1.0}, Shape{1, 1, 1.0}));

TEST(Muon, BringsSingularValuesNearOne) {
  const Matrix direction = muon_direction(normal_matrix(256, 32, 3), 5);
  const Eigen::VectorXd values = singular_values(direction);
  EXPECT_GT(values.minCoeff(), 0.65);
  EXPECT_LT(values.maxCoeff(), 1.25);
}

TEST(Muon, BearsAGradientOfLowRankHoweverManyIterations) {
  const Matrix gradient = normal_matrix(120, 2, 4) * normal_matrix(2, 30, 5);
  for (const int iterations : {5, 10, 40}) {
    const Eigen::VectorXd values = singular_values(muon_direction(gradient, iterations));
    EXPECT_GT(values[1], 0.65);
    EXPECT_LT(values[0], 1.25) << iterations;  // NaN fails here too
  }
}

TEST(Muon, DoesNotCareAboutTheGradientsScale) {
  const Matrix gradient = normal_matrix(40, 8, 6);
  const Matrix direction = muon_direction(gradient, 5);
  for (const double scale : {1e-30, 1e-6, 1e6, 1e30}) {
    EXPECT_LT((muon_direction(scale * gradient, 5) - direction).norm(), kFloatVsDouble) << scale;
  }
}

TEST(Muon, LeavesTheWeightsAloneWithoutGradientAndMomentum) {
  const std::vector<float> before = {1, 2, 3, 4, 5, 6};
  std::vector<float> weights = before, momentum(6);
  Muon muon(3, 2);
  muon.step({0.1F, 0.95F, 5}, std::vector<float>(6), weights, momentum);
  EXPECT_EQ(weights, before);
  // Numbers so small that the inverse of their norm is beyond float32.
  muon.step({0.1F, 0.95F, 5}, std::vector<float>(6, 1e-44F), weights, momentum);
  EXPECT_EQ(weights, before);
}

TEST(Muon, PassesNotANumberOn) {
  std::vector<float> weights(6), momentum(6), gradient = {1, 2, std::nanf(""), 4, 5, 6};
  Muon(3, 2).step({0.1F, 0.95F, 5}, gradient, weights, momentum);
  EXPECT_TRUE(std::isnan(weights[0]));
}

// Two steps by hand: M = mu M + g, U = g + mu M, an update of rate sqrt(rows) along X_n.
TEST(Muon, TakesNesterovStepsOfRateTimesTheRootOfTheRows) {
  constexpr Eigen::Index kRows = 50, kCols = 10;
  constexpr double kMomentum = 0.75, kRate = 0.125;
  const Matrix first = to_matrix(to_floats(normal_matrix(kRows, kCols, 7)), kRows, kCols);
  const Matrix second = to_matrix(to_floats(normal_matrix(kRows, kCols, 8)), kRows, kCols);
  Matrix expected = to_matrix(to_floats(normal_matrix(kRows, kCols, 9)), kRows, kCols);
  std::vector<float> weights = to_floats(expected), momentum(weights.size());
  Muon muon(kRows, kCols);
  Matrix expected_momentum = Matrix::Zero(kRows, kCols);
  for (const Matrix& gradient : {first, second}) {
    muon.step({kRate, kMomentum, 5}, to_floats(gradient), weights, momentum);
    expected_momentum = kMomentum * expected_momentum + gradient;
    expected -= kRate * std::sqrt(double{kRows}) * orthogonalised(gradient + kMomentum * expected_momentum, 5);
  }
  EXPECT_LT((to_matrix(momentum, kRows, kCols) - expected_momentum).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((to_matrix(weights, kRows, kCols) - expected).norm(), kFloatVsDouble);
}

}  // namespace
}  // namespace drift::cpu
