#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace drift {

inline constexpr std::size_t kCacheLine = 64;  // bytes; also the widest vector

template <class T>
struct CacheLineAllocator {
  using value_type = T;
  CacheLineAllocator() = default;
  template <class U>
  explicit CacheLineAllocator(const CacheLineAllocator<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(kCacheLine))); }
  void deallocate(T* pointer, std::size_t) { ::operator delete(pointer, std::align_val_t(kCacheLine)); }
  template <class U>
  bool operator==(const CacheLineAllocator<U>&) const {
    return true;
  }
};

// A vector whose first element starts a cache line.
template <class T>
using AlignedVector = std::vector<T, CacheLineAllocator<T>>;

}  // namespace drift
