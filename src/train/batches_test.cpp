#include "train/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

namespace drift {
namespace {

std::vector<std::uint64_t> epoch_of(const BatchOrder& order, std::uint64_t epoch) {
  std::vector<std::uint64_t> all;
  for (std::uint64_t step = epoch * order.steps_per_epoch(); step < (epoch + 1) * order.steps_per_epoch(); ++step) {
    const std::size_t begin = all.size();
    all.resize(begin + order.size_of(step));
    order.indices(step, 0, std::span(all).subspan(begin));
  }
  return all;
}

class EveryEpoch : public testing::TestWithParam<std::uint64_t> {};

TEST_P(EveryEpoch, VisitsEveryObservationExactlyOnce) {
  const std::uint64_t observations = GetParam();
  const BatchOrder order(observations, 64, /*seed=*/7, /*member=*/3);
  for (const std::uint64_t epoch : {0, 1, 2}) {
    std::vector<std::uint64_t> seen = epoch_of(order, epoch);
    ASSERT_EQ(seen.size(), observations);
    std::sort(seen.begin(), seen.end());
    for (std::uint64_t i = 0; i < observations; ++i) ASSERT_EQ(seen[i], i);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, EveryEpoch, testing::Values(1, 2, 3, 4, 5, 64, 65, 1000, 1023, 1024, 1025, 4097, 100003));

TEST(BatchOrder, EndsAnEpochWithAShortBatch) {
  const BatchOrder order(1000, 300, 1, 0);
  EXPECT_EQ(order.steps_per_epoch(), 4u);
  for (const std::uint64_t epoch : {0, 1}) {
    EXPECT_EQ(order.size_of(4 * epoch), 300u);
    EXPECT_EQ(order.size_of(4 * epoch + 3), 100u);
  }
  EXPECT_EQ(BatchOrder(900, 300, 1, 0).size_of(2), 300u);
  EXPECT_EQ(BatchOrder(5, 300, 1, 0).size_of(17), 5u);
}

TEST(BatchOrder, GivesAnyPartOfABatchByItself) {
  const BatchOrder order(1000, 300, 1, 0);
  std::vector<std::uint64_t> whole(300), part(17);
  order.indices(5, 0, whole);
  order.indices(5, 123, part);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + 123));
}

TEST(BatchOrder, DiffersByEpochMemberAndSeed) {
  const std::vector<std::uint64_t> base = epoch_of(BatchOrder(1000, 64, 1, 0), 0);
  const std::vector<std::vector<std::uint64_t>> others = {
      epoch_of(BatchOrder(1000, 64, 1, 0), 1), epoch_of(BatchOrder(1000, 64, 1, 1), 0), epoch_of(BatchOrder(1000, 64, 2, 0), 0),
      epoch_of(BatchOrder(1000, 64, std::uint64_t{1} << 32 | 1, 0), 0)};
  for (const auto& other : others) {
    int same = 0;  // places that agree by chance: Poisson of mean 1
    for (std::size_t i = 0; i < base.size(); ++i) same += base[i] == other[i] ? 1 : 0;
    EXPECT_LT(same, 10);
  }
  EXPECT_EQ(base, epoch_of(BatchOrder(1000, 64, 1, 0), 0));
}

// Chi-square of `counts` against equal expectations, as a number of standard deviations from its mean.
double chi_square_excess(const std::vector<std::uint64_t>& counts) {
  const double total = static_cast<double>(std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}));
  const double expected = total / static_cast<double>(counts.size());
  double chi_square = 0.0;
  for (const std::uint64_t count : counts) chi_square += std::pow(static_cast<double>(count) - expected, 2) / expected;
  const double freedom = static_cast<double>(counts.size()) - 1.0;
  return (chi_square - freedom) / std::sqrt(2.0 * freedom);
}

// The keys are fixed, so these tests either pass for good or fail for good; four deviations is a chance of 1e-4.
constexpr double kDeviations = 4.0;

TEST(Shuffle, PutsAnObservationAnywhereWithEqualChance) {
  constexpr std::uint64_t kSize = 100;
  std::vector<std::uint64_t> first(kSize), last(kSize), middle(kSize);
  for (std::uint64_t epoch = 0; epoch < 20000; ++epoch) {
    const Shuffle shuffle(kSize, 11, 0, epoch);
    ++first[shuffle(0)];
    ++middle[shuffle(37)];
    ++last[shuffle(kSize - 1)];
  }
  EXPECT_LT(std::abs(chi_square_excess(first)), kDeviations);
  EXPECT_LT(std::abs(chi_square_excess(middle)), kDeviations);
  EXPECT_LT(std::abs(chi_square_excess(last)), kDeviations);
}

// Ordered pairs of places that two neighbouring positions take over many epochs, in a square of `bins` a side.
double neighbours_excess(std::uint64_t size, std::uint64_t bins, std::uint64_t epochs) {
  std::vector<std::uint64_t> pairs(bins * bins);
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    const Shuffle shuffle(size, 12, 0, epoch);
    ++pairs[shuffle(4) * bins / size * bins + shuffle(5) * bins / size];
  }
  if (bins == size) {  // two neighbours never share a place
    std::vector<std::uint64_t> possible;
    for (std::uint64_t i = 0; i < pairs.size(); ++i) {
      if (i / bins != i % bins) possible.push_back(pairs[i]);
    }
    pairs = possible;
  }
  return chi_square_excess(pairs);
}

