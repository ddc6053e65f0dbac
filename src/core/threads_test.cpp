#include "core/threads.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace drift {
namespace {

TEST(RunOnThreads, GivesEachThreadItsNumberOnce) {
  std::vector<std::atomic<int>> seen(5);
  run_on_threads(5, [&](int thread) { ++seen[static_cast<std::size_t>(thread)]; });
  for (const auto& count : seen) EXPECT_EQ(count, 1);
}

TEST(RunOnThreads, ThrowsAgainAfterEveryThreadHasEnded) {
  std::atomic<int> ended = 0;
  EXPECT_THROW(run_on_threads(4,
                              [&](int thread) {
                                if (thread == 2) throw std::runtime_error("two");
                                ++ended;
                              }),
               std::runtime_error);
  EXPECT_EQ(ended, 3);
}

TEST(AvailableThreads, IsAtLeastOne) { EXPECT_GE(available_threads(), 1); }

}  // namespace
}  // namespace drift
