// The gradient of a layer's bottleneck, and its update by Adam in the same kernel; fused.h has the layouts. Two warpgroups of 64
// features each, and one warp that fetches phases and the transposed gradients of the outputs.

#include "engine/cuda/fused_parts.cuh"
#include "engine/cuda/launch.cuh"

namespace drift::cuda {
namespace {

// What features are made of: cosines of kept phases, halves kept as they are, or the sum of both.
enum class Kept { phases, halves, both };

constexpr int kPhaseBytes = 512 * 16;  // of a tile, as of its halves
template <class Factors, Kept kKept>
using WeightStages = Stages<kTileBytes<Factors> + (kKept == Kept::both ? 4 : 2) * kPhaseBytes>;

#ifdef DRIFT_WGMMA

__device__ __forceinline__ std::uint32_t transposed(std::uint32_t pair) {
  std::uint32_t result;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(pair));
  return result;
}

// 16 rows of 16 features as the left factor of a product, but for the sign: phases are half a turn off. `kept` has the first 8
// features in x and y, rows 0 to 7 in x and z. By value: of a reference each word would be read by itself, four lanes to a bank.
template <class Factors, Kept kKept>
__device__ __forceinline__ void take_features(uint4 kept, uint4 halves, std::uint32_t* to) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      float low = 0, high = 0;
      if constexpr (kKept != Kept::halves) {
        const std::uint32_t pair = transposed(n == 0 ? (half == 0 ? kept.x : kept.y) : (half == 0 ? kept.z : kept.w));
        low = fast_cosine(low_phase(pair)), high = fast_cosine(high_phase(pair));
      }
      if constexpr (kKept != Kept::phases) {
        const std::uint32_t pair = transposed(n == 0 ? (half == 0 ? halves.x : halves.y) : (half == 0 ? halves.z : halves.w));
        low -= low_half(pair), high -= high_half(pair);
      }
      Factors::put(to, half, n, low, high);
    }
  }
}

// The gradient of a tile to memory, or, where earlier passes have begun it, the sum from there.
__device__ __forceinline__ void add_or_store(const FusedWeightGradient& f, const FusedWeightGradient::Layer& layer,
                                             std::size_t member, int tile, int thread, float (&sum)[64]) {
  float* gradient = layer.gradient + member * f.gradient_stride;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int feature = tile * kFusedTile + thread / 32 * 16 + thread % 32 / 4 + half * 8;
    if (feature >= layer.features) continue;
    float2* to = reinterpret_cast<float2*>(gradient + static_cast<std::size_t>(feature) * kFusedWidth + thread % 4 * 2);
#pragma unroll
    for (int k = 0; k < 16; ++k) {
      float2 value = {sum[4 * k + 2 * half], sum[4 * k + 2 * half + 1]};
      if (f.accumulate) {
        const float2 before = to[k * 4];
        value.x += before.x, value.y += before.y;
        sum[4 * k + 2 * half] = value.x, sum[4 * k + 2 * half + 1] = value.y;
      }
      to[k * 4] = value;
    }
  }
}

// Adam on a tile whose gradient is in registers; the new weights into shared [64][kImageStride].
__device__ __forceinline__ void adam_on_fragments(const FusedAdam& a, const FusedWeightGradient::Layer& layer, std::size_t member,
                                                  int tile, int thread, const float (&sum)[64], float* shared) {
  constexpr int kAtOnce = 16;
  const StepNumbers& numbers = a.numbers[member];
  const float rate = numbers.adam_rate / numbers.correction1, inverse2 = 1 / numbers.correction2, decay = numbers.decay;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = thread / 32 * 16 + thread % 32 / 4 + half * 8, feature = tile * kFusedTile + row;
    float* to = shared + row * kImageStride + thread % 4 * 2;
    if (feature >= layer.features) {
#pragma unroll
      for (int k = 0; k < 16; ++k) to[k * 8] = to[k * 8 + 1] = 0;
      continue;
    }
    const std::size_t offset = layer.offset + static_cast<std::size_t>(feature) * kFusedWidth + thread % 4 * 2;
    float2* weights = reinterpret_cast<float2*>(a.weights + member * a.weights_stride + offset);
    float2* moment1 = reinterpret_cast<float2*>(a.moment1 + member * a.gradient_stride + offset);
    float2* moment2 = reinterpret_cast<float2*>(a.moment2 + member * a.gradient_stride + offset);
#pragma unroll
    for (int first = 0; first < 16; first += kAtOnce) {
      float2 w[kAtOnce], m[kAtOnce], v[kAtOnce];
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        w[k] = weights[(first + k) * 4];
        m[k] = moment1[(first + k) * 4];
        v[k] = moment2[(first + k) * 4];
      }
#pragma unroll
      for (int k = 0; k < kAtOnce; ++k) {
        const float* g = sum + 4 * (first + k) + 2 * half;
        adam_entry(a, rate, inverse2, fmaf(decay, w[k].x, g[0]), w[k].x, m[k].x, v[k].x);
        adam_entry(a, rate, inverse2, fmaf(decay, w[k].y, g[1]), w[k].y, m[k].y, v[k].y);
        weights[(first + k) * 4] = w[k];
        moment1[(first + k) * 4] = m[k];
        moment2[(first + k) * 4] = v[k];
        to[(first + k) * 8] = w[k].x;
        to[(first + k) * 8 + 1] = w[k].y;
      }
    }
  }
}

