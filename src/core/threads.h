#pragma once

#include <functional>

namespace drift {

// Cores this process may use (its affinity mask, not the machine's size).
int available_threads();
// `wanted` threads, or one per core where that is 0. Throws UsageError below 0.
int threads_or_all(int wanted);

// Runs work(0) ... work(threads - 1) side by side, the first on the calling thread, and waits for all of them. The first
// exception is thrown again here, after every thread has ended. Threads are kept for the next call, which costs some 10 us then;
// calls may be nested and come from several threads.
void run_on_threads(int threads, const std::function<void(int thread)>& work);

}  // namespace drift
