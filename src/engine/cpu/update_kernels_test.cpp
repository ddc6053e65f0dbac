#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "core/every_instruction_set.h"
#include "engine/cpu/kernels.h"

namespace drift::cpu {
namespace {

std::vector<float> normals(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float& v : values) v = normal(random);
  return values;
}

std::vector<const float*> pointers(const std::vector<std::vector<float>>& slices) {
  std::vector<const float*> result;
  for (const auto& slice : slices) result.push_back(slice.data());
  return result;
}

// Parameters and moments in float and in double, stepped side by side.
struct AdamPair {
  explicit AdamPair(std::size_t count)
      : weights(normals(count, 1)),
        moment1(count),
        moment2(count),
        exact(weights.begin(), weights.end()),
        exact1(count),
        exact2(count) {}

  void step(int t, float decay, const std::vector<std::vector<float>>& slices) {
    const double beta1 = 0.9f;
    const double beta2 = 0.999f;
    const double c1 = 1 - std::pow(beta1, t);
    const double c2 = 1 - std::pow(beta2, t);
    adam_step(AdamStep{.rate = 0.01f,
                       .beta1 = 0.9f,
                       .beta2 = 0.999f,
                       .epsilon = 1e-8f,
                       .correction1 = static_cast<float>(c1),
                       .correction2 = static_cast<float>(c2),
                       .decay = decay},
              pointers(slices), weights, moment1, moment2);
    for (std::size_t i = 0; i < exact.size(); ++i) {
      double gradient = static_cast<double>(decay) * exact[i];
      for (const auto& slice : slices) gradient += slice[i];
      exact1[i] = beta1 * exact1[i] + (1 - beta1) * gradient;
      exact2[i] = beta2 * exact2[i] + (1 - beta2) * gradient * gradient;
      exact[i] -= 0.01 * (exact1[i] / c1) / (std::sqrt(exact2[i] / c2) + 1e-8);
    }
  }

  // Float weights near 1 round by 6e-8 a step; gradients are sums of numbers near 1.
  void expect_equal(int steps) const {
    for (std::size_t i = 0; i < exact.size(); ++i) {
      ASSERT_NEAR(weights[i], exact[i], steps * 3e-7) << "element " << i << " of " << exact.size();
      ASSERT_NEAR(moment1[i], exact1[i], 1e-6) << "element " << i;
      ASSERT_NEAR(moment2[i], exact2[i], 1e-6 * exact2[i] + 1e-9) << "element " << i;
    }
  }

  std::vector<float> weights, moment1, moment2;
  std::vector<double> exact, exact1, exact2;
};

TEST(AdamStep, FollowsTheFormulaForEveryTailLengthAndNumberOfSlices) {
  for_every_instruction_set([] {
    for (std::size_t count = 1; count <= 70; ++count) {
      AdamPair pair(count);
      std::vector<std::vector<float>> slices;
      for (unsigned s = 0; s <= count % 4; ++s) slices.push_back(normals(count, 10 + s));
      for (int t = 1; t <= 5; ++t) pair.step(t, count % 2 == 0 ? 0.0f : 0.02f, slices);
      pair.expect_equal(5);
    }
  });
}

TEST(AdamStep, MovesByTheRateInTheFirstStepWhateverTheGradientsSize) {
  for_every_instruction_set([] {
    const std::vector<float> before = {1, -2, 3, 4};
    std::vector<float> weights = before;
    std::vector<float> moment1(4), moment2(4);
    const std::vector<float> gradient = {1e-3f, -5, 700, -1e-5f};
    const float* slices[] = {gradient.data()};
    adam_step(AdamStep{.rate = 0.5f,
                       .beta1 = 0.9f,
                       .beta2 = 0.999f,
                       .epsilon = 1e-12f,
                       .correction1 = 0.1f,
                       .correction2 = 0.001f,
                       .decay = 0},
              slices, weights, moment1, moment2);
    for (std::size_t i = 0; i < 4; ++i) {
      // 1 - 0.9f and 1 - 0.999f are not quite 0.1f and 0.001f: 3e-5 of the step.
      EXPECT_NEAR(weights[i], before[i] - std::copysign(0.5f, gradient[i]), 3e-5);
    }
  });
}

TEST(AdamStep, TouchesNothingBehindTheEnd) {
  for_every_instruction_set([] {
    std::vector<float> weights(40, 1), moment1(40, 1), moment2(40, 1), gradient(40, 1);
    const float* slices[] = {gradient.data()};
    adam_step(
        AdamStep{.rate = 0.1f, .beta1 = 0.9f, .beta2 = 0.9f, .epsilon = 1e-8f, .correction1 = 1, .correction2 = 1, .decay = 0.1f},
        slices, std::span(weights).first(21), std::span(moment1).first(21), std::span(moment2).first(21));
    for (std::size_t i = 0; i < 40; ++i) {
      EXPECT_EQ(weights[i] == 1, i >= 21) << i;
      EXPECT_EQ(moment1[i] == 1, i >= 21) << i;
      EXPECT_EQ(moment2[i] == 1, i >= 21) << i;
    }
  });
}

TEST(SumSlices, AddsInTheOrderGivenToTheLastBit) {
  for_every_instruction_set([] {
    for (std::size_t count = 1; count <= 40; ++count) {
      const std::vector<std::vector<float>> slices = {normals(count, 1), normals(count, 2), normals(count, 3), normals(count, 4)};
      const std::vector<float> weights = normals(count, 5);
      std::vector<float> plain(count), decayed(count + 1, -77);
      sum_slices(pointers(slices), 0, {}, plain);
      sum_slices(pointers(slices), 0.5f, weights, std::span(decayed).first(count));
      for (std::size_t i = 0; i < count; ++i) {
        const float sum = slices[0][i] + slices[1][i] + slices[2][i] + slices[3][i];
        EXPECT_EQ(plain[i], sum);
        EXPECT_EQ(decayed[i], sum + 0.5f * weights[i]);  // half of a float is exact, fused or not
      }
      EXPECT_EQ(decayed[count], -77);
    }
  });
}

TEST(SumSlices, MayBeWrittenOverTheFirstSlice) {
  for_every_instruction_set([] {
    std::vector<float> first = normals(37, 1);
    const std::vector<float> copy = first;
    const std::vector<float> second = normals(37, 2);
    const float* slices[] = {first.data(), second.data()};
    sum_slices(slices, 0, {}, first);
    for (std::size_t i = 0; i < 37; ++i) EXPECT_EQ(first[i], copy[i] + second[i]);
  });
}

TEST(Multiply, IsTheProductOfElementsAndLeavesTheGapsAlone) {
  for_every_instruction_set([] {
    for (std::size_t cols = 1; cols <= 40; ++cols) {
      const std::size_t stride = cols + cols % 3;
      const std::vector<float> factor = normals(5 * stride, 1);
      const std::vector<float> before = normals(5 * stride, 2);
      std::vector<float> target = before;
      std::vector<double> double_target(before.begin(), before.end());
      multiply(5, cols, stride, factor.data(), target.data());
      multiply(5, cols, stride, std::vector<double>(factor.begin(), factor.end()).data(), double_target.data());
      for (std::size_t i = 0; i < target.size(); ++i) {
        const bool inside = i % stride < cols;
        EXPECT_EQ(target[i], inside ? before[i] * factor[i] : before[i]) << i;
        EXPECT_EQ(double_target[i], inside ? double{before[i]} * factor[i] : before[i]) << i;
      }
    }
  });
}

}  // namespace
}  // namespace drift::cpu