TEST(Shuffle, PutsNeighboursInAnyPairOfPlaces) {
  EXPECT_LT(std::abs(neighbours_excess(20, 20, 40000)), kDeviations);     // a small set's rounds
  EXPECT_LT(std::abs(neighbours_excess(1024, 32, 200000)), kDeviations);  // a large one's, at the least size that has them
  EXPECT_LT(std::abs(neighbours_excess(100003, 32, 200000)), kDeviations);
}

// Where a network of too few rounds shows: two places that begin in one column of the rectangle, the same hash being added to
// both rows in the first round, keep their distance too often.
TEST(Shuffle, DoesNotKeepTheDistanceOfPlacesThatBeginInOneColumn) {
  constexpr std::uint64_t kSide = 32;  // 1024 entries: the least size that has a large set's rounds
  std::vector<std::uint64_t> distances(kSide * kSide);
  for (std::uint64_t epoch = 0; epoch < 100000; ++epoch) {
    const Shuffle shuffle(kSide * kSide, 17, 0, epoch);
    const std::uint64_t a = shuffle(4), b = shuffle(4 + kSide);
    const std::uint64_t rows = (a / kSide + kSide - b / kSide) % kSide;
    const std::uint64_t cols = (a % kSide + kSide - b % kSide) % kSide;
    ++distances[rows * kSide + cols];
  }
  distances.erase(distances.begin());  // they never fall on one place
  EXPECT_LT(std::abs(chi_square_excess(distances)), kDeviations);
}

// How unevenly the orders of a few entries come up; every one of them must.
double orders_excess(std::uint64_t size, std::uint64_t epochs, std::size_t orders) {
  std::map<std::vector<std::uint64_t>, std::uint64_t> counts;
  std::vector<std::uint64_t> order(size);
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    const Shuffle shuffle(size, 13, 0, epoch);
    for (std::uint64_t i = 0; i < size; ++i) order[i] = shuffle(i);
    ++counts[order];
  }
  EXPECT_EQ(counts.size(), orders);
  std::vector<std::uint64_t> values;
  for (const auto& entry : counts) values.push_back(entry.second);
  return chi_square_excess(values);
}

TEST(Shuffle, DrawsAllOrdersOfAFewEntriesAlike) {
  EXPECT_LT(std::abs(orders_excess(3, 6000, 6)), kDeviations);
  EXPECT_LT(std::abs(orders_excess(4, 24000, 24)), kDeviations);
  EXPECT_LT(std::abs(orders_excess(5, 60000, 120)), kDeviations);
}

// Observations come along tracks: a batch must not be a stretch of them.
TEST(Shuffle, LeavesNoSerialCorrelationAtAnyLag) {
  constexpr std::uint64_t kSize = 100003;
  const Shuffle shuffle(kSize, 14, 0, 0);
  std::vector<double> place(kSize);
  const double mean = (kSize - 1) / 2.0;
  for (std::uint64_t i = 0; i < kSize; ++i) place[i] = (static_cast<double>(shuffle(i)) - mean) / mean;
  const double variance = std::inner_product(place.begin(), place.end(), place.begin(), 0.0);
  for (const std::size_t lag : {1, 2, 3, 4, 64, 256, 512, 1024, 65536}) {
    const double product = std::inner_product(place.begin() + static_cast<std::ptrdiff_t>(lag), place.end(), place.begin(), 0.0);
    EXPECT_LT(std::abs(product / variance), kDeviations / std::sqrt(static_cast<double>(kSize - lag))) << lag;
  }
  const double with_place = [&] {
    double sum = 0.0;
    for (std::uint64_t i = 0; i < kSize; ++i) sum += place[i] * (static_cast<double>(i) - mean) / mean;
    return sum / variance;
  }();
  EXPECT_LT(std::abs(with_place), kDeviations / std::sqrt(static_cast<double>(kSize)));
}

TEST(Shuffle, SpreadsABatchEvenlyOverTheObservations) {
  constexpr std::uint64_t kSize = 1165372;
  const BatchOrder order(kSize, 1024, 15, 2);
  std::vector<std::uint64_t> bins(64), batch(1024);
  for (std::uint64_t step = 0; step < 50; ++step) {
    order.indices(step, 0, batch);
    for (const std::uint64_t index : batch) ++bins[index * bins.size() / kSize];
  }
  EXPECT_LT(std::abs(chi_square_excess(bins)), kDeviations);
}

TEST(Shuffle, ReachesBeyondThirtyTwoBits) {
  constexpr std::uint64_t kSize = (std::uint64_t{1} << 40) + 12345;
  const Shuffle shuffle(kSize, 16, 0, 0);
  std::vector<std::uint64_t> seen;
  std::uint64_t greatest = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    seen.push_back(shuffle(kSize - 1 - i));
    ASSERT_LT(seen.back(), kSize);
    greatest = std::max(greatest, seen.back());
  }
  EXPECT_GT(greatest, kSize / 100 * 99);
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

}  // namespace
}  // namespace drift
