#include "drift/grouped.h"

#include <gtest/gtest.h>

namespace drift {
namespace {

TEST(Grouped, PutsACommaBeforeEveryThirdDigit) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1162655), "1,162,655");
  EXPECT_EQ(grouped(-1234.4), "-1,234");
}

}  // namespace
}  // namespace drift
