// The head, folded into the layers that feed it; fused.h has the mathematics. Everything here is bound by what it reads and
// writes. A block of threads has one tile of one member, a warp eight of its rows, a lane four of their columns.

#include "engine/cuda/fused_parts.cuh"
#include "engine/cuda/launch.cuh"
#include "engine/cuda/loss.cuh"

namespace drift::cuda {
namespace {

constexpr int kFoldThreads = 256, kWarps = kFoldThreads / 32, kRowsOfWarp = kFusedTile / kWarps;

__device__ __forceinline__ float dot(const float4& a, const float4& b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
__device__ __forceinline__ float4 four_columns(const float* row, int lane) { return reinterpret_cast<const float4*>(row)[lane]; }

__global__ void __launch_bounds__(kFoldThreads) fold_kernel(Fold f) {
  const std::size_t member = blockIdx.y;
  const int lane = threadIdx.x % 32, first = threadIdx.x / 32 * kRowsOfWarp, tile = blockIdx.x * kFusedTile;
  const float* bottleneck = f.bottleneck.data + member * f.bottleneck.member_stride;
  float* q = f.q + member * f.tiles * kFusedTile + tile;
  if (f.head.data == nullptr) {
    const int row = threadIdx.x;
    if (row < kFusedTile) q[row] = tile + row < f.features ? bottleneck[(tile + row) * f.bottleneck.stride] : 0.0F;
    return;
  }
  const float4 head = four_columns(f.head.data + member * f.head.member_stride, lane);
#pragma unroll
  for (int i = first; i < first + kRowsOfWarp; ++i) {
    float4 row = {0, 0, 0, 0};
    if (tile + i < f.features) row = four_columns(bottleneck + (tile + i) * f.bottleneck.stride, lane);
    const float sum = warp_sum(dot(row, head));
    if (lane == 0) q[i] = sum;
  }
}

// A thread has a row, a block of threads a row block.
__global__ void __launch_bounds__(kFusedRows) head_kernel(const __grid_constant__ FusedHead h) {
  __shared__ double memory[kFusedRows / 32];
  const std::size_t member = blockIdx.y, block = member * h.row_blocks + blockIdx.x, at_all = block * kFusedRows + threadIdx.x;
  const std::size_t part_stride = static_cast<std::size_t>(h.members) * h.row_blocks * kFusedRows;
  const int row = blockIdx.x * kFusedRows + threadIdx.x;
  const std::size_t at = member * h.capacity + row;
  float out = 0;
  for (int side = 0; side < h.sides; ++side) {
    const RowSums& input = h.input[side];
    const int parts = parts_of(input.division, static_cast<int>(block / 2));
    float sum = 0;
    for (int part = 0; part < parts; ++part) sum += input.data[part * part_stride + at_all];
    out = fmaf(factor_of(input.factor, member), sum, out);
  }
  if (row < h.rows) h.output[at] = out;
  const LossTarget& target = h.target;
  if (target.values == nullptr) return;
  double loss = 0;
  float slope = 0;
  if (row < h.rows) {
    const float weight = target.weights == nullptr ? 1.0F : target.weights[at];
    const float2 found = loss_of(target, out - target.values[at]);
    loss = static_cast<double>(weight) * found.x;
    slope = target.scale * weight * found.y;
  }
  h.slopes[at] = slope;
  loss = block_sum<kFusedRows>(loss, memory);
  if (threadIdx.x == 0) target.partial[member * target.partial_stride + target.partial_first + blockIdx.x] = loss;
}

__device__ __forceinline__ std::uint32_t word(const uint4& four, int i) {
  return i == 0 ? four.x : i == 1 ? four.y : i == 2 ? four.z : four.w;
}

// Two halves of the block of threads take turns at the row blocks; a thread has two rows and sixteen columns of each (fused.h).
template <bool kCosines, bool kAdded>
__global__ void __launch_bounds__(kFoldThreads) sums_kernel(FeatureSums f) {
  __shared__ float columns[kWarps][kFusedTile];
  const std::size_t member = blockIdx.y;
  const int thread = threadIdx.x % 128, warp = thread / 32, lane = threadIdx.x % 32;
  const float* slopes = f.slopes + member * f.capacity + warp * 16 + lane / 4;
  float sum[16] = {};
  for (int i = threadIdx.x / 128; i < f.row_blocks; i += 2) {
    const std::size_t at = ((member * f.row_blocks + i) * f.tiles + blockIdx.x) * 512 + thread;
    const float slope[2] = {slopes[i * kFusedRows], slopes[i * kFusedRows + 8]};
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      uint4 kept = {}, more = {};
      if constexpr (kCosines) kept = f.phases[at + q * 128];
      if constexpr (kAdded) more = f.added[at + q * 128];
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        float low = 0, high = 0;
        if constexpr (kCosines) low = -fast_cosine(low_phase(word(kept, n))), high = -fast_cosine(high_phase(word(kept, n)));
        if constexpr (kAdded) low += low_half(word(more, n)), high += high_half(word(more, n));
        float* to = sum + q * 4 + n / 2 * 2;
        to[0] = fmaf(low, slope[n % 2], to[0]);
        to[1] = fmaf(high, slope[n % 2], to[1]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 16; ++i) {
#pragma unroll
    for (int offset = 4; offset < 32; offset *= 2) sum[i] += __shfl_xor_sync(0xFFFFFFFFU, sum[i], offset);
    if (lane < 4) columns[threadIdx.x / 32][i / 2 * 8 + lane * 2 + i % 2] = sum[i];
  }
  __syncthreads();
  if (threadIdx.x >= kFusedTile) return;
  float* to = f.sums + (member * f.tiles + blockIdx.x) * kFusedTile + threadIdx.x;
  float total = f.accumulate ? *to : 0.0F;
  for (int i = 0; i < kWarps; ++i) total += columns[i][threadIdx.x];
  *to = total;
}

// The new weights of a row, the gradient being g o.
__device__ __forceinline__ void adam_on_row(const FusedAdam& a, const StepNumbers& numbers, const float4& gradient, float4& w,
                                            float4& m, float4& v) {
  const float rate = numbers.adam_rate / numbers.correction1, inverse2 = 1 / numbers.correction2, decay = numbers.decay;
  adam_entry(a, rate, inverse2, fmaf(decay, w.x, gradient.x), w.x, m.x, v.x);
  adam_entry(a, rate, inverse2, fmaf(decay, w.y, gradient.y), w.y, m.y, v.y);
  adam_entry(a, rate, inverse2, fmaf(decay, w.z, gradient.z), w.z, m.z, v.z);
  adam_entry(a, rate, inverse2, fmaf(decay, w.w, gradient.w), w.w, m.w, v.w);
}

template <bool kAdam>
__global__ void __launch_bounds__(kFoldThreads) gradient_kernel(const __grid_constant__ FoldedGradient f) {
  __shared__ float4 columns[kWarps][32];
  const std::size_t member = blockIdx.y;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, tile = blockIdx.x * kFusedTile;
  const int first = tile + warp * kRowsOfWarp, rows = min(kRowsOfWarp, f.features - first);
  const float* sums = f.sums + member * f.tiles * kFusedTile;
  const float factor = factor_of(f.factor, member);
  float* gradient = f.gradient + member * f.gradient_stride;
  if (f.head.data == nullptr) {
    const int row = tile + threadIdx.x;
    if (threadIdx.x < kFusedTile && row < f.features) gradient[row] = factor * sums[row];
    return;
  }
  const float4 head = four_columns(f.head.data + member * f.head.member_stride, lane);
  const float* bottleneck = f.bottleneck.data + member * f.bottleneck.member_stride;
  float4 w[kRowsOfWarp], m[kRowsOfWarp], v[kRowsOfWarp];
  float4* moment1 = nullptr;
  float4* moment2 = nullptr;
  if constexpr (kAdam) {
    moment1 = reinterpret_cast<float4*>(f.adam.moment1 + member * f.adam.gradient_stride + f.offset) + first * 32 + lane;
    moment2 = reinterpret_cast<float4*>(f.adam.moment2 + member * f.adam.gradient_stride + f.offset) + first * 32 + lane;
  }
#pragma unroll
  for (int i = 0; i < kRowsOfWarp; ++i) {
    if (i >= rows) break;
    w[i] = four_columns(bottleneck + (first + i) * kFusedWidth, lane);
    if constexpr (kAdam) m[i] = moment1[i * 32], v[i] = moment2[i * 32];
  }
  float4 column = {0, 0, 0, 0};
#pragma unroll
  for (int i = 0; i < kRowsOfWarp; ++i) {
    if (i >= rows) break;
    const float g = factor * sums[first + i];
    const float4 row = {g * head.x, g * head.y, g * head.z, g * head.w};
    column.x = fmaf(g, w[i].x, column.x), column.y = fmaf(g, w[i].y, column.y);
    column.z = fmaf(g, w[i].z, column.z), column.w = fmaf(g, w[i].w, column.w);
    if constexpr (kAdam) {
      adam_on_row(f.adam, f.adam.numbers[member], row, w[i], m[i], v[i]);
      reinterpret_cast<float4*>(f.adam.weights + member * f.adam.weights_stride + f.offset)[(first + i) * 32 + lane] = w[i];
      moment1[i * 32] = m[i], moment2[i * 32] = v[i];
    } else {
      reinterpret_cast<float4*>(gradient)[(first + i) * 32 + lane] = row;
    }
  }
  columns[warp][lane] = column;
  __syncthreads();
  if (threadIdx.x >= kFusedWidth) return;
  float total = 0;
  for (int i = 0; i < kWarps; ++i) total += reinterpret_cast<const float*>(columns[i])[threadIdx.x];
  f.head_partial[(member * f.tiles + blockIdx.x) * f.partial_width + threadIdx.x] = total;
}

__global__ void partials_kernel(const float* partial, int tiles, int count, float* gradient, std::size_t stride) {
  const std::size_t member = blockIdx.x;
  float sum = 0;
  for (int tile = 0; tile < tiles; ++tile) sum += partial[(member * tiles + tile) * count + threadIdx.x];
  gradient[member * stride + threadIdx.x] = sum;
}

void launched() { check_cuda(cudaGetLastError(), "starting the head's work"); }
dim3 grid(int x, int members) { return {unsigned_of(x), unsigned_of(members)}; }

}  // namespace

void fold(const Fold& f, cudaStream_t stream) {
  fold_kernel<<<grid(f.tiles, f.members), kFoldThreads, 0, stream>>>(f);
  launched();
}

void fused_head(const FusedHead& h, cudaStream_t stream) {
  head_kernel<<<grid(h.row_blocks, h.members), kFusedRows, 0, stream>>>(h);
  launched();
}

void feature_sums(const FeatureSums& f, cudaStream_t stream) {
  const dim3 blocks = grid(f.tiles, f.members);
  if (f.added == nullptr) {
    sums_kernel<true, false><<<blocks, kFoldThreads, 0, stream>>>(f);
  } else if (f.phases == nullptr) {
    sums_kernel<false, true><<<blocks, kFoldThreads, 0, stream>>>(f);
  } else {
    sums_kernel<true, true><<<blocks, kFoldThreads, 0, stream>>>(f);
  }
  launched();
}

void folded_gradient(const FoldedGradient& f, cudaStream_t stream) {
  if (f.adam.numbers != nullptr && f.head.data != nullptr) {
    gradient_kernel<true><<<grid(f.tiles, f.members), kFoldThreads, 0, stream>>>(f);
  } else {
    gradient_kernel<false><<<grid(f.tiles, f.members), kFoldThreads, 0, stream>>>(f);
  }
  launched();
}

void sum_head_partials(const float* partial, int members, int tiles, int count, float* gradient, std::size_t stride,
                       cudaStream_t stream) {
  partials_kernel<<<unsigned_of(members), unsigned_of(count), 0, stream>>>(partial, tiles, count, gradient, stride);
  launched();
}

}  // namespace drift::cuda
