#include "core/threads.h"

#include <sched.h>

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace drift {

int available_threads() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) == 0) return CPU_COUNT(&cores);
  const unsigned hardware = std::thread::hardware_concurrency();
  return hardware == 0 ? 1 : static_cast<int>(hardware);
}

void run_on_threads(int threads, const std::function<void(int thread)>& work) {
  std::mutex mutex;
  std::exception_ptr first_error;
  const auto guarded = [&](int thread) {
    try {
      work(thread);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first_error) first_error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (int thread = 1; thread < threads; ++thread) others.emplace_back(guarded, thread);
    guarded(0);
  }
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace drift
