#include "core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numbers>
#include <set>
#include <vector>

#include "drift/error.h"

namespace drift {
namespace {

using Counter = std::array<std::uint32_t, 4>;
using Key = std::array<std::uint32_t, 2>;

// Draws in every distribution test.
constexpr std::size_t kDraws = 100'000;
// Kolmogorov's statistic sqrt(n) D exceeds this for one right generator in 10,000; the seeds are fixed, so it is no flicker.
constexpr double kKolmogorovLimit = 2.23;
// Sampling errors allowed for a moment: one right generator in 16,000 is further off.
constexpr double kSigmas = 4.0;

std::vector<double> draws(const std::function<double()>& draw) {
  std::vector<double> values(kDraws);
  std::generate(values.begin(), values.end(), draw);
  return values;
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

struct Moments {
  double mean = 0.0, variance = 0.0, mean_error = 0.0, variance_error = 0.0;  // errors: one standard deviation
};

Moments moments(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  Moments m;
  for (const double value : values) m.mean += value / n;
  double fourth = 0.0;
  for (const double value : values) {
    const double square = (value - m.mean) * (value - m.mean);
    m.variance += square / n;
    fourth += square * square / n;
  }
  m.mean_error = std::sqrt(m.variance / n);
  m.variance_error = std::sqrt((fourth - m.variance * m.variance) / n);
  return m;
}

void expect_moments(const std::vector<double>& values, double mean, double variance) {
  const Moments m = moments(values);
  EXPECT_NEAR(m.mean, mean, kSigmas * m.mean_error);
  EXPECT_NEAR(m.variance, variance, kSigmas * m.variance_error);
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const Moments ma = moments(a);
  const Moments mb = moments(b);
  double product = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) product += (a[i] - ma.mean) * (b[i] - mb.mean);
  return product / static_cast<double>(a.size()) / std::sqrt(ma.variance * mb.variance);
}

double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

// The known answers that come with the authors' Random123 library.
TEST(Philox, GivesTheKnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  constexpr std::uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}), (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// Saved models depend on this layout.
TEST(RandomStream, IsPhiloxOfBlockSubstreamMemberLayerAndPurpose) {
  const RandomKey key{.seed = 0x0123456789abcdef, .member = 7, .layer = 0x0203, .purpose = Purpose::poles};
  RandomStream stream(key, 99);
  for (std::uint32_t block = 0; block < 3; ++block) {
    for (const std::uint32_t expected : philox({block, 99, 7, 0x02030005}, {0x89abcdef, 0x01234567})) {
      EXPECT_EQ(stream.bits(), expected);
    }
  }
}

TEST(RandomStream, DiffersWhenAnyPartOfItsKeyDoes) {
  const RandomKey base{.seed = 1, .member = 1, .layer = 1, .purpose = Purpose::frequencies};
  std::vector<std::pair<RandomKey, std::uint32_t>> keys = {{base, 0}, {base, 1}};
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{1} << 32}) {
    keys.push_back({base, 0});
    keys.back().first.seed = seed;
  }
  keys.push_back({base, 0});
  keys.back().first.member = 0;
  keys.push_back({base, 0});
  keys.back().first.layer = 0;
  keys.push_back({base, 0});
  keys.back().first.purpose = Purpose::phases;
  std::set<std::pair<std::uint32_t, std::uint32_t>> starts;
  for (const auto& [key, substream] : keys) {
    RandomStream stream(key, substream);
    const std::uint32_t first = stream.bits();
    starts.insert({first, stream.bits()});
  }
  EXPECT_EQ(starts.size(), keys.size());
}

TEST(RandomStream, UniformIsUniformAndNeverZeroOrOne) {
  RandomStream stream({.seed = 11});
  const std::vector<double> values = draws([&] { return stream.uniform(); });
  expect_moments(values, 0.5, 1.0 / 12.0);
  EXPECT_LT(kolmogorov(values, [](double x) { return x; }), kKolmogorovLimit);
  EXPECT_GT(*std::min_element(values.begin(), values.end()), 0.0);
  EXPECT_LT(*std::max_element(values.begin(), values.end()), 1.0);
}

TEST(RandomStream, NormalIsNormal) {
  RandomStream stream({.seed = 12});
  const std::vector<double> values = draws([&] { return stream.normal(); });
  expect_moments(values, 0.0, 1.0);
  EXPECT_LT(kolmogorov(values, normal_cdf), kKolmogorovLimit);
}

