#include "features/fourier.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <functional>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

#include "drift/error.h"
#include "features/covariance.h"
#include "features/gram_testing.h"

namespace drift {
namespace {

using gram::ErrorCurve;
using gram::kErrorTolerance;
using gram::kSlopeTolerance;
using gram::Points;

constexpr Covariance kSquaredExponential{.family = Family::squared_exponential};
constexpr Covariance matern(double nu) { return {.family = Family::matern, .nu = nu}; }

ErrorCurve planar_error_curve(const Covariance& covariance, Frequencies frequencies, const Points& points) {
  return gram::error_curve(gram::exact_planar_gram(covariance, points), [&](Eigen::Index features, std::uint64_t seed) {
    const FourierDraw draw{covariance, frequencies, {.seed = seed}};
    return gram::gram_of(gram::planar_features(gram::draw_planar(draw, points.cols(), features), points));
  });
}

// The error of a single feature, in root mean square over pairs: with delta = x - y,
// 2 cos(w.x + b) cos(w.y + b) = cos(w.delta) + cos(w.(x + y) + 2b) has the variance 1 + k(2 delta)/2 - k(delta)^2.
double expected_single_feature_error(const Covariance& covariance, const Points& points) {
  const Eigen::ArrayXXd near = gram::exact_planar_gram(covariance, points).array();
  const Eigen::ArrayXXd twice = gram::exact_planar_gram(covariance, 2.0 * points).array();
  return std::sqrt((1.0 + 0.5 * twice - near.square()).mean());
}

class PlanarGram : public testing::TestWithParam<std::tuple<Covariance, int, Frequencies>> {};

TEST_P(PlanarGram, ApproachesTheCovarianceAsOneOverRootH) {
  const auto& [covariance, coordinates, frequencies] = GetParam();
  const Points points = gram::plane_points(12, coordinates, 1.5, 1);
  const ErrorCurve curve = planar_error_curve(covariance, frequencies, points);
  const double expected = expected_single_feature_error(covariance, points);
  EXPECT_NEAR(curve.slope(), -0.5, kSlopeTolerance);
  EXPECT_LT(curve.single_feature_error(), expected * (1.0 + kErrorTolerance));
  if (frequencies == Frequencies::independent) {  // orthogonal ones may do better
    EXPECT_GT(curve.single_feature_error(), expected * (1.0 - kErrorTolerance));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Covariances, PlanarGram,
    testing::Combine(testing::Values(kSquaredExponential, matern(0.5), matern(0.8), matern(1.5), matern(2.5)),
                     testing::Values(1, 2, 3, 10), testing::Values(Frequencies::independent, Frequencies::orthogonal)),
    [](const auto& param) {
      return gram::name_of(std::get<0>(param.param)) + "Dimension" + std::to_string(std::get<1>(param.param)) +
             (std::get<2>(param.param) == Frequencies::orthogonal ? "Orthogonal" : "Independent");
    });

// The negative control: a t of its own for every coordinate gives another covariance, and the test above sees it.
TEST(PlanarGramTest, RejectsATPerCoordinate) {
  const double nu = 0.5;
  const Points points = gram::plane_points(12, 2, 1.5, 1);
  const ErrorCurve curve =
      gram::error_curve(gram::exact_planar_gram(matern(nu), points), [&](Eigen::Index features, std::uint64_t seed) {
        gram::PlanarDraw draw = gram::draw_planar({matern(nu), Frequencies::independent, {.seed = seed}}, 2, features);
        RandomStream random({.seed = seed, .purpose = Purpose::simulation});
        for (float& frequency : draw.frequencies.reshaped()) {
          frequency = static_cast<float>(random.normal() / std::sqrt(random.gamma(nu) / nu) / (2.0 * std::numbers::pi));
        }
        return gram::gram_of(gram::planar_features(draw, points));
      });
  EXPECT_GT(curve.slope(), -0.5 + 2.0 * kSlopeTolerance);
  EXPECT_GT(curve.single_feature_error(), 2.0 * expected_single_feature_error(matern(nu), points));
}

TEST(PlanarFeatures, TakeALengthscalePerCoordinate) {
  const Eigen::RowVector3d lengthscales(0.2, 1.0, 30.0);
  const Points scaled = gram::plane_points(12, 3, 1.5, 2);
  const Points points = scaled.array().rowwise() * lengthscales.array();  // in the coordinates' own units
  const Eigen::MatrixXd exact = gram::exact_gram(points, [&](const auto& x, const auto& y) {
    return planar_covariance(matern(1.5), ((x - y).array() / lengthscales.array()).matrix().norm());
  });
  const ErrorCurve curve = gram::error_curve(exact, [&](Eigen::Index features, std::uint64_t seed) {
    gram::PlanarDraw draw = gram::draw_planar({matern(1.5), Frequencies::independent, {.seed = seed}}, 3, features);
    for (Eigen::Index c = 0; c < 3; ++c) draw.frequencies.row(c) /= static_cast<float>(lengthscales(c));
    return gram::gram_of(gram::planar_features(draw, points));
  });
  EXPECT_NEAR(curve.slope(), -0.5, kSlopeTolerance);
  EXPECT_NEAR(curve.single_feature_error() / expected_single_feature_error(matern(1.5), scaled), 1.0, kErrorTolerance);
}

// Root mean square over pairs and seeds of the frequencies' own share of the error, mean_j cos(w_j . delta) - k(delta), that is
// with the phases averaged out: the quantity of Yu et al. 2016.
double frequency_error(Frequencies frequencies, const Points& points, Eigen::Index features) {
  const Eigen::MatrixXd exact = gram::exact_planar_gram(kSquaredExponential, points);
  double square = 0.0;
  for (std::uint64_t seed = 0; seed < gram::kSeeds; ++seed) {
    gram::PlanarDraw draw = gram::draw_planar({kSquaredExponential, frequencies, {.seed = seed}}, points.cols(), features);
    std::fill(draw.phases.begin(), draw.phases.end(), 0.0f);
    const Eigen::MatrixXd cosines = gram::planar_features(draw, points);
    std::fill(draw.phases.begin(), draw.phases.end(), 0.25f);
    const Eigen::MatrixXd sines = gram::planar_features(draw, points);
    square += (0.5 * (gram::gram_of(cosines) + gram::gram_of(sines)) - exact).squaredNorm();
  }
  return std::sqrt(square / static_cast<double>(gram::kSeeds) / static_cast<double>(exact.size()));
}

TEST(OrthogonalFrequencies, HaveLowerGramErrorThanIndependentOnes) {
  const Points points = gram::plane_points(12, 10, 1.0, 3);
  const double independent = planar_error_curve(kSquaredExponential, Frequencies::independent, points).single_feature_error();
  const double orthogonal = planar_error_curve(kSquaredExponential, Frequencies::orthogonal, points).single_feature_error();
  RecordProperty("ratio_with_phases", std::to_string(orthogonal / independent));
  EXPECT_LT(orthogonal, 0.97 * independent);
  const double ratio =
      frequency_error(Frequencies::orthogonal, points, 1000) / frequency_error(Frequencies::independent, points, 1000);
  RecordProperty("ratio_without_phases", std::to_string(ratio));
  EXPECT_LT(ratio, 0.6);
}

TEST(OrthogonalFrequencies, AreOrthogonalWithinEveryBlockAndNowhereElse) {
  constexpr Eigen::Index kCoordinates = 7;
  const gram::PlanarDraw draw = gram::draw_planar({matern(1.5), Frequencies::orthogonal, {.seed = 4}}, kCoordinates, 17);
  const Eigen::MatrixXd directions = draw.frequencies.cast<double>().colwise().normalized();
  const Eigen::MatrixXd cosines = directions.transpose() * directions;
  for (Eigen::Index i = 0; i < cosines.rows(); ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      if (i / kCoordinates == j / kCoordinates) {
        EXPECT_LT(std::abs(cosines(i, j)), 2e-7) << i << ", " << j;  // rounding to float of seven products
      } else {
        EXPECT_GT(std::abs(cosines(i, j)), 2e-7) << i << ", " << j;
      }
    }
  }
}

double kolmogorov(std::vector<double> values, const std::function<double(double)>& cdf) {
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double p = cdf(values[i]);
    largest = std::max({largest, p - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - p});
  }
  return largest * std::sqrt(n);
}

// For a Haar-distributed matrix in three dimensions every entry of every column is uniform in [-1, 1] (Archimedes). Without the
// sign fix the last column leans to one side. 1.95: exceeded once in a thousand.
TEST(OrthogonalFrequencies, AreHaarRotationsWithChiNorms) {
  const gram::PlanarDraw draw = gram::draw_planar({kSquaredExponential, Frequencies::orthogonal, {.seed = 5}}, 3, 15'000);
  const Eigen::MatrixXd radians = 2.0 * std::numbers::pi * draw.frequencies.cast<double>();
  std::vector<double> norms;
  for (const auto& column : radians.colwise()) norms.push_back(column.norm());
  EXPECT_LT(kolmogorov(norms, [](double norm) { return boost::math::gamma_p(1.5, 0.5 * norm * norm); }), 1.95);
  for (Eigen::Index place = 0; place < 3; ++place) {
    for (Eigen::Index c = 0; c < 3; ++c) {
      std::vector<double> entries;
      for (Eigen::Index j = place; j < radians.cols(); j += 3) entries.push_back(radians(c, j) / radians.col(j).norm());
      EXPECT_LT(kolmogorov(entries, [](double x) { return 0.5 * (1.0 + x); }), 1.95) << "column " << place << ", entry " << c;
    }
  }
}

TEST(DrawFourier, FirstFeaturesStayWhenMoreAreDrawn) {
  for (const Frequencies frequencies : {Frequencies::independent, Frequencies::orthogonal}) {
    const FourierDraw draw{matern(1.5), frequencies, {.seed = 6, .member = 2, .layer = 3}};
    const gram::PlanarDraw few = gram::draw_planar(draw, 5, 20);
    const gram::PlanarDraw many = gram::draw_planar(draw, 5, 33);
    EXPECT_EQ(few.frequencies, many.frequencies.leftCols(20));
    EXPECT_TRUE(std::equal(few.phases.begin(), few.phases.end(), many.phases.begin()));
  }
}

TEST(DrawFourier, DependsOnSeedMemberAndLayerButNotOnTheKeysPurpose) {
  const auto frequencies = [](const RandomKey& key) {
    return gram::draw_planar({matern(1.5), Frequencies::independent, key}, 2, 8);
  };
  const gram::PlanarDraw base = frequencies({.seed = 6});
  EXPECT_EQ(base.frequencies, frequencies({.seed = 6, .purpose = Purpose::poles}).frequencies);
  for (const RandomKey& key : {RandomKey{.seed = 7}, RandomKey{.seed = 6, .member = 1}, RandomKey{.seed = 6, .layer = 1}}) {
    EXPECT_NE(base.frequencies, frequencies(key).frequencies);
    EXPECT_NE(base.phases, frequencies(key).phases);
  }
}

TEST(DrawFourier, RespectsTheRowStride) {
  const FourierDraw draw{matern(1.5), Frequencies::orthogonal, {.seed = 8}};
  const gram::PlanarDraw packed = gram::draw_planar(draw, 3, 10);
  std::vector<float> padded(3 * 16, -7.0f);
  std::vector<float> phases(10);
  draw_fourier(draw, {padded.data(), 3, 10, 16}, phases);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t col = 0; col < 16; ++col) {
      const float expected =
          col < 10 ? packed.frequencies(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(col)) : -7.0f;
      EXPECT_EQ(padded[row * 16 + col], expected);
    }
  }
}

