// Orthogonalised momentum of a matrix [rows, 128] in one kernel on Hopper, from the gradient to the new weights and their images;
// engine/cpu/muon.h has the mathematics, fused.h the layouts.
//
// A cluster of blocks has one matrix, each block 256 rows of X, each of its two warpgroups 128 of them. X stays in registers, as
// two fragment blocks; what products read lies in shared memory:
//   rows    X^T of the block's rows, a columns image of 256 rows, for its share of the Gram matrix; then, X being in registers,
//           that share, as fragments, and behind it the sum over all blocks
//   square  an image [128, 128] of the Gram matrix A, then of P = a I + b A + c A^2; both are symmetric
// Sums over the cluster are taken in the order of its blocks.

#include "engine/cuda/fused_parts.cuh"
#include "engine/cuda/launch.cuh"
#include "engine/cuda/muon.h"

namespace drift::cuda {
namespace {

constexpr int kMuonThreads = 256, kMuonRows = 256;  // of a block
constexpr int kPanelBytes = 128 * 128;              // 32 numbers of the inner index
constexpr int kRowsBytes = kMuonRows / 32 * kPanelBytes, kSquareBytes = 4 * kPanelBytes;
constexpr int kMuonShared = kRowsBytes + kSquareBytes + kAlignment;

#ifdef DRIFT_WGMMA

// A thread's place: (row, column) and (row + 8, column) are the first of its pairs in each group of 8 columns.
struct Place {
  int group, thread, row, column;

  // Made where it is used, so that nothing that follows from it is kept in registers beside X.
  __device__ Place() {
    int t = threadIdx.x;
    asm volatile("" : "+r"(t));
    group = t / 128, thread = t % 128;
    row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
  }
  // Of a block of the matrix; `b` is the warpgroup's first or second block of 64 rows.
  __device__ int row_of_block(int b, int half) const { return group * 128 + b * 64 + row + half * 8; }
};

// For a thread's rows that are within the matrix: work(offset of the first pair there, its entries: x[b][4 k + 2 half] are the
// first of the pairs, 8 columns apart).
template <class Work>
__device__ __forceinline__ void for_rows(const FusedMuon& m, const Work& work) {
  const Place place;
#pragma unroll
  for (int b = 0; b < 2; ++b) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = blockIdx.x * kMuonRows + place.row_of_block(b, half);
      if (row < m.rows) work(static_cast<std::size_t>(row) * kFusedWidth + place.column, b, half);
    }
  }
}

// 16 pairs, asked for at once.
__device__ __forceinline__ void load_pairs(const float* from, float2 (&pairs)[16]) {
#pragma unroll
  for (int k = 0; k < 16; ++k) pairs[k] = *reinterpret_cast<const float2*>(from + k * 8);
}
__device__ __forceinline__ void store_pairs(const float2 (&pairs)[16], float* to) {
#pragma unroll
  for (int k = 0; k < 16; ++k) *reinterpret_cast<float2*>(to + k * 8) = pairs[k];
}

// M = mu M + g, X = g + mu M; the sum of this thread's X^2.
__device__ __forceinline__ double load_momentum(const FusedMuon& m, float (&x)[2][64]) {
  const MuonArrays& a = m.arrays;
  const std::size_t z = blockIdx.z, offset = a.offsets[blockIdx.y];
  const float* weights = a.weights + z * a.weights_stride + offset;
  const float* gradient = a.gradient + z * a.gradient_stride + offset;
  float* momentum = a.momentum + z * a.moment_stride + offset;
  const float decay = m.numbers[z].decay;
#pragma unroll
  for (int i = 0; i < 64; ++i) x[0][i] = x[1][i] = 0;
  double sum = 0;
  for_rows(m, [&](std::size_t at, int b, int half) {
    float2 w[16], g[16], moment[16];
    load_pairs(weights + at, w);
    load_pairs(gradient + at, g);
    load_pairs(momentum + at, moment);
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      const float g0 = fmaf(decay, w[k].x, g[k].x), g1 = fmaf(decay, w[k].y, g[k].y);
      moment[k] = {fmaf(a.mu, moment[k].x, g0), fmaf(a.mu, moment[k].y, g1)};
      const float x0 = fmaf(a.mu, moment[k].x, g0), x1 = fmaf(a.mu, moment[k].y, g1);
      x[b][4 * k + 2 * half] = x0, x[b][4 * k + 2 * half + 1] = x1;
      sum += static_cast<double>(x0) * x0 + static_cast<double>(x1) * x1;
    }
    store_pairs(moment, momentum + at);
  });
  return sum;
}

