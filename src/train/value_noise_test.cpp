#include "train/value_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace drift {
namespace {

constexpr std::uint64_t kObservations = 20000;

std::vector<double> noise_of(std::uint32_t member, std::uint64_t seed = 7, std::size_t output = 0, std::uint64_t first = 0) {
  const ValueNoise noise(1.0, seed, member);
  std::vector<double> eps;
  for (std::uint64_t i = 0; i < kObservations; ++i) eps.push_back(noise.eps(first + i, output));
  return eps;
}

double mean_of(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum / static_cast<double>(a.size());
}

// Standard errors are 1 / sqrt(20,000) = 0.007 for means and products, sqrt(2) of it for variances: four and more of them.
TEST(ValueNoise, HasMeanZeroAndVarianceOne) {
  for (const std::uint32_t member : {0U, 3U, 4U, 5U, 27U}) {
    const std::vector<double> eps = noise_of(member), ones(kObservations, 1.0);
    EXPECT_NEAR(mean_of(eps, ones), 0.0, 0.03) << member;
    EXPECT_NEAR(mean_of(eps, eps), 1.0, 0.04) << member;
    double beyond = 0.0;  // of a Gaussian, 5 %
    for (const double e : eps) beyond += std::abs(e) > 1.96 ? 1.0 : 0.0;
    EXPECT_NEAR(beyond / static_cast<double>(kObservations), 0.05, 0.008) << member;
  }
}

TEST(ValueNoise, OfFiveMembersAddsUpToNothing) {
  const auto largest_sum = [](std::uint32_t first) {
    double largest = 0.0;
    for (std::uint64_t i = 0; i < 100; ++i) {
      double sum = 0.0;
      for (std::uint32_t member = first; member < first + 5; ++member) sum += ValueNoise(1.0, 7, member).eps(i, 0);
      largest = std::max(largest, std::abs(sum));
    }
    return largest;
  };
  EXPECT_LT(largest_sum(0), 1e-12);
  EXPECT_LT(largest_sum(5), 1e-12);
  EXPECT_GT(largest_sum(3), 1.0);
}

// Independent noises differ by a variance of 2, those of five that sum to zero by 2.5.
TEST(ValueNoise, OfTwoMembersDiffersAtLeastAsMuchAsIndependentNoise) {
  const auto difference = [](std::uint32_t one, std::uint32_t other) {
    std::vector<double> a = noise_of(one);
    const std::vector<double> b = noise_of(other);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
    return mean_of(a, a);
  };
  EXPECT_NEAR(difference(0, 1), 2.5, 0.12);
  EXPECT_NEAR(difference(2, 4), 2.5, 0.12);
  EXPECT_NEAR(difference(2, 5), 2.0, 0.1);
  EXPECT_NEAR(difference(2, 12), 2.0, 0.1);
}

TEST(ValueNoise, IsAnotherForEveryObservationOutputSeedAndGroupOfMembers) {
  const std::vector<double> eps = noise_of(2);
  EXPECT_GT(mean_of(eps, noise_of(2)), 0.95);
  EXPECT_NEAR(mean_of(eps, noise_of(2, 7, 0, 1)), 0.0, 0.03);
  EXPECT_NEAR(mean_of(eps, noise_of(2, 7, 0, std::uint64_t{1} << 32)), 0.0, 0.03);
  EXPECT_NEAR(mean_of(eps, noise_of(2, 7, 1)), 0.0, 0.03);
  EXPECT_NEAR(mean_of(eps, noise_of(2, 8)), 0.0, 0.03);
  EXPECT_NEAR(mean_of(eps, noise_of(2, 7 + (std::uint64_t{1} << 32))), 0.0, 0.03);
  EXPECT_NEAR(mean_of(eps, noise_of(7)), 0.0, 0.03);
}

TEST(ValueNoise, IsLargerWhereTheWeightIsSmaller) {
  const ValueNoise noise(0.5, 7, 2);
  const auto added = [&](double weight) {
    std::vector<float> values = {1.0F, 2.0F};
    noise.add(11, weight, values);
    return std::vector<double>{values[0] - 1.0, values[1] - 2.0};
  };
  for (const std::size_t output : {0U, 1U}) {
    EXPECT_NEAR(added(1.0)[output], 0.5 * noise.eps(11, output), 1e-6);
    EXPECT_NEAR(added(4.0)[output], 0.25 * noise.eps(11, output), 1e-6);
    EXPECT_EQ(added(0.0)[output], 0.0);
  }
}

}  // namespace
}  // namespace drift
