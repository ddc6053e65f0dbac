#include "features/structured.h"

#include <gtest/gtest.h>

#include <cmath>

#include "features/gram_testing.h"

namespace drift {
namespace {

using gram::ErrorCurve;
using gram::Points;

// H_ij = (-1)^popcount(i & j).
Eigen::MatrixXd hadamard(std::size_t n) {
  return Eigen::MatrixXd::NullaryExpr(
      static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n),
      [](Eigen::Index i, Eigen::Index j) { return std::popcount(static_cast<unsigned>(i & j)) % 2 == 0 ? 1.0 : -1.0; });
}

// The draw written out as a dense matrix of frequencies [dimensions + coordinates, features].
gram::PlanarDraw dense(const FourierDraw& draw, Eigen::Index dimensions, Eigen::Index coordinates, Eigen::Index features) {
  const std::size_t n = hadamard_size(static_cast<std::size_t>(dimensions));
  const std::size_t blocks = hadamard_blocks(static_cast<std::size_t>(dimensions), static_cast<std::size_t>(features));
  gram::FloatMatrix signs(3 * blocks, n);
  std::vector<float> lengths(blocks * n);
  gram::PlanarDraw result{gram::FloatMatrix(dimensions + coordinates, features),
                          std::vector<float>(static_cast<std::size_t>(features))};
  gram::FloatMatrix further(coordinates, features);
  draw_structured(draw, static_cast<std::size_t>(dimensions),
                  {.signs = {signs.data(), 3 * blocks, n},
                   .lengths = lengths,
                   .coordinates = {further.data(), static_cast<std::size_t>(coordinates), static_cast<std::size_t>(features)},
                   .phases = result.phases});
  const Eigen::MatrixXd h = hadamard(n);
  for (std::size_t block = 0; block < blocks; ++block) {
    const auto d = [&](std::size_t i) -> Eigen::VectorXd {
      return signs.row(static_cast<Eigen::Index>(3 * block + i)).transpose().cast<double>();
    };
    const Eigen::MatrixXd product = h * d(2).asDiagonal() * h * d(1).asDiagonal() * h * d(0).asDiagonal();
    for (std::size_t i = 0; i < n && static_cast<Eigen::Index>(block * n + i) < features; ++i) {
      const auto feature = static_cast<Eigen::Index>(block * n + i);
      result.frequencies.col(feature).head(dimensions) =
          (product.row(static_cast<Eigen::Index>(i)).head(dimensions).transpose() * lengths[block * n + i]).cast<float>();
    }
  }
  result.frequencies.bottomRows(coordinates) = further;
  return result;
}

ErrorCurve error_curve(const Covariance& covariance, Eigen::Index dimensions, Eigen::Index coordinates, const Points& points) {
  return gram::error_curve(gram::exact_planar_gram(covariance, points), [&](Eigen::Index features, std::uint64_t seed) {
    const FourierDraw draw{covariance, Frequencies::structured, {.seed = seed}};
    return gram::gram_of(gram::planar_features(dense(draw, dimensions, coordinates, features), points));
  });
}

// As for the dense draws: the slope of log error against log H, over 16 seeds, scatters by 0.02.
constexpr double kSlopeTolerance = 0.08;

TEST(StructuredFrequencies, GiveTheCovarianceWithAnErrorThatFallsAsOneOverRootH) {
  for (const Covariance& covariance :
       {Covariance{Family::matern, 1.5}, Covariance{Family::matern, 0.5}, Covariance{Family::squared_exponential}}) {
    EXPECT_NEAR(error_curve(covariance, 16, 0, gram::plane_points(12, 16, 1.5, 1)).slope(), -0.5, kSlopeTolerance);
    EXPECT_NEAR(error_curve(covariance, 11, 0, gram::plane_points(12, 11, 1.5, 1)).slope(), -0.5, kSlopeTolerance) << "padded";
    EXPECT_NEAR(error_curve(covariance, 16, 2, gram::plane_points(12, 18, 1.5, 1)).slope(), -0.5, kSlopeTolerance)
        << "with coordinates";
  }
}

TEST(StructuredFrequencies, AreAsGoodAsOrthogonalOnes) {
  const Covariance covariance{Family::squared_exponential};
  const Points points = gram::plane_points(12, 16, 1.0, 3);
  const double structured = error_curve(covariance, 16, 0, points).single_feature_error();
  const ErrorCurve orthogonal =
      gram::error_curve(gram::exact_planar_gram(covariance, points), [&](Eigen::Index features, std::uint64_t seed) {
        return gram::gram_of(gram::planar_features(
            gram::draw_planar({covariance, Frequencies::orthogonal, {.seed = seed}}, 16, features), points));
      });
  EXPECT_LT(structured, 1.1 * orthogonal.single_feature_error());
}

TEST(StructuredFrequencies, AreOrthogonalWithinABlockWhenNothingIsPadded) {
  const gram::PlanarDraw draw = dense({{Family::matern, 1.5}, Frequencies::structured, {.seed = 4}}, 16, 0, 32);
  const Eigen::MatrixXd directions = draw.frequencies.cast<double>().colwise().normalized();
  const Eigen::MatrixXd cosines = directions.transpose() * directions;
  for (Eigen::Index i = 0; i < 16; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) EXPECT_LT(std::abs(cosines(i, j)), 3e-7);  // float rounding of sixteen products
    EXPECT_GT(cosines.row(i).tail(16).cwiseAbs().maxCoeff(), 1e-3) << "blocks are drawn apart";
  }
}

}  // namespace
}  // namespace drift
