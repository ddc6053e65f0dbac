#include "core/blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace drift {
namespace {

using Bounds = std::vector<std::pair<std::size_t, std::size_t>>;

Bounds bounds(std::size_t rows, std::size_t block) {
  Bounds found;
  for_blocks(rows, block, [&](std::size_t first, std::size_t count) { found.emplace_back(first, count); });
  return found;
}

TEST(Blocks, CoverAllRowsOnceInOrder) {
  EXPECT_EQ(bounds(0, 4), Bounds{});
  EXPECT_EQ(bounds(3, 4), (Bounds{{0, 3}}));
  EXPECT_EQ(bounds(8, 4), (Bounds{{0, 4}, {4, 4}}));
  EXPECT_EQ(bounds(9, 4), (Bounds{{0, 4}, {4, 4}, {8, 1}}));
  std::size_t calls = 0;
  for_blocks(kPointsAtATime + 1, [&](std::size_t, std::size_t) { ++calls; });
  EXPECT_EQ(calls, 2U);
}

}  // namespace
}  // namespace drift