// 1 / |U|, or 0 where that is next to nothing.
template <int kBlocks>
__device__ __forceinline__ float inverse_norm(double squares, double* memory) {
  __shared__ double of_block;
  const double sum = block_sum<kMuonThreads>(squares, memory);
  if (threadIdx.x == 0) of_block = sum;
  cluster_sync();
  double total = 0;
#pragma unroll
  for (int rank = 0; rank < kBlocks; ++rank) total += *in_block(&of_block, rank);
  const double norm = sqrt(total);
  return norm < 1e-15 ? 0.0F : static_cast<float>(1.0 / norm);
}

// X, rounded, into its transposed image.
__device__ __forceinline__ void write_rows(const float (&x)[2][64], std::uint32_t* rows) {
  const Place place;
#pragma unroll
  for (int b = 0; b < 2; ++b) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      std::uint32_t* to = rows + image_place<Tf32, kFusedWidth>(place.row_of_block(b, i / 2), place.column + i % 2);
#pragma unroll
      for (int k = 0; k < 16; ++k) to[k * 256] = Tf32::rounded(x[b][4 * k + i]);
    }
  }
}

// d = image . image^T, the group's 64 rows of it, over `kSteps` steps of 8 along the inner index.
template <int kSteps>
__device__ __forceinline__ void multiply_by_itself(std::uint32_t image, int group, float (&d)[64]) {
  touch(d);
  wgmma_fence();
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    const std::uint32_t at = image + s / 4 * kPanelBytes + s % 4 * 32;
    wgmma_shared(d, panel_descriptor(at + group * (kPanelBytes / 2)), panel_descriptor(at), s > 0);
  }
  wgmma_commit();
  wgmma_wait<0>();
  touch(d);
}

__device__ __forceinline__ void add_to(float4& sum, const float4& v) { sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w; }

// The sum over the cluster of the blocks' shares `d` of the Gram matrix, as fragments at `sums` in every block. Each block adds
// up some groups of columns, for all.
template <int kBlocks>
__device__ __forceinline__ void sum_over_cluster(const float (&d)[64], float4* shares, float4* sums) {
  const Place place;
  constexpr int kGroups = 16 / kBlocks;
  const int first = place.group * 2048 + place.thread;
  if constexpr (kBlocks == 1) shares = sums;
#pragma unroll
  for (int k = 0; k < 16; ++k) shares[first + k * 128] = {d[4 * k], d[4 * k + 1], d[4 * k + 2], d[4 * k + 3]};
  if constexpr (kBlocks == 1) return;
  cluster_sync();
  float4 sum[kGroups];
  const int own = first + blockIdx.x * kGroups * 128;
#pragma unroll
  for (int rank = 0; rank < kBlocks; ++rank) {
    const float4* from = in_block(shares, rank) + own;
    float4 part[kGroups];
#pragma unroll
    for (int k = 0; k < kGroups; ++k) part[k] = from[k * 128];
#pragma unroll
    for (int k = 0; k < kGroups; ++k) {
      if (rank == 0) {
        sum[k] = part[k];
      } else {
        add_to(sum[k], part[k]);
      }
    }
  }
#pragma unroll
  for (int rank = 0; rank < kBlocks; ++rank) {
    float4* to = in_block(sums, rank) + own;
#pragma unroll
    for (int k = 0; k < kGroups; ++k) to[k * 128] = sum[k];
  }
  cluster_sync();
}

