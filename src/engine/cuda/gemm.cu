// Batched products on the tensor cores by mma.sync (m16n8k8, tf32), for every shape and transposition. A block makes a tile of C
// of 64 x 128; 32 entries of k at a time go through shared memory, the next ones meanwhile into registers. Bank conflicts: rows
// of a tile are 4 (k contiguous) or 8 (k across) words longer than 32, so that the 8 x 4 lanes of a fragment meet 32 banks.

#include <cuda_bf16.h>

#include <cstdint>

#include "engine/cuda/factors.cuh"
#include "engine/cuda/gemm.h"

namespace drift::cuda {
namespace {

constexpr int kTileM = 64, kTileN = 128, kTileK = 32, kThreads = 256, kStages = 3;

template <Precision kPrecision>
__device__ __forceinline__ std::uint32_t rounded(float x) {
  if constexpr (kPrecision == Precision::bf16) return __float_as_uint(__bfloat162float(__float2bfloat16_rn(x)));
  return Tf32::rounded(x);
}

// 16 or 4 bytes into shared memory, beyond `bytes` zeros.
__device__ __forceinline__ void copy_16(float* to, const float* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
               "l"(from), "r"(bytes));
}
__device__ __forceinline__ void copy_4(float* to, const float* from, int bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(to))),
               "l"(from), "r"(bytes));
}

__device__ __forceinline__ void mma(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// One factor's tile of kX rows of C (or columns) by kTileK; in memory k is contiguous (kAlong) or the other index is.
template <int kX, bool kAlong>
struct Tile {
  static constexpr int kQuads = kX * kTileK / 4 / kThreads;
  static constexpr int kStride = kAlong ? kTileK + 4 : kX + 8;
  static constexpr int kWords = kAlong ? kX * kStride : kTileK * kStride;

  // Begins to copy the tile at (x0, k0); what lies beyond the matrix becomes zero. `wide`: rows begin at multiples of 16 bytes.
  __device__ static void fetch(const float* from, std::size_t stride, int x0, int count_x, int k0, int count_k, bool wide,
                               float* tile) {
#pragma unroll
    for (int quad = 0; quad < kQuads; ++quad) {
      const int index = static_cast<int>(threadIdx.x) + quad * kThreads;
      const int outer = kAlong ? index / (kTileK / 4) : index / (kX / 4);
      const int inner = (kAlong ? index % (kTileK / 4) : index % (kX / 4)) * 4;
      const int row = outer + (kAlong ? x0 : k0), column = inner + (kAlong ? k0 : x0);
      const int rows = kAlong ? count_x : count_k, columns = kAlong ? count_k : count_x;
      const int there = row < rows ? min(4, max(0, columns - column)) : 0;
      const float* p = there > 0 ? from + row * stride + column : from;
      float* to = tile + outer * kStride + inner;
      if (wide) {
        copy_16(to, p, 4 * there);
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) copy_4(to + i, i < there ? p + i : from, i < there ? 4 : 0);
      }
    }
  }

  __device__ static float at(const float* tile, int x, int k) { return tile[kAlong ? x * kStride + k : k * kStride + x]; }
};

__device__ __forceinline__ void split(float x, std::uint32_t& high, std::uint32_t& low) {
  high = Tf32::rounded(x);
  low = Tf32::rounded(x - __uint_as_float(high));
}

