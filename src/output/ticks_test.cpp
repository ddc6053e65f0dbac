#include "output/ticks.h"

#include <gtest/gtest.h>

namespace drift {
namespace {

TEST(NiceTicks, AreRoundNumbersInsideTheRange) {
  const auto labels = [](double low, double high, int most) {
    std::string joined;
    for (const Tick& tick : nice_ticks(low, high, most)) joined += tick.label + " ";
    return joined;
  };
  EXPECT_EQ(labels(-2.0, 2.0, 5), "-2 -1 0 1 2 ");
  EXPECT_EQ(labels(0.0, 0.31, 5), "0.0 0.1 0.2 0.3 ");
  EXPECT_EQ(labels(0.0, 0.04, 5), "0.00 0.01 0.02 0.03 0.04 ");
  EXPECT_EQ(labels(-2.7, 2.7, 5), "-2 -1 0 1 2 ");
  EXPECT_EQ(labels(-2.7, 2.7, 4), "-2 0 2 ");
  EXPECT_EQ(labels(0.0, 12000.0, 4), "0 5000 10000 ");
}

}  // namespace
}  // namespace drift
