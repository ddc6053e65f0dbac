#include "process/local_spread.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/random.h"
#include "process/process.h"

namespace drift {
namespace {

TEST(LocalSpread, IsTheMeanOfItsNeighbourhoodsSurprisesShrunkToOne) {
  const LocalSpread spread = {{4.0F, -1.0F, 0.5F}, 2.0};
  Neighbourhood near;
  near.groups = {{0, 1.0}, {1, 1.0}, {2, 0.5}};
  EXPECT_NEAR(spread.at(near), (4.0 + 0.25 + 2.0) / (1.5 + 2.0), 1e-12);
  near.groups = {{1, 1.0}};  // none of its observations was forecast
  EXPECT_EQ(spread.at(near), 1.0);
  EXPECT_EQ(LocalSpread().at(near), 1.0);
}

TEST(LocalSpread, SurprisesAreRelativeToTheirMeanAndBounded) {
  const std::vector<std::uint32_t> place = {0, 0, 2, 3};
  const std::vector<double> square = {1.0, 3.0, 2.0, 2.0};
  EXPECT_EQ(surprises({.place = place, .square = square}, 4), (std::vector<float>{1.0F, -1.0F, 1.0F, 1.0F}));
  std::vector<double> outlier(1000, 1.0);
  std::vector<std::uint32_t> each(1000);
  for (std::uint32_t i = 0; i < 1000; ++i) each[i] = i;
  outlier[0] = 1e6;
  EXPECT_LE(surprises({.place = each, .square = outlier}, 1000)[0], 16.0F);
}

// White noise on the unit square, `louder` times as large for x > 0.
struct Noise {
  std::vector<float> rows;
  std::vector<float> values;
  std::vector<std::uint8_t> fold;
  std::vector<std::uint32_t> block;

  Noise(double louder, std::uint64_t seed) {
    RandomStream random({.seed = seed});
    for (int i = 0; i < 3000; ++i) {
      const double x = 2.0 * random.uniform() - 1.0, y = 2.0 * random.uniform() - 1.0;
      rows.push_back(static_cast<float>(x)), rows.push_back(static_cast<float>(y));
      values.push_back(static_cast<float>((x > 0.0 ? louder : 1.0) * random.normal()));
      block.push_back(static_cast<std::uint32_t>(std::floor(5.0 * (x + 1.0))) * 10 +
                      static_cast<std::uint32_t>(std::floor(5.0 * (y + 1.0))));
      fold.push_back(static_cast<std::uint8_t>(block.back() % 5));
    }
  }
  MatrixView<const float> points() const { return {rows.data(), values.size(), 2}; }
};

// The spread that a process learns of it; factors of its variance on both sides.
struct Learnt {
  double prior, quiet, loud;
};
Learnt learnt(const Noise& noise) {
  std::vector<std::uint32_t> group_of;
  Places places = gather_places(Space::plane, false, {.coordinates = noise.points(), .values = noise.values, .fold = noise.fold},
                                {}, &group_of);
  Process process(Space::plane, false, {.sill = 0.01, .nugget = 1.0}, std::move(places), 60);
  const std::size_t n = noise.values.size();
  std::vector<double> mean(n), variance(n), square(n), local(n);
  const std::vector<int> left_out(noise.fold.begin(), noise.fold.end());
  process.predict(noise.points(), {.mean = mean, .variance = variance}, 1, left_out);
  for (std::size_t i = 0; i < n; ++i)
    square[i] = std::pow(static_cast<double>(noise.values[i]) - mean[i], 2) / (variance[i] + 1.0);
  process.learn_spread({.place = group_of, .square = square, .cluster = noise.block}, noise.points(), left_out, 1, local);
  const std::vector<float> at = {-0.5F, 0.0F, 0.5F, 0.0F};
  std::vector<double> factor(2);
  process.predict({at.data(), 2, 2}, {.local = factor}, 1);
  return {process.local_spread().prior, factor[0], factor[1]};
}

TEST(LocalSpread, FollowsNoiseThatIsLouderOnOneSide) {
  const Learnt found = learnt(Noise(3.0, 1));
  EXPECT_GT(found.prior, 0.0);
  EXPECT_NEAR(found.loud / found.quiet, 9.0, 4.0);
}

TEST(LocalSpread, IsLeftOutWhereTheSpreadIsTheSameEverywhere) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const Learnt found = learnt(Noise(1.0, seed));
    EXPECT_EQ(found.prior, 0.0) << seed;
    EXPECT_EQ(found.loud, 1.0);
  }
}

// Factors of observations come from other folds: an error does not widen its own bar.
TEST(LocalSpread, OfAnObservationDoesNotKnowItsOwnError) {
  Noise noise(3.0, 2);
  std::vector<std::uint32_t> group_of;
  Places places = gather_places(Space::plane, false, {.coordinates = noise.points(), .values = noise.values, .fold = noise.fold},
                                {}, &group_of);
  Process process(Space::plane, false, {.sill = 0.01, .nugget = 1.0}, std::move(places), 60);
  const std::size_t n = noise.values.size();
  const std::vector<int> left_out(noise.fold.begin(), noise.fold.end());
  std::vector<double> square(n), before(n), after(n);
  for (std::size_t i = 0; i < n; ++i) square[i] = std::pow(static_cast<double>(noise.values[i]), 2);
  const auto learn = [&](std::vector<double>& local) {
    process.learn_spread({.place = group_of, .square = square, .cluster = noise.block}, noise.points(), left_out, 1, local);
  };
  learn(before);
  const double mean_change = 4.0 / static_cast<double>(n);  // what all factors change by, through the mean square
  square[7] += 4.0;
  learn(after);
  EXPECT_NEAR(after[7], before[7], 2.0 * mean_change * before[7]);
}

}  // namespace
}  // namespace drift
