#include "tune/schedule.h"

#include <gtest/gtest.h>

namespace drift {
namespace {

TEST(Schedule, APointSeesAllButTheLastFewOrAllRoundsBeforeItsOwn) {
  SearchPlan plan;
  plan.parallel = 4;
  EXPECT_EQ(first_unseen(plan, 3), 0U);
  EXPECT_EQ(first_unseen(plan, 4), 1U);
  EXPECT_EQ(first_unseen(plan, 11), 8U);
  plan.rounds = true;
  EXPECT_EQ(first_unseen(plan, 3), 0U);
  EXPECT_EQ(first_unseen(plan, 4), 4U);
  EXPECT_EQ(first_unseen(plan, 7), 4U);
  EXPECT_EQ(first_unseen(plan, 8), 8U);
}

}  // namespace
}  // namespace drift