template <Precision kPrecision, bool kTransposeA, bool kTransposeB>
__global__ void __launch_bounds__(kThreads) gemm_kernel(Gemm g, bool wide_a, bool wide_b) {
  using TileA = Tile<kTileM, !kTransposeA>;
  using TileB = Tile<kTileN, kTransposeB>;
  extern __shared__ __align__(16) float stages[];
  constexpr int kStageWords = TileA::kWords + TileB::kWords;
  const std::size_t z = blockIdx.z;
  const float* a = g.a.data + z * g.a.member_stride;
  const float* b = g.b.data + z * g.b.member_stride;
  float* c = g.c.data + z * g.c.member_stride;
  const int m0 = static_cast<int>(blockIdx.y) * kTileM, n0 = static_cast<int>(blockIdx.x) * kTileN;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int warp_m = warp % 2 * 32, warp_n = warp / 2 * 32;
  const int group = lane / 4, quarter = lane % 4;

  float sum[2][4][4] = {};
  const auto fetch = [&](int number) {
    float* stage = stages + number % kStages * kStageWords;
    if (number * kTileK < g.k) {
      TileA::fetch(a, g.a.stride, m0, g.m, number * kTileK, g.k, wide_a, stage);
      TileB::fetch(b, g.b.stride, n0, g.n, number * kTileK, g.k, wide_b, stage + TileA::kWords);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  for (int number = 0; number + 1 < kStages; ++number) fetch(number);
  for (int number = 0; number * kTileK < g.k; ++number) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();
    fetch(number + kStages - 1);  // into the stage that all threads have left
    const float* tile_a = stages + number % kStages * kStageWords;
    const float* tile_b = tile_a + TileA::kWords;
#pragma unroll
    for (int k = 0; k < kTileK; k += 8) {
      float fa[2][4], fb[4][2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int part = 0; part < 4; ++part) {
          fa[i][part] = TileA::at(tile_a, warp_m + i * 16 + group + part % 2 * 8, k + quarter + part / 2 * 4);
          if (g.square_a) fa[i][part] *= fa[i][part];
        }
      }
#pragma unroll
      for (int j = 0; j < 4; ++j) {
#pragma unroll
        for (int part = 0; part < 2; ++part) fb[j][part] = TileB::at(tile_b, warp_n + j * 8 + group, k + quarter + part * 4);
      }
      std::uint32_t high_a[2][4], high_b[4][2];
      if constexpr (kPrecision == Precision::float32) {
        std::uint32_t low_a[2][4], low_b[4][2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
          for (int part = 0; part < 4; ++part) split(fa[i][part], high_a[i][part], low_a[i][part]);
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#pragma unroll
          for (int part = 0; part < 2; ++part) split(fb[j][part], high_b[j][part], low_b[j][part]);
        }
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
          for (int j = 0; j < 4; ++j) {
            mma(sum[i][j], low_a[i], high_b[j]);
            mma(sum[i][j], high_a[i], low_b[j]);
          }
        }
      } else {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
#pragma unroll
          for (int part = 0; part < 4; ++part) high_a[i][part] = rounded<kPrecision>(fa[i][part]);
        }
#pragma unroll
        for (int j = 0; j < 4; ++j) {
#pragma unroll
          for (int part = 0; part < 2; ++part) high_b[j][part] = rounded<kPrecision>(fb[j][part]);
        }
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) mma(sum[i][j], high_a[i], high_b[j]);
      }
    }
  }

  const float alpha = g.alpha * (g.scale.data == nullptr ? 1.0F : g.scale.data[z * g.scale.member_stride]);
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        const int row = m0 + warp_m + i * 16 + group + part / 2 * 8;
        const int col = n0 + warp_n + j * 8 + quarter * 2 + part % 2;
        if (row >= g.m || col >= g.n) continue;
        float& to = c[row * g.c.stride + col];
        to = g.beta == 0.0F ? alpha * sum[i][j][part] : alpha * sum[i][j][part] + g.beta * to;
      }
    }
  }
}

bool wide(const Batched<const float>& x) {
  return x.stride % 4 == 0 && x.member_stride % 4 == 0 && reinterpret_cast<std::uintptr_t>(x.data) % 16 == 0;
}

template <Precision kPrecision, bool kTransposeA, bool kTransposeB>
void launch(const Gemm& g, cudaStream_t stream) {
  constexpr int kBytes = kStages * (Tile<kTileM, !kTransposeA>::kWords + Tile<kTileN, kTransposeB>::kWords) * 4;
  const auto kernel = gemm_kernel<kPrecision, kTransposeA, kTransposeB>;
  check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes), "asking for shared memory");
  const dim3 grid(static_cast<unsigned>((g.n + kTileN - 1) / kTileN), static_cast<unsigned>((g.m + kTileM - 1) / kTileM),
                  static_cast<unsigned>(g.members));
  kernel<<<grid, kThreads, kBytes, stream>>>(g, wide(g.a), wide(g.b));
}

template <Precision kPrecision>
void launch(const Gemm& g, cudaStream_t stream) {
  if (g.transpose_a && g.transpose_b) return launch<kPrecision, true, true>(g, stream);
  if (g.transpose_a) return launch<kPrecision, true, false>(g, stream);
  if (g.transpose_b) return launch<kPrecision, false, true>(g, stream);
  launch<kPrecision, false, false>(g, stream);
}

}  // namespace

void gemm(const Gemm& g, cudaStream_t stream) {
  if (g.m == 0 || g.n == 0 || g.members == 0) return;
  switch (g.precision) {
    case Precision::float32:
      launch<Precision::float32>(g, stream);
      break;
    case Precision::tf32:
      launch<Precision::tf32>(g, stream);
      break;
    case Precision::bf16:
      launch<Precision::bf16>(g, stream);
      break;
  }
  check_cuda(cudaGetLastError(), "starting a matrix product");
}

}  // namespace drift::cuda
