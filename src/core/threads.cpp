#include "core/threads.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/aligned_vector.h"
#include "drift/error.h"

namespace drift {
namespace {

// Time spent looking for work before sleeping: falling asleep and waking takes about as long, in a virtual machine longer.
constexpr std::chrono::microseconds kLook{50};

using Count = std::atomic<std::uint32_t>;

// Waits until the count is another than `before`.
void wait_for_change(const Count& count, std::uint32_t before) {
  const auto until = std::chrono::steady_clock::now() + kLook;
  while (count.load(std::memory_order_acquire) == before && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  count.wait(before, std::memory_order_acquire);
}

// A thread that serves one caller at a time, and sleeps between them until the process ends.
class Worker {  // NOLINT(clang-analyzer-optin.performance.Padding): a cache line for each count
 public:
  Worker() {
    std::thread([this] { serve(); }).detach();
  }

  void begin(const std::function<void(int)>& work, int thread) {
    work_ = &work;
    thread_ = thread;
    ++begun_;
    begun_.notify_one();
  }
  void wait() const { wait_for_change(done_, begun_ - 1); }

 private:
  void serve() {
    for (std::uint32_t served = 0;; ++served) {
      wait_for_change(begun_, served);
      (*work_)(thread_);
      ++done_;
      done_.notify_one();
    }
  }

  const std::function<void(int)>* work_ = nullptr;
  int thread_ = 0;
  alignas(kCacheLine) Count begun_ = 0;
  alignas(kCacheLine) Count done_ = 0;
};

// Workers that nobody uses at the moment. As many are started as were ever wanted at once: starting one takes 20 to 60 us, and
// its memory is cold.
class Idle {
 public:
  std::vector<Worker*> take(std::size_t count) {
    const std::lock_guard lock(mutex_);
    if (process_ != ::getpid()) {  // a fork has none of its parent's threads
      workers_.clear();
      process_ = ::getpid();
    }
    try {
      while (workers_.size() < count) workers_.push_back(std::make_unique<Worker>().release());
    } catch (const std::system_error& error) {
      throw Error(fmt::format(
          "the system starts no more threads than {} of {}: {}; use fewer (--threads), or raise its limit (ulimit -u, "
          "or a container's pids limit)",
          workers_.size() + 1, count + 1, error.code().message()));
    }
    std::vector<Worker*> taken(workers_.end() - static_cast<std::ptrdiff_t>(count), workers_.end());
    workers_.resize(workers_.size() - count);
    return taken;
  }
  void give_back(const std::vector<Worker*>& taken) {
    const std::lock_guard lock(mutex_);
    workers_.insert(workers_.end(), taken.begin(), taken.end());
  }

 private:
  std::mutex mutex_;
  std::vector<Worker*> workers_;
  pid_t process_ = ::getpid();
};

Idle& idle() {
  static Idle& all = *new Idle;  // never deleted: the workers do not end either NOLINT(*-non-const-global-variables)
  return all;
}

}  // namespace

int available_threads() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  const unsigned hardware = std::thread::hardware_concurrency();
  return hardware == 0 ? 1 : static_cast<int>(hardware);
}

int threads_or_all(int wanted) {
  if (wanted < 0) throw UsageError(fmt::format("threads is {} but must be at least 1, or 0 for one per core", wanted));
  return wanted == 0 ? available_threads() : wanted;
}

void run_on_threads(int threads, const std::function<void(int thread)>& work) {
  std::mutex mutex;
  std::exception_ptr first_error;
  const std::function<void(int)> guarded = [&](int thread) {
    try {
      work(thread);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first_error) first_error = std::current_exception();
    }
  };
  const std::vector<Worker*> others = idle().take(threads > 1 ? static_cast<std::size_t>(threads - 1) : 0);
  for (std::size_t i = 0; i < others.size(); ++i) others[i]->begin(guarded, static_cast<int>(i) + 1);
  guarded(0);
  for (const Worker* other : others) other->wait();
  idle().give_back(others);
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace drift
