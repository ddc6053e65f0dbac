#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/every_instruction_set.h"
#include "engine/cpu/kernels.h"

namespace drift::cpu {
namespace {

constexpr std::size_t kRows = 7, kCols = 37, kStride = 48;

template <class Real>
std::vector<Real> numbers(double scale) {
  std::vector<Real> all(kRows * kStride);
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<Real>(static_cast<float>(scale * std::sin(1.3 * static_cast<double>(i) + 0.2)));
  return all;
}

TEST(Relu, AddsTheBiasAndCutsOffWhatIsNegative) {
  for_every_instruction_set([] {
    std::vector<float> z = numbers<float>(2);
    const std::vector<float> before = z, bias = numbers<float>(0.5);
    relu(ActivationBlock<float>{kRows, kCols, kStride, bias.data(), z.data()});
    for (std::size_t i = 0; i < z.size(); ++i) {
      const std::size_t col = i % kStride;
      ASSERT_EQ(z[i], col < kCols ? std::max(before[i] + bias[col], 0.0F) : before[i]) << i;
    }
  });
}

TEST(Relu, KeepsWhatIsNotANumber) {
  for_every_instruction_set([] {
    std::vector<float> z(kRows * kStride, std::numeric_limits<float>::quiet_NaN());
    relu(ActivationBlock<float>{kRows, kCols, kStride, nullptr, z.data()});
    for (const float value : z) ASSERT_TRUE(std::isnan(value));
  });
}

TEST(Sine, IsAsExactAsItsHeaderSays) {
  for_every_instruction_set([] {
    for (const float omega : {1.0F, 30.0F, 300.0F}) {
      std::vector<float> z = numbers<float>(3), slope(z.size());
      std::vector<double> exact = numbers<double>(3), exact_slope(z.size());
      const std::vector<double> before = exact;
      sine(ActivationBlock<float>{kRows, kCols, kStride, nullptr, z.data()}, omega, slope.data());
      sine(ActivationBlock<double>{kRows, kCols, kStride, nullptr, exact.data()}, omega, exact_slope.data());
      for (std::size_t row = 0; row < kRows; ++row) {
        for (std::size_t i = row * kStride; i < row * kStride + kCols; ++i) {
          const double error = 2.2e-7 + 2 * 6e-8 * std::abs(omega * before[i]);
          ASSERT_NEAR(z[i], exact[i], error) << omega << " " << before[i];
          ASSERT_NEAR(slope[i], exact_slope[i], omega * error);
        }
      }
    }
  });
}

TEST(ReluGradient, PassesWhereTheFeatureIsPositive) {
  for_every_instruction_set([] {
    std::vector<float> feature = numbers<float>(1), target = numbers<float>(5);
    feature[3] = 0.0F;
    const std::vector<float> before = target;
    relu_gradient(kRows, kCols, kStride, feature.data(), target.data());
    for (std::size_t i = 0; i < target.size(); ++i) {
      ASSERT_EQ(target[i], i % kStride >= kCols || feature[i] > 0 ? before[i] : 0.0F) << i;
    }
  });
}

TEST(ColumnSums, AddRowsInTheirOrder) {
  const std::vector<float> from = numbers<float>(1);
  std::vector<float> expected(kCols, 0.0F);
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t col = 0; col < kCols; ++col) expected[col] += from[row * kStride + col];
  }
  for_every_instruction_set([&] {
    std::vector<float> sums(kCols, 9.0F);
    column_sums(kRows, kCols, kStride, from.data(), false, sums.data());
    EXPECT_EQ(sums, expected);
    std::vector<float> more(kCols, 1.0F);
    column_sums(kRows, kCols, kStride, from.data(), true, more.data());
    for (std::size_t col = 0; col < kCols; ++col) EXPECT_NEAR(more[col], 1.0F + expected[col], 1e-6);
  });
}

}  // namespace
}  // namespace drift::cpu
