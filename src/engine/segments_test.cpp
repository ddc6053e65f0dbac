#include "engine/segments.h"

#include <gtest/gtest.h>

#include <vector>

namespace drift {
namespace {

struct Outcome {
  std::vector<double> saved_at_s;
  int segments = 0;
};

// Runs `total` steps of a made-up clock. A checkpoint takes two seconds.
template <class SecondsOfStep>
Outcome run(double every_s, std::uint64_t total, SecondsOfStep seconds_of_step) {
  Outcome outcome;
  double now_s = 1000.0;
  std::uint64_t step = 0;
  Segments segments(every_s, step, total, now_s);
  while (!segments.done()) {
    const std::uint64_t end = segments.next_end();
    EXPECT_GT(end, step);
    EXPECT_LE(end, total);
    for (; step < end; ++step) now_s += seconds_of_step(step);
    ++outcome.segments;
    if (!segments.reached(step, now_s)) continue;
    outcome.saved_at_s.push_back(now_s);
    now_s += 2.0;
    segments.saved(now_s);
  }
  return outcome;
}

TEST(Segments, MakeACheckpointDueAboutEveryInterval) {
  const Outcome outcome = run(300.0, 100000, [](std::uint64_t) { return 0.05; });
  ASSERT_EQ(outcome.saved_at_s.size(), 16u);  // 5000 s of training
  double last = 1000.0;
  for (const double saved : outcome.saved_at_s) {
    EXPECT_GE(saved - last, 0.9 * 300.0);
    EXPECT_LE(saved - last, 300.0 + 2.0 + 0.1);
    last = saved;
  }
}

TEST(Segments, AreFew) {
  EXPECT_LT(run(300.0, 100000, [](std::uint64_t) { return 0.05; }).segments, 30);
}

TEST(Segments, FollowTheSpeedAsItChanges) {
  const Outcome outcome = run(100.0, 4000, [](std::uint64_t step) { return step < 2000 ? 0.1 : 0.3; });
  for (std::size_t i = 1; i < outcome.saved_at_s.size(); ++i) {
    EXPECT_LE(outcome.saved_at_s[i] - outcome.saved_at_s[i - 1], 310.0);  // the one segment during which it fell to a third
  }
  const std::size_t last = outcome.saved_at_s.size() - 1;
  EXPECT_LE(outcome.saved_at_s[last] - outcome.saved_at_s[last - 1], 103.0);
}

TEST(Segments, SaveAfterEveryStepThatIsLongerThanTheInterval) {
  const Outcome outcome = run(10.0, 20, [](std::uint64_t) { return 60.0; });
  EXPECT_EQ(outcome.saved_at_s.size(), 17u);  // once after the first four steps, whose speed nobody knew, then after each
}

TEST(Segments, EndWithTheRunWhenStepsTakeNoTime) {
  const Outcome outcome = run(10.0, 1000000, [](std::uint64_t) { return 0.0; });
  EXPECT_TRUE(outcome.saved_at_s.empty());
  EXPECT_LT(outcome.segments, 10);
}

TEST(Segments, OfAFinishedRunAreNone) {
  EXPECT_TRUE(Segments(10.0, 7, 7, 0.0).done());
  EXPECT_FALSE(Segments(10.0, 6, 7, 0.0).done());
}

}  // namespace
}  // namespace drift
