#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "core/every_instruction_set.h"
#include "engine/cpu/kernels.h"

namespace drift::cpu {
namespace {

// Of the amplitude (2 pi amplitude for slopes): what kernels.h promises for a given phase.
constexpr double kTolerance = 2.2e-7;

long double exact_cosine(float phase) {
  const auto p = static_cast<long double>(phase);
  return std::cos(2 * std::numbers::pi_v<long double> * (p - std::rint(p)));
}

long double exact_sine(float phase) {
  const auto p = static_cast<long double>(phase);
  return std::sin(2 * std::numbers::pi_v<long double> * (p - std::rint(p)));
}

struct CosineResult {
  std::vector<float> feature;
  std::vector<float> slope;
};

// One row whose phases are given as they are.
CosineResult evaluate_phases(const std::vector<float>& phases, float amplitude) {
  const std::size_t count = phases.size();
  CosineResult result{std::vector<float>(count), std::vector<float>(count)};
  const std::vector<float> zeros(count);
  cosine_features(CosineBlock<float>{.rows = 1,
                                     .features = count,
                                     .hidden_phase = phases.data(),
                                     .coordinates = nullptr,
                                     .coordinate_stride = 0,
                                     .coordinate_count = 0,
                                     .coordinate_frequencies = nullptr,
                                     .phases = zeros.data(),
                                     .amplitude = amplitude,
                                     .feature = result.feature.data(),
                                     .slope = result.slope.data(),
                                     .stride = count});
  return result;
}

void expect_exact(const std::vector<float>& phases, float amplitude) {
  const CosineResult result = evaluate_phases(phases, amplitude);
  double worst_feature = 0;
  double worst_slope = 0;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const long double slope = -2 * std::numbers::pi_v<long double> * exact_sine(phases[i]);
    worst_feature =
        std::max(worst_feature, static_cast<double>(std::abs(result.feature[i] / amplitude - exact_cosine(phases[i]))));
    worst_slope = std::max(worst_slope, static_cast<double>(std::abs(result.slope[i] / amplitude - slope)));
  }
  // A division's rounding is added by the comparison itself.
  EXPECT_LE(worst_feature, kTolerance + 6e-8) << "amplitude " << amplitude;
  EXPECT_LE(worst_slope, 2 * std::numbers::pi * (kTolerance + 6e-8)) << "amplitude " << amplitude;
}

// A block with every input filled in, rows side by side in memory, whose phases (multiples of 2^-12, below 2^11) are exact in
// float: the comparison with the double version is then of cosines alone.
template <class Real>
struct FilledBlock {
  FilledBlock(std::size_t rows_, std::size_t features_, std::size_t coordinates_, std::size_t gap = 0)
      : rows(rows_),
        features(features_),
        count(coordinates_),
        stride(features_ + gap),
        hidden(rows * stride),
        coordinates(rows * count),
        frequencies(count * features),
        phases(features),
        feature(rows * stride, kUntouched),
        slope(rows * stride, kUntouched) {
    std::mt19937 random(7);
    std::uniform_int_distribution<int> whole(-255, 255);
    for (Real& v : hidden) v = Real(whole(random)) / 64;
    for (Real& v : coordinates) v = Real(whole(random)) / 64;
    for (Real& v : frequencies) v = Real(whole(random)) / 64;
    for (Real& v : phases) v = Real(whole(random)) / 64;
  }

  CosineBlock<Real> block(bool with_hidden, bool with_slope) {
    return {.rows = rows,
            .features = features,
            .hidden_phase = with_hidden ? hidden.data() : nullptr,
            .coordinates = coordinates.data(),
            .coordinate_stride = count,
            .coordinate_count = count,
            .coordinate_frequencies = frequencies.data(),
            .phases = phases.data(),
            .amplitude = Real(0.75),
            .feature = feature.data(),
            .slope = with_slope ? slope.data() : nullptr,
            .stride = stride};
  }