TEST(DrawFourier, PhasesAreUniformInZeroToOne) {
  const gram::PlanarDraw draw = gram::draw_planar({kSquaredExponential, Frequencies::independent, {.seed = 9}}, 1, 20'000);
  for (const float phase : draw.phases) {
    EXPECT_GE(phase, 0.0f);
    EXPECT_LT(phase, 1.0f);
  }
  EXPECT_LT(kolmogorov({draw.phases.begin(), draw.phases.end()}, [](double x) { return x; }), 1.95);
}

// Phases that shared numbers with frequencies or divisors would lean to one side where the waves are long or short.
TEST(DrawFourier, PhasesAreUniformAmongTheLongestAndTheShortestWaves) {
  constexpr std::size_t kFeatures = 20'000;
  for (const double nu : {0.5, 1.5}) {
    const gram::PlanarDraw draw = gram::draw_planar({matern(nu), Frequencies::independent, {.seed = 12}}, 2, kFeatures);
    std::vector<std::pair<float, float>> by_frequency;
    for (std::size_t j = 0; j < kFeatures; ++j) {
      by_frequency.emplace_back(draw.frequencies.col(static_cast<Eigen::Index>(j)).norm(), draw.phases[j]);
    }
    std::sort(by_frequency.begin(), by_frequency.end());
    for (std::size_t first : {std::size_t{0}, kFeatures - kFeatures / 10}) {
      std::vector<double> phases;
      for (std::size_t j = first; j < first + kFeatures / 10; ++j) phases.push_back(by_frequency[j].second);
      EXPECT_LT(kolmogorov(phases, [](double x) { return x; }), 1.95) << "nu " << nu << ", from " << first;
    }
  }
}

TEST(DrawFourier, FrequenciesStayFiniteAndSpreadHoweverSmallNu) {
  for (const double nu : {1e-6, 1e-3, 0.01, 0.1}) {
    const gram::PlanarDraw draw = gram::draw_planar({matern(nu), Frequencies::orthogonal, {.seed = 10}}, 3, 3000);
    ASSERT_TRUE(draw.frequencies.allFinite()) << nu;
    EXPECT_LT(draw.frequencies.cwiseAbs().maxCoeff(), 65536.0f) << nu;  // 10,430 turns, times six standard deviations
    std::vector<float> all(draw.frequencies.data(), draw.frequencies.data() + draw.frequencies.size());
    std::sort(all.begin(), all.end());
    EXPECT_LT(all.end() - std::unique(all.begin(), all.end()), 20) << nu;  // a few chance repeats in float, no heap at a limit
  }
}

// Waves so short that a float32 phase has lost its fraction would be constants, and add to the covariance at every distance.
TEST(DrawFourier, HeavyTailsKeepTheirCovarianceInSinglePrecision) {
  const double nu = 0.05;
  constexpr Eigen::Index kFeatures = 40'000;
  const gram::PlanarDraw draw = gram::draw_planar({matern(nu), Frequencies::independent, {.seed = 11}}, 1, kFeatures);
  for (const float distance : {0.01f, 0.1f, 1.0f, 10.0f}) {
    const float x = 3.7f;
    double sum = 0.0;
    for (Eigen::Index j = 0; j < kFeatures; ++j) {
      const float phase = draw.phases[static_cast<std::size_t>(j)];
      const auto feature = [&](float at) {
        const float turns = at * draw.frequencies(0, j) + phase;
        return std::numbers::sqrt2 * std::cos(2.0 * std::numbers::pi * static_cast<double>(turns - std::round(turns)));
      };
      sum += feature(x) * feature(x + distance);
    }
    // Four standard errors; a single product has variance 3/2 at most.
    EXPECT_NEAR(sum / kFeatures, planar_covariance(matern(nu), distance), 4.0 * std::sqrt(1.5 / kFeatures)) << distance;
  }
}

TEST(DrawFourier, RefusesWrongShapesAndNu) {
  std::vector<float> frequencies(20);
  std::vector<float> phases(9);
  EXPECT_THROW(draw_fourier({}, {frequencies.data(), 2, 10}, phases), UsageError);
  phases.resize(10);
  EXPECT_THROW(draw_fourier({}, {frequencies.data(), 0, 10}, phases), UsageError);
  EXPECT_THROW(draw_fourier({matern(0.0), Frequencies::independent, {}}, {frequencies.data(), 2, 10}, phases), UsageError);
  EXPECT_THROW(draw_fourier({matern(std::nan("")), Frequencies::independent, {}}, {frequencies.data(), 2, 10}, phases),
               UsageError);
  EXPECT_NO_THROW(draw_fourier({}, {frequencies.data(), 2, 10}, phases));
}

}  // namespace
}  // namespace drift