// Fragments of the group's 64 rows, four by four through work(four, k), rounded, into the image [128, 128].
template <class Work>
__device__ __forceinline__ void write_square(const float4* sums, std::uint32_t* square, const Work& work) {
  const Place place;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    if (k % 4 == 0) asm volatile("" ::: "memory");  // not all of them at once: registers are few
    float4 v = sums[place.group * 2048 + place.thread + k * 128];
    work(v, k);
    const float entries[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = place.group * 64 + place.row + i / 2 * 8;
      square[image_place<Tf32, kFusedWidth>(k * 8 + place.column + i % 2, row)] = Tf32::rounded(entries[i]);
    }
  }
}

// X = X P, by way of d.
__device__ __forceinline__ void multiply_by_square(std::uint32_t square, float (&x)[64], float (&d)[64]) {
  std::uint32_t left[64];
  touch(x);  // not before the last product has been waited for: registers are few
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    Tf32::put(left, k, 0, x[4 * k], x[4 * k + 1]);
    Tf32::put(left, k, 1, x[4 * k + 2], x[4 * k + 3]);
  }
  touch(d);
  wgmma_fence();
#pragma unroll
  for (int k = 0; k < 16; ++k) wgmma<Tf32>(d, left + 4 * k, panel_descriptor(square + k / 4 * kPanelBytes + k % 4 * 32), k > 0);
  wgmma_commit();
  wgmma_wait<0>();
  touch(d);
#pragma unroll
  for (int i = 0; i < 64; ++i) x[i] = d[i];
}

template <int kBlocks>
__device__ __forceinline__ void newton_schulz_step(float (&x)[2][64], unsigned char* rows, unsigned char* square) {
  const Place place;
  float4* shares = reinterpret_cast<float4*>(rows);
  float4* sums = shares + 4096;
  float d[64] = {};
  write_rows(x, reinterpret_cast<std::uint32_t*>(rows));
  async_fence();
  __syncthreads();
  multiply_by_itself<kMuonRows / 8>(shared_address(rows), place.group, d);
  __syncthreads();
  sum_over_cluster<kBlocks>(d, shares, sums);
  write_square(sums, reinterpret_cast<std::uint32_t*>(square), [](float4&, int) {});
  async_fence();
  __syncthreads();
  multiply_by_itself<kFusedWidth / 8>(shared_address(square), place.group, d);
  __syncthreads();
  write_square(sums, reinterpret_cast<std::uint32_t*>(square), [&](float4& v, int k) {
    v = {kMuonB * v.x + kMuonC * d[4 * k], kMuonB * v.y + kMuonC * d[4 * k + 1], kMuonB * v.z + kMuonC * d[4 * k + 2],
         kMuonB * v.w + kMuonC * d[4 * k + 3]};
    const int beside = k * 8 + place.column - place.group * 64 - place.row;  // of the first entry, to the diagonal's right
    if (beside == 0) v.x += kMuonA;
    if (beside == -1) v.y += kMuonA;
    if (beside == 8) v.z += kMuonA;
    if (beside == 7) v.w += kMuonA;
  });
  async_fence();
  __syncthreads();
  multiply_by_square(shared_address(square), x[0], d);
  multiply_by_square(shared_address(square), x[1], d);
}

// The new weights, in x and in memory.
__device__ __forceinline__ void update_weights(const FusedMuon& m, float (&x)[2][64]) {
  const std::size_t z = blockIdx.z;
  const float length = -m.numbers[z].muon_rate * m.arrays.factors[blockIdx.y] * m.root;
  float* weights = m.arrays.weights + z * m.arrays.weights_stride + m.arrays.offsets[blockIdx.y];
  for_rows(m, [&](std::size_t at, int b, int half) {
    float2 w[16];
    load_pairs(weights + at, w);
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float* entries = x[b] + 4 * k + 2 * half;
      w[k].x = entries[0] = fmaf(length, entries[0], w[k].x);
      w[k].y = entries[1] = fmaf(length, entries[1], w[k].y);
    }
    store_pairs(w, weights + at);
  });
}

