#pragma once

#include <cstddef>

namespace drift::cuda {

inline unsigned blocks(std::size_t count, std::size_t size) { return static_cast<unsigned>((count + size - 1) / size); }
inline unsigned unsigned_of(int count) { return static_cast<unsigned>(count); }

// The same order of additions in every run.
template <class T>
__device__ __forceinline__ T warp_sum(T x) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(0xFFFFFFFFU, x, offset);
  return x;
}

// Of a block of kThreads threads; every thread gets the sum. `memory` holds kThreads / 32 entries.
template <int kThreads, class T>
__device__ __forceinline__ T block_sum(T x, T* memory) {
  x = warp_sum(x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) memory[threadIdx.x / 32] = x;
  __syncthreads();
  T sum = 0;
  for (int i = 0; i < kThreads / 32; ++i) sum += memory[i];
  return sum;
}

}  // namespace drift::cuda
