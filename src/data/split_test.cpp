#include "drift/split.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "drift/error.h"

namespace drift {
namespace {

TEST(SplitAtRandom, PutsEveryObservationInExactlyOneSet) {
  const Split split = split_at_random(1003, 0.2, 7);
  EXPECT_EQ(split.held_out.size(), 200u);
  std::vector<std::size_t> all = split.training;
  all.insert(all.end(), split.held_out.begin(), split.held_out.end());
  std::sort(all.begin(), all.end());
  std::vector<std::size_t> expected(1003);
  std::iota(expected.begin(), expected.end(), std::size_t{0});
  EXPECT_EQ(all, expected);
  EXPECT_TRUE(std::is_sorted(split.training.begin(), split.training.end()));
}

TEST(SplitAtRandom, IsFixedByItsSeed) {
  EXPECT_EQ(split_at_random(500, 0.3, 1).held_out, split_at_random(500, 0.3, 1).held_out);
  EXPECT_NE(split_at_random(500, 0.3, 1).held_out, split_at_random(500, 0.3, 2).held_out);
}

TEST(SplitAtRandom, DrawsEvenlyOverTheRows) {
  std::vector<int> drawn(10, 0);
  for (std::size_t row : split_at_random(100000, 0.2, 3).held_out) ++drawn[row / 10000];
  for (int tenth : drawn) EXPECT_NEAR(tenth, 2000, 5 * std::sqrt(2000 * 0.8));
}

TEST(SplitAtRandom, TakesTheEnds) {
  EXPECT_TRUE(split_at_random(10, 0.0, 1).held_out.empty());
  EXPECT_TRUE(split_at_random(0, 0.5, 1).training.empty());
  EXPECT_THROW(split_at_random(10, 1.0, 1), UsageError);
  EXPECT_THROW(split_at_random(10, std::nan(""), 1), UsageError);
}

}  // namespace
}  // namespace drift
