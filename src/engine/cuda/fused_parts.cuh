#pragma once

// What the fused kernels share: stages of shared memory filled by one warp and used up by two warpgroups.

#include "engine/cuda/fused.h"
#include "engine/cuda/hopper.cuh"

namespace drift::cuda {

// Three warpgroups; the third fetches and gives most of its registers to the others: 2 x 128 x 232 + 128 x 40 <= 65536.
constexpr int kConsumers = 256, kFusedThreads = kConsumers + 128;
constexpr int kAlignment = 1024;
template <class Factors>
constexpr int kTileBytes = static_cast<int>(sizeof(typename Factors::Number)) * kTileEntries;  // of an image
template <class Factors>
constexpr int kTileWords = kTileBytes<Factors> / static_cast<int>(sizeof(ImageWord));
static_assert(kTileWords<Tf32> == image_words(Precision::tf32) && kTileWords<Bf16> == image_words(Precision::bf16));
// Stages of shared memory, as many as there is room for, at multiples of kAlignment, and behind them two barriers of each.
template <int kStageBytes>
struct Stages {
  static constexpr int kBytes = kStageBytes, kCount = 200 * 1024 / kBytes;
  static constexpr int kShared = kCount * (kBytes + 16) + kAlignment;  // of dynamic shared memory, which may begin anywhere
  static_assert(kBytes % kAlignment == 0);
};

template <class Kernel>
void allow_shared(Kernel* kernel, int bytes) {
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "asking for shared memory");
}

// Neighbours along x are clusters of `cluster` blocks.
template <class Argument>
void launch_clusters(void (*kernel)(Argument), unsigned cluster, dim3 grid, unsigned threads, std::size_t shared,
                     cudaStream_t stream, const Argument& argument) {
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  check_cuda(cudaLaunchKernelEx(&config, kernel, argument), "starting a kernel");
}