// Weights and moments of a tile on their way to the cache while the gradient is made.
__device__ __forceinline__ void prefetch_tile(const FusedAdam& a, const FusedWeightGradient::Layer& layer, std::size_t member,
                                              int tile, int thread) {
  const int lines = min(kFusedTile, layer.features - tile * kFusedTile) * (kFusedWidth / 32);
  const std::size_t offset = layer.offset + static_cast<std::size_t>(tile) * kTileEntries;
  const float* arrays[] = {a.weights + member * a.weights_stride, a.moment1 + member * a.gradient_stride,
                           a.moment2 + member * a.gradient_stride};
#pragma unroll
  for (const float* array : arrays) {
    for (int line = thread; line < lines; line += 128) asm volatile("prefetch.global.L2 [%0];" ::"l"(array + offset + line * 32));
  }
}

#endif

template <class Factors, bool kAdam, Kept kKept>
__global__ void __launch_bounds__(kFusedThreads, 1) weight_kernel(const __grid_constant__ FusedWeightGradient f) {
#ifdef DRIFT_WGMMA
  using S = WeightStages<Factors, kKept>;
  constexpr int kImage = kTileBytes<Factors>;
  static_assert(S::kCount * S::kBytes >= 2 * kFusedTile * kImageStride * 4);  // which Adam takes when the stages are done with
  const Ring<S> ring(aligned_memory());
  const FusedWeightGradient::Layer& layer = f.layer[blockIdx.z];
  const std::size_t member = blockIdx.y;
  if (threadIdx.x >= kConsumers) {
    give_registers<40>();
    if (threadIdx.x == kConsumers) {
      const int phases = min(2, f.tiles - static_cast<int>(blockIdx.x) * 2) * kPhaseBytes;
      for (int i = 0; i < f.row_blocks; ++i) {
        const std::size_t block = member * f.row_blocks + i, at = (block * f.tiles + blockIdx.x * 2) * 512;
        const Filling filling = ring.fill(i, kImage + (kKept == Kept::both ? 2 : 1) * phases);
        filling.copy(0, layer.output_gradient + block * kTileWords<Factors>, kImage);
        filling.copy(kImage, (kKept == Kept::halves ? layer.added : layer.phases) + at, phases);
        if constexpr (kKept == Kept::both) filling.copy(kImage + 2 * kPhaseBytes, layer.added + at, phases);
      }
    }
  } else {
    take_registers<232>();
    const int thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32, group = threadIdx.x / 128;
    const int tile = blockIdx.x * 2 + group;
    const bool there = tile < f.tiles;
    if (group == 1) pass_turn(group);
    if (kAdam && there) prefetch_tile(f.adam, layer, member, tile, thread);
    float sum[64];
#pragma unroll
    for (int i = 0; i < 64; ++i) sum[i] = 0;
    for (int i = 0; i < f.row_blocks; ++i) {
      const unsigned char* stage = ring.stage(i);
      ring.wait_full(i);
      const uint4* kept = reinterpret_cast<const uint4*>(stage + kImage + group * kPhaseBytes) + warp * 128 + lane;
      constexpr int kRegisters = left_registers<Factors>(kFusedTile);
      std::uint32_t features[kRegisters];
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        take_features<Factors, kKept>(kept[n * 32], kept[n * 32 + (kKept == Kept::both ? 2 * 512 : 0)],
                                      features + kRegisters / 4 * n);
      }
      touch(sum);
      await_turn(group);
      wgmma_fence();
      multiply_columns_image<Factors>(features, shared_address(stage), sum);
      wgmma_commit();
      pass_turn(group);
      wgmma_wait<0>();
      touch(sum);
      ring.release(i);
    }
    const float factor = -factor_of(layer.factor, member);  // the sign of take_features
#pragma unroll
    for (int i = 0; i < 64; ++i) sum[i] *= factor;
    if (there && (f.accumulate || !kAdam)) add_or_store(f, layer, member, tile, thread, sum);
    if constexpr (kAdam) {
      // Both groups have done with the stages; their memory is used again.
      sync_both_groups();
      float* shared = reinterpret_cast<float*>(ring.memory) + group * kFusedTile * kImageStride;
      if (there) adam_on_fragments(f.adam, layer, member, tile, thread, sum, shared);
      sync_group(group);
      const std::size_t at = (member * f.tiles + tile) * kTileWords<Factors>;
      if (there) write_images<Factors, 128>(shared, thread, layer.rows_image + at, layer.columns_image + at);
    }
  }
#endif
}

template <class Factors, bool kAdam, Kept kKept>
void launch_weights(const FusedWeightGradient& f, cudaStream_t stream) {
  constexpr int kShared = WeightStages<Factors, kKept>::kShared;
  const dim3 grid(blocks(f.tiles, 2), unsigned_of(f.members), unsigned_of(f.layers));
  allow_shared(weight_kernel<Factors, kAdam, kKept>, kShared);
  weight_kernel<Factors, kAdam, kKept><<<grid, kFusedThreads, kShared, stream>>>(f);
}

// All layers keep the same kinds.
template <class Factors, bool kAdam>
void launch_weights(const FusedWeightGradient& f, cudaStream_t stream) {
  if (f.layer[0].added == nullptr) return launch_weights<Factors, kAdam, Kept::phases>(f, stream);
  f.layer[0].phases == nullptr ? launch_weights<Factors, kAdam, Kept::halves>(f, stream)
                               : launch_weights<Factors, kAdam, Kept::both>(f, stream);
}

template <class Factors>
void launch_weights(const FusedWeightGradient& f, cudaStream_t stream) {
  f.adam.numbers != nullptr ? launch_weights<Factors, true>(f, stream) : launch_weights<Factors, false>(f, stream);
}

}  // namespace

void fused_weight_gradient(const FusedWeightGradient& f, cudaStream_t stream) {
  f.precision == Precision::bf16 ? launch_weights<Bf16>(f, stream) : launch_weights<Tf32>(f, stream);
  check_cuda(cudaGetLastError(), "starting the weights' gradients");
}

}  // namespace drift::cuda