// Both images of the warpgroup's two tiles by way of shared memory, 64 KiB of it at most.
template <class Factors>
__device__ __forceinline__ void write_tile_images(const FusedMuon& m, const float (&x)[2][64], unsigned char* memory) {
  const Place place;
  const MuonImages images = m.images[blockIdx.y];
  const int tile = blockIdx.x * (kMuonRows / kFusedTile) + place.group * 2, tiles = min(2, m.tiles - tile);
  const std::size_t at = (blockIdx.z * static_cast<std::size_t>(m.tiles) + tile) * kTileWords<Factors>;
  auto* shared = reinterpret_cast<typename Factors::Number*>(memory) + place.group * 2 * kTileEntries;
#pragma unroll
  for (int image = 0; image < 2; ++image) {
#pragma unroll
    for (int b = 0; b < 2; ++b) {
#pragma unroll
      for (int k = 0; k < 16; ++k) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int row = place.row + i / 2 * 8, column = k * 8 + place.column + i % 2;
          const int to =
              image == 0 ? image_place<Factors, kFusedTile>(column, row) : image_place<Factors, kFusedWidth>(row, column);
          shared[b * kTileEntries + to] = Factors::rounded(x[b][4 * k + i]);
        }
      }
    }
    async_fence();
    sync_group(place.group);
    if (place.thread == 0) {
      if (tiles > 0) bulk_store((image == 0 ? images.rows : images.columns) + at, shared, tiles * kTileBytes<Factors>);
      bulk_stores_read();
    }
    sync_group(place.group);
  }
}

#endif

template <int kBlocks>
__global__ void __launch_bounds__(kMuonThreads, 1) muon_kernel(const __grid_constant__ FusedMuon m) {
#ifdef DRIFT_WGMMA
  __shared__ double memory_of_sum[kMuonThreads / 32];
  unsigned char* rows = aligned_memory();
  unsigned char* square = rows + kRowsBytes;
  float x[2][64];
  const double squares = load_momentum(m, x);
  const float inverse = inverse_norm<kBlocks>(squares, memory_of_sum);
#pragma unroll
  for (int i = 0; i < 64; ++i) x[0][i] *= inverse, x[1][i] *= inverse;
  for (int k = 0; k < m.iterations; ++k) newton_schulz_step<kBlocks>(x, rows, square);
  update_weights(m, x);
  __syncthreads();
  if (m.images != nullptr && m.images[blockIdx.y].rows != nullptr) {
    m.image_precision == Precision::bf16 ? write_tile_images<Bf16>(m, x, rows) : write_tile_images<Tf32>(m, x, rows);
  }
  cluster_sync();  // no block leaves while another may still look into its memory
#endif
}

template <int kBlocks>
void launch_muon(const FusedMuon& m, cudaStream_t stream) {
  allow_shared(muon_kernel<kBlocks>, kMuonShared);
  const dim3 grid(kBlocks, unsigned_of(m.arrays.layers), unsigned_of(m.arrays.members));
  launch_clusters(muon_kernel<kBlocks>, kBlocks, grid, kMuonThreads, kMuonShared, stream, m);
}

}  // namespace

bool fused_muon_fits(int rows, int cols) { return cols == kFusedWidth && rows >= cols && rows <= 4 * kMuonRows && is_hopper(); }

void fused_muon(const FusedMuon& m, cudaStream_t stream) {
  if (m.rows <= kMuonRows) return launch_muon<1>(m, stream);
  m.rows <= 2 * kMuonRows ? launch_muon<2>(m, stream) : launch_muon<4>(m, stream);
}

}  // namespace drift::cuda
