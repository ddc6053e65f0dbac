#include "core/threads.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "drift/error.h"

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

std::set<std::thread::id> who_runs(int threads) {
  std::vector<std::thread::id> ids(static_cast<std::size_t>(threads));
  run_on_threads(threads, [&](int thread) { ids[static_cast<std::size_t>(thread)] = std::this_thread::get_id(); });
  return {ids.begin(), ids.end()};
}

TEST(RunOnThreads, KeepsItsThreadsFromCallToCall) {
  const std::set<std::thread::id> first = who_runs(4);
  EXPECT_EQ(first.size(), 4U);
  for (int call = 0; call < 100; ++call) ASSERT_EQ(who_runs(4), first);
}

TEST(RunOnThreads, RunsEveryThreadSideBySideAlsoWhenCalledByItself) {
  std::barrier all(12);  // would wait for ever if one began only when another had ended
  std::atomic<int> passed = 0;
  run_on_threads(3, [&](int) {
    run_on_threads(4, [&](int) {
      all.arrive_and_wait();
      ++passed;
    });
  });
  EXPECT_EQ(passed, 12);
}

TEST(RunOnThreads, WorksInAForkWhichHasNoneOfItsParentsThreads) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer knows no threads after a fork";
#endif
  who_runs(3);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);  // ends a child that waits for a thread it does not have
    ::_exit(static_cast<int>(who_runs(3).size()));
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(AvailableThreads, IsAtLeastOne) { EXPECT_GE(available_threads(), 1); }

TEST(ThreadsOrAll, AreThoseWantedOrOnePerCore) {
  EXPECT_EQ(threads_or_all(3), 3);
  EXPECT_EQ(threads_or_all(0), available_threads());
  EXPECT_THROW(threads_or_all(-1), UsageError);
}

}  // namespace
}  // namespace drift