__device__ __forceinline__ float fast_cosine(float radians) {
  float y;
  asm("cos.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(radians));
  return y;
}
__device__ __forceinline__ float fast_sine(float radians) {
  float y;
  asm("sin.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(radians));
  return y;
}
constexpr float kTwoPiF = 6.283185307179586F;

// 16 bits of a phase: 192 has a last place of 2^-16, so adding it leaves the fraction of a turn in the last 16 bits.
__device__ __forceinline__ std::uint32_t pack_phases(float r0, float r1) {
  return __byte_perm(__float_as_uint(r0 + 192.0F), __float_as_uint(r1 + 192.0F), 0x5410);
}
// The phase less half a turn, in radians: cosine and sine change their sign.
__device__ __forceinline__ float low_phase(std::uint32_t pair) {
  return kTwoPiF * (__uint_as_float(0x43400000U | (pair & 0xFFFFU)) - 192.5F);
}
__device__ __forceinline__ float high_phase(std::uint32_t pair) {
  return kTwoPiF * (__uint_as_float(0x43400000U | (pair >> 16)) - 192.5F);
}

// Two IEEE halves: 11 bits, as many as tf32 has.
__device__ __forceinline__ std::uint32_t pack_halves(float low, float high) {
  std::uint32_t pair;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
__device__ __forceinline__ float low_half(std::uint32_t pair) {
  float y;
  asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %1;\ncvt.f32.f16 %0, low;\n}" : "=f"(y) : "r"(pair));
  return y;
}
__device__ __forceinline__ float high_half(std::uint32_t pair) {
  float y;
  asm("{\n.reg .b16 low, high;\nmov.b32 {low, high}, %1;\ncvt.f32.f16 %0, high;\n}" : "=f"(y) : "r"(pair));
  return y;
}

__device__ __forceinline__ float factor_of(const MemberFactor& f, std::size_t member) {
  float factor = f.constant;
  if (f.first.data != nullptr) factor *= f.first.data[member * f.first.member_stride];
  if (f.second.data != nullptr) factor *= f.second.data[member * f.second.member_stride];
  return factor;
}

// Of the tail's tiles.
__device__ __forceinline__ int tail_first(const Division& d, int block) {
  return (d.pairs - d.rounds * d.blocks) * d.tiles * block / d.tail;
}
__device__ __forceinline__ int tail_owner(const Division& d, int unit) {
  return ((unit + 1) * d.tail - 1) / ((d.pairs - d.rounds * d.blocks) * d.tiles);
}
__device__ __forceinline__ int parts_of(const Division& d, int pair) {
  const int unit = (pair - d.rounds * d.blocks) * d.tiles;
  if (d.blocks == 0 || unit < 0) return 1;
  return tail_owner(d, unit + d.tiles - 1) - tail_owner(d, unit) + 1;
}

// A block's share of the work, pair by pair.
struct Share {
  const Division& division;
  int block, round = 0, unit, last;
  int pair = 0, begin = 0, count = 0, part = 0;  // the present pair, its tiles [begin, begin + count), and the part they make

  __device__ Share(const Division& d, int which) : division(d), block(which), unit(0), last(0) {
    if (block < d.tail) {
      unit = tail_first(d, block);
      last = tail_first(d, block + 1);
    }
  }
  __device__ bool next() {
    if (round < division.rounds) {
      pair = round++ * division.blocks + block;
      begin = part = 0;
      count = division.tiles;
      return true;
    }
    if (unit >= last) return false;
    const int of_tail = unit / division.tiles;
    pair = division.rounds * division.blocks + of_tail;
    begin = unit % division.tiles;
    count = min(last - unit, division.tiles - begin);
    part = block - tail_owner(division, of_tail * division.tiles);
    unit += count;
    return true;
  }
};

// A fragment block: the sum of its parts in their order, times the factor. All of a part is asked for at once.
__device__ __forceinline__ void load_fragments(const Fragments& f, std::size_t member, std::size_t block, std::size_t part_stride,
                                               int thread, float4 (&sum)[16]) {
  const float4* from = reinterpret_cast<const float4*>(f.data + block * kTileEntries) + thread;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum[k] = from[k * 128];
  const int parts = parts_of(f.division, static_cast<int>(block / 2));
  for (int part = 1; part < parts; ++part) {
    from += part_stride;
    float4 next[16];
#pragma unroll
    for (int k = 0; k < 16; ++k) next[k] = from[k * 128];
#pragma unroll
    for (int k = 0; k < 16; ++k) sum[k].x += next[k].x, sum[k].y += next[k].y, sum[k].z += next[k].z, sum[k].w += next[k].w;
  }
  const float factor = factor_of(f.factor, member);
#pragma unroll
  for (int k = 0; k < 16; ++k) sum[k].x *= factor, sum[k].y *= factor, sum[k].z *= factor, sum[k].w *= factor;
}

// The same as the left factor of a product.
template <class Factors>
__device__ __forceinline__ void load_left(const Fragments& f, std::size_t member, std::size_t block, std::size_t part_stride,
                                          int thread, std::uint32_t (&left)[left_registers<Factors>(kFusedWidth)]) {
  float4 sum[16];
  load_fragments(f, member, block, part_stride, thread, sum);
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    Factors::put(left, k, 0, sum[k].x, sum[k].y);
    Factors::put(left, k, 1, sum[k].z, sum[k].w);
  }
}

// p - round(p) by two additions: 1.5 2^23 has a last place of 1.
__device__ __forceinline__ float fast_fraction(float p) { return p - ((p + 12582912.0F) - 12582912.0F); }

// Numbers from an image's beginning of (k of the inner index, row) where its panels have kRows rows: 64 in a rows image, 128 in
// a columns image.
template <class Factors, int kRows>
__device__ __forceinline__ int image_place(int inner, int row) {
  constexpr int kChunk = Factors::kInner / 2, kPanel = 8 * kChunk;
  const int k = Factors::place(inner);
  return k / kPanel * (kRows * kPanel) + row * kPanel + ((k % kPanel / kChunk) ^ (row & 7)) * kChunk + k % kChunk;
}

constexpr int kImageStride = kFusedWidth + 1;

// A chunk of 16 bytes: kInner / 2 numbers, the i-th being from[place of i in the inner index * stride].
template <class Factors>
__device__ __forceinline__ uint4 image_chunk(const float* from, int stride, int chunk) {
  constexpr int kChunk = Factors::kInner / 2;
  union {
    typename Factors::Number numbers[kChunk];
    uint4 all;
  } result;
#pragma unroll
  for (int i = 0; i < kChunk; ++i) result.numbers[i] = Factors::rounded(from[Factors::from_place(chunk, i) * stride]);
  return result.all;
}

// tile [64][kImageStride] -> the images, by kThreads threads; neighbours write neighbouring chunks.
template <class Factors, int kThreads>
__device__ __forceinline__ void write_images(const float* tile, int thread, ImageWord* rows_image, ImageWord* columns_image) {
  constexpr int kPanel = 4 * Factors::kInner;  // 128 bytes
  for (int i = thread; i < kTileBytes<Factors> / 16; i += kThreads) {
    if (rows_image != nullptr) {
      const int h = i % 512 / 8, chunk = (i % 8) ^ (h & 7);
      reinterpret_cast<uint4*>(rows_image)[i] = image_chunk<Factors>(tile + h * kImageStride + i / 512 * kPanel, 1, chunk);
    }
    if (columns_image != nullptr) {
      const int j = i % 1024 / 8, chunk = (i % 8) ^ (j & 7);
      reinterpret_cast<uint4*>(columns_image)[i] =
          image_chunk<Factors>(tile + i / 1024 * kPanel * kImageStride + j, kImageStride, chunk);
    }
  }
}

// Within 2^-22 of the root.
__device__ __forceinline__ float fast_root(float x) {
  float y;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__device__ __forceinline__ void adam_entry(const FusedAdam& a, float rate, float inverse2, float g, float& weight, float& moment1,
                                           float& moment2) {
  const float m = fmaf(a.beta1, moment1, (1 - a.beta1) * g);
  const float v = fmaf(a.beta2, moment2, (1 - a.beta2) * (g * g));
  weight -= __fdividef(rate * m, fast_root(v * inverse2) + a.epsilon);
  moment1 = m;
  moment2 = v;
}

#ifdef DRIFT_WGMMA

extern __shared__ unsigned char shared_memory[];
__device__ __forceinline__ unsigned char* aligned_memory() {
  const std::uint32_t address = shared_address(shared_memory);
  return shared_memory + ((kAlignment - address % kAlignment) % kAlignment);
}

// A stage that is being filled: where a barrier waits for all that was said to come.
struct Filling {
  unsigned char* stage;
  std::uint64_t* full;

  __device__ void copy(int offset, const void* from, int bytes) const { bulk_copy(stage + offset, from, bytes, full); }
};

// The stages in turn; `i` counts fills.
template <class S>
struct Ring {
  unsigned char* memory;
  std::uint64_t* full;
  std::uint64_t* empty;

  __device__ explicit Ring(unsigned char* aligned)
      : memory(aligned), full(reinterpret_cast<std::uint64_t*>(memory + S::kCount * S::kBytes)), empty(full + S::kCount) {
    if (threadIdx.x == 0) {
      for (int i = 0; i < S::kCount; ++i) {
        barrier_init(full + i, 1);
        barrier_init(empty + i, kConsumers);
      }
      barrier_init_fence();
    }
    __syncthreads();
  }
  __device__ unsigned char* stage(int i) const { return memory + i % S::kCount * S::kBytes; }
  // Producer: when the stage is free, `bytes` are going to come.
  __device__ Filling fill(int i, int bytes) const {
    if (i >= S::kCount) barrier_wait(empty + i % S::kCount, (i / S::kCount - 1) & 1);
    barrier_expect(full + i % S::kCount, bytes);
    return {stage(i), full + i % S::kCount};
  }
  // Consumers: what was to come has come.
  __device__ void wait_full(int i) const { barrier_wait(full + i % S::kCount, (i / S::kCount) & 1); }
  // Consumers: a thread has done with it. What it has read of the stage itself must have reached it, as it has where products of
  // it were waited for: an arrival does not wait for reads under way. One lane could arrive for its warp after __syncwarp(), but
  // racecheck would not see the other lanes' reads.
  __device__ void release(int i) const { barrier_arrive(empty + i % S::kCount); }
};

// D [64, 64] = left . tile^T of a rows image.
template <class Factors>
__device__ __forceinline__ void multiply_rows_image(const std::uint32_t (&left)[left_registers<Factors>(kFusedWidth)],
                                                    std::uint32_t tile, float (&d)[32]) {
#pragma unroll
  for (int k = 0; k < kFusedWidth / Factors::kInner; ++k)
    wgmma<Factors>(d, left + 4 * k, panel_descriptor(tile + k / 4 * 8192 + k % 4 * 32), k > 0);
}
// D [64, 128] += left . tile^T of a columns image.
template <class Factors>
__device__ __forceinline__ void multiply_columns_image(const std::uint32_t (&left)[left_registers<Factors>(kFusedTile)],
                                                       std::uint32_t tile, float (&d)[64]) {
#pragma unroll
  for (int k = 0; k < kFusedTile / Factors::kInner; ++k)
    wgmma<Factors>(d, left + 4 * k, panel_descriptor(tile + k / 4 * 16384 + k % 4 * 32), 1);
}

__device__ __forceinline__ void store_fragments(const float (&d)[64], float* block, int thread) {
  float4* to = reinterpret_cast<float4*>(block) + thread;
#pragma unroll
  for (int k = 0; k < 16; ++k) to[k * 128] = {d[4 * k], d[4 * k + 1], d[4 * k + 2], d[4 * k + 3]};
}

#endif  // DRIFT_WGMMA

}  // namespace drift::cuda