TEST(RandomStream, BothNormalsOfAPairAreIndependent) {
  RandomStream stream({.seed = 13});
  std::vector<double> first, second, first_square, second_square;
  for (std::size_t i = 0; i < kDraws; ++i) {
    first.push_back(stream.normal());
    second.push_back(stream.normal());
    first_square.push_back(first.back() * first.back());
    second_square.push_back(second.back() * second.back());
  }
  const double limit = kSigmas / std::sqrt(static_cast<double>(kDraws));
  EXPECT_LT(std::abs(correlation(first, second)), limit);
  EXPECT_LT(std::abs(correlation(first_square, second_square)), limit);
}

class GammaDraws : public testing::TestWithParam<double> {};

TEST_P(GammaDraws, FollowTheGammaDistribution) {
  const double shape = GetParam();
  RandomStream stream({.seed = 14});
  const std::vector<double> values = draws([&] { return stream.gamma(shape); });
  expect_moments(values, shape, shape);
  EXPECT_LT(kolmogorov(values, [&](double x) { return boost::math::gamma_p(shape, x); }), kKolmogorovLimit);
}

INSTANTIATE_TEST_SUITE_P(Shapes, GammaDraws, testing::Values(0.25, 0.5, 1.0, 1.5, 10.0), [](const auto& param) {
  return "ShapeHundredths" + std::to_string(static_cast<int>(100 * param.param));
});

// A gamma distribution of a slightly wrong shape must not pass for the right one.
TEST(RandomStream, TheDistributionTestRejectsAGammaOfShapeThreePercentOff) {
  RandomStream stream({.seed = 14});
  const std::vector<double> values = draws([&] { return stream.gamma(1.5); });
  EXPECT_GT(kolmogorov(values, [&](double x) { return boost::math::gamma_p(1.545, x); }), kKolmogorovLimit);
}

TEST(RandomStream, RefusesAGammaShapeThatIsNotPositive) {
  RandomStream stream({.seed = 1});
  EXPECT_THROW(stream.gamma(0.0), UsageError);
  EXPECT_THROW(stream.gamma(-1.0), UsageError);
  EXPECT_THROW(stream.gamma(std::nan("")), UsageError);
}

// Features take a few numbers from each of many substreams: across substreams the numbers must be as good as along one.
TEST(RandomStream, FirstNumbersOfSubstreamsAreUniformAndSeriallyIndependent) {
  constexpr std::size_t kCells = 16;
  std::vector<double> values(kDraws);
  for (std::size_t i = 0; i < kDraws; ++i) values[i] = RandomStream({.seed = 15}, static_cast<std::uint32_t>(i)).uniform();
  EXPECT_LT(kolmogorov(values, [](double x) { return x; }), kKolmogorovLimit);

  // Neighbouring substreams as points of the unit square, counted in 16 x 16 cells: chi-squared with 255 degrees of freedom.
  std::vector<double> counts(kCells * kCells, 0.0);
  const auto cell = [](double u) { return static_cast<std::size_t>(u * kCells); };
  for (std::size_t i = 0; i + 1 < kDraws; i += 2) ++counts[cell(values[i]) * kCells + cell(values[i + 1])];
  const double expected = static_cast<double>(kDraws / 2) / static_cast<double>(counts.size());
  double chi_squared = 0.0;
  for (const double count : counts) chi_squared += (count - expected) * (count - expected) / expected;
  const double degrees = static_cast<double>(counts.size() - 1);
  EXPECT_NEAR(chi_squared, degrees, kSigmas * std::sqrt(2.0 * degrees));
}

TEST(RandomStream, StreamsOfNeighbouringKeysAreUncorrelated) {
  std::vector<std::vector<double>> streams;
  const auto add = [&](const RandomKey& key, std::uint32_t substream) {
    RandomStream stream(key, substream);
    streams.push_back(draws([&] { return stream.uniform(); }));
  };
  add({.seed = 16}, 0);
  add({.seed = 16}, 1);
  add({.seed = 16, .member = 1}, 0);
  add({.seed = 16, .layer = 1}, 0);
  add({.seed = 16, .purpose = Purpose::spectrum}, 0);
  add({.seed = 17}, 0);
  for (std::size_t i = 0; i < streams.size(); ++i) {
    for (std::size_t j = i + 1; j < streams.size(); ++j) {
      EXPECT_LT(std::abs(correlation(streams[i], streams[j])), kSigmas / std::sqrt(static_cast<double>(kDraws)))
          << i << ", " << j;
    }
  }
}

}  // namespace
}  // namespace drift
