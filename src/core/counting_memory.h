#pragma once

// For tests: counts the memory that a whole test program holds through operator new. Include it in one file of a program.

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace drift::counting_memory {

inline std::atomic<std::ptrdiff_t> live_bytes{0};
inline std::atomic<std::ptrdiff_t> peak_bytes{0};

inline void* counted(void* pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  const auto now = live_bytes += static_cast<std::ptrdiff_t>(::malloc_usable_size(pointer));
  std::ptrdiff_t peak = peak_bytes;
  while (now > peak && !peak_bytes.compare_exchange_weak(peak, now)) {
  }
  return pointer;
}

inline void release(void* pointer) {
  if (pointer == nullptr) return;
  live_bytes -= static_cast<std::ptrdiff_t>(::malloc_usable_size(pointer));
  std::free(pointer);
}

// The most that is held at once while `work` runs, beyond what was held before.
template <class Work>
std::ptrdiff_t peak_during(const Work& work) {
  const std::ptrdiff_t before = live_bytes;
  peak_bytes = before;
  work();
  return peak_bytes - before;
}

}  // namespace drift::counting_memory

// The array and nothrow forms come here too.
void* operator new(std::size_t size) { return drift::counting_memory::counted(std::malloc(size == 0 ? 1 : size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto bytes = static_cast<std::size_t>(alignment);
  return drift::counting_memory::counted(std::aligned_alloc(bytes, (size + bytes - 1) / bytes * bytes));
}
void operator delete(void* pointer) noexcept { drift::counting_memory::release(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { drift::counting_memory::release(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { drift::counting_memory::release(pointer); }
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept { drift::counting_memory::release(pointer); }