  static constexpr Real kUntouched = -77;
  std::size_t rows, features, count, stride;
  std::vector<Real> hidden, coordinates, frequencies, phases, feature, slope;
};

void expect_like_double(std::size_t rows, std::size_t features, std::size_t coordinates, std::size_t gap, bool with_hidden,
                        bool with_slope) {
  SCOPED_TRACE(testing::Message() << rows << " rows, " << features << " features, " << coordinates << " coordinates, gap " << gap
                                  << (with_hidden ? ", hidden" : "") << (with_slope ? ", slope" : ""));
  FilledBlock<float> single(rows, features, coordinates, gap);
  FilledBlock<double> twice(rows, features, coordinates, gap);
  cosine_features(single.block(with_hidden, with_slope));
  cosine_features(twice.block(with_hidden, with_slope));
  for (std::size_t i = 0; i < single.feature.size(); ++i) {
    ASSERT_NEAR(single.feature[i], twice.feature[i], 0.75 * kTolerance) << "element " << i;
    ASSERT_NEAR(single.slope[i], twice.slope[i], 0.75 * 2 * std::numbers::pi * kTolerance) << "element " << i;
  }
}

TEST(CosineFeatures, AreWithinTheirToleranceForPhasesUpToTenMillionTurns) {
  for_every_instruction_set([] {
    std::mt19937 random(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::normal_distribution<double> normal;
    for (const float amplitude : {1.0f, 0.0447f, 1.1f, 0.6f, 31.7f}) {
      std::vector<float> phases;
      for (int i = 0; i < 10000; ++i) {
        phases.push_back(static_cast<float>(uniform(random)));  // within a turn
        phases.push_back(static_cast<float>(std::copysign(std::pow(10, 3.5 + 3.5 * uniform(random)), uniform(random))));
        phases.push_back(static_cast<float>(3 * normal(random) / std::abs(normal(random))));  // Matérn, nu = 1/2
      }
      expect_exact(phases, amplitude);
    }
  });
}

TEST(CosineFeatures, AreExactAtQuarterTurns) {
  for_every_instruction_set([] {
    std::vector<float> phases;
    for (int quarter = -4000; quarter <= 4000; ++quarter) phases.push_back(static_cast<float>(quarter) / 4);
    expect_exact(phases, 1.0f);
    const CosineResult result = evaluate_phases(phases, 1.0f);
    for (std::size_t i = 1; i < phases.size(); i += 2) EXPECT_EQ(result.feature[i], 0) << "phase " << phases[i];
  });
}

TEST(CosineFeatures, AreRightForEveryTailLengthAndNumberOfRowsAndTouchNothingElse) {
  for_every_instruction_set([] {
    for (std::size_t features = 1; features <= 40; ++features) {
      for (const std::size_t rows : {1u, 3u, 4u, 6u}) expect_like_double(rows, features, 2, features % 3, true, true);
    }
  });
}

TEST(CosineFeatures, AreRightForEveryNumberOfCoordinatesWithAndWithoutHiddenShareAndSlope) {
  for_every_instruction_set([] {
    for (std::size_t coordinates = 0; coordinates <= 6; ++coordinates) {
      for (const bool hidden : {false, true}) {
        for (const bool slope : {false, true}) expect_like_double(5, 37, coordinates, 0, hidden, slope);
      }
    }
  });
}

TEST(CosineFeatures, SlopeIsTheDerivativeByThePhase) {
  FilledBlock<double> at(2, 50, 2);
  FilledBlock<double> before = at;
  FilledBlock<double> after = at;
  constexpr double kStep = 1e-6;
  for (double& phase : before.phases) phase -= kStep;
  for (double& phase : after.phases) phase += kStep;
  cosine_features(at.block(true, true));
  cosine_features(before.block(true, true));
  cosine_features(after.block(true, true));
  for (std::size_t i = 0; i < at.slope.size(); ++i) {
    EXPECT_NEAR(at.slope[i], (after.feature[i] - before.feature[i]) / (2 * kStep), 1e-8);
  }
}

TEST(CosineFeatures, SlopeMayReplaceTheHiddenPhase) {
  for_every_instruction_set([] {
    FilledBlock<float> apart(7, 53, 3);
    FilledBlock<float> in_place(7, 53, 3);
    cosine_features(apart.block(true, true));
    CosineBlock<float> block = in_place.block(true, true);
    block.slope = in_place.hidden.data();
    cosine_features(block);
    EXPECT_EQ(in_place.feature, apart.feature);
    EXPECT_EQ(in_place.hidden, apart.slope);
  });
}

TEST(CosineFeatures, WhatIsNotFiniteComesOutAndStaysInItsPlace) {
  for_every_instruction_set([] {
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity()}) {
      std::vector<float> phases(35, 0.1f);
      phases[5] = bad;
      phases[34] = bad;
      const CosineResult result = evaluate_phases(phases, 1.0f);
      for (std::size_t i = 0; i < phases.size(); ++i) {
        EXPECT_EQ(std::isfinite(result.feature[i]), std::isfinite(phases[i])) << i;
        EXPECT_EQ(std::isfinite(result.slope[i]), std::isfinite(phases[i])) << i;
      }
    }
  });
}

}  // namespace
}  // namespace drift::cpu
