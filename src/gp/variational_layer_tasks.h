#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include "core/threads.h"

namespace drift::gp {

// Runs work(0) ... work(tasks - 1), each once, on whichever of the threads is free. Tasks must not share what they write: then
// the result does not depend on the number of threads.
template <class Work>
void run_tasks(int threads, std::size_t tasks, const Work& work) {
  const int used = static_cast<int>(std::min(static_cast<std::size_t>(std::max(threads, 1)), tasks));
  if (used <= 1) {
    for (std::size_t task = 0; task < tasks; ++task) work(task);
    return;
  }
  std::atomic<std::size_t> next{0};
  run_on_threads(used, [&](int) {
    for (std::size_t task = next++; task < tasks; task = next++) work(task);
  });
}

// [first, last) of fixed length, the last one shorter.
struct Range {
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t size() const { return last - first; }
};

inline std::size_t range_count(std::size_t total, std::size_t length) { return (total + length - 1) / length; }
inline Range range_at(std::size_t total, std::size_t length, std::size_t index) {
  return {index * length, std::min(total, (index + 1) * length)};
}

}  // namespace drift::gp
