// A layer's way forward and back on Hopper; fused.h has the layouts. Two warpgroups of 64 rows each, and one warp that fetches
// tiles for both. While one warpgroup takes cosines the other keeps the tensor cores busy.

#include "engine/cuda/fused_parts.cuh"
#include "engine/cuda/launch.cuh"

namespace drift::cuda {

// What a layer is made of: cosines (of hidden entries and kCoordinates coordinates), features added to them, or these alone; and
// whether its phases are kept and the head is folded into it.
// Not in the unnamed namespace: there nvcc would find it unused on all architectures but Hopper.
template <class TheFactors, bool kIsHidden, int kCoordinateCount, bool kIsAdded, bool kIsKept, bool kIsFolded>
struct Form {
  using Factors = TheFactors;
  static constexpr bool kHidden = kIsHidden, kAdded = kIsAdded, kKeep = kIsKept, kFolded = kIsFolded;
  static constexpr bool kCosines = kHidden || kCoordinateCount > 0;
  static constexpr bool kTurns = kHidden || !kFolded;  // there are products
  static constexpr int kCoordinates = kCoordinateCount;
  static constexpr int kAtLeastOne = kCoordinates > 0 ? kCoordinates : 1;  // arrays cannot be empty
  static constexpr int kCoefficients = kCosines ? (kCoordinates + 1) * 64 : 0;
  static constexpr int kSums = kFolded ? 2 : 64;  // of a thread
  static_assert(kCosines || (kAdded && !kKeep));
};

namespace {

// A stage has two images, or, where the layer is folded, q in place of the bottleneck's, and forward coefficients behind them, in
// whole multiples of kAlignment: one up to three coordinates. Two for all would cost bf16 one of its six stages.
template <class F>
constexpr int kCoefficientRoom = ((F::kCoordinates + 1) * 64 * 4 + kAlignment - 1) / kAlignment* kAlignment;
template <class F>
using ForwardStages = Stages<2 * kTileBytes<typename F::Factors> + kCoefficientRoom<F>>;
template <class Factors>
using BackwardStages = Stages<2 * kTileBytes<Factors>>;
constexpr int kFoldedBytes = kFusedTile * 4;  // of q
// Room behind q for what forward_kernel puts there.
static_assert(kFoldedBytes + kConsumers * 8 <= kTileBytes<Bf16>);

#ifdef DRIFT_WGMMA

// Features of a tile, two neighbours at a time: use(group of 8 columns, row 0 or 8, feature, feature). `added` and `phases` are
// the thread's, 128 apart.
template <class F, class Use>
__device__ __forceinline__ void take_features(const float* coefficients, const float (&x)[2][F::kAtLeastOne],
                                              const float (&phase)[32], const uint4 (&added)[4], uint4* phases, const Use& use) {
#pragma unroll
  for (int q = 0; q < 4; ++q) {
    std::uint32_t packed[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int n8 = 2 * q + i / 2, half = i % 2;
      const std::uint32_t more = i == 0 ? added[q].x : i == 1 ? added[q].y : i == 2 ? added[q].z : added[q].w;
      float f0 = 0, f1 = 0;
      if constexpr (F::kCosines) {
        const float2 shift = *reinterpret_cast<const float2*>(coefficients + n8 * 8);
        float p0 = shift.x, p1 = shift.y;
#pragma unroll
        for (int n = 0; n < F::kCoordinates; ++n) {
          const float2 c = *reinterpret_cast<const float2*>(coefficients + (n + 1) * 64 + n8 * 8);
          p0 = fmaf(x[half][n], c.x, p0);
          p1 = fmaf(x[half][n], c.y, p1);
        }
        if constexpr (F::kHidden) {
          p0 += phase[4 * n8 + 2 * half];
          p1 += phase[4 * n8 + 2 * half + 1];
        }
        p0 = fast_fraction(p0);
        p1 = fast_fraction(p1);
        packed[i] = pack_phases(p0, p1);
        f0 = fast_cosine(kTwoPiF * p0);
        f1 = fast_cosine(kTwoPiF * p1);
      }
      if constexpr (F::kAdded) {
        f0 += low_half(more);
        f1 += high_half(more);
      }
      use(n8, half, f0, f1);
    }
    if constexpr (F::kKeep) phases[q * 128] = {packed[0], packed[1], packed[2], packed[3]};
  }
}

// Gradients of the features times sines, as the left factor of a product; gradient(group of 8 columns, row 0 or 8) gives two.
template <class Factors, class Gradient>
__device__ __forceinline__ void times_sines(const uint4 (&kept)[4], const Gradient& gradient, std::uint32_t* product) {
#pragma unroll
  for (int n8 = 0; n8 < 8; ++n8) {
    const uint4 four = kept[n8 / 2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const std::uint32_t pair = n8 % 2 == 0 ? (half == 0 ? four.x : four.y) : (half == 0 ? four.z : four.w);
      const float2 two = gradient(n8, half);
      Factors::put(product, n8, half, two.x * fast_sine(low_phase(pair)), two.y * fast_sine(high_phase(pair)));
    }
  }
}

#endif

template <class F>
__global__ void __launch_bounds__(kFusedThreads, 1) forward_kernel(const __grid_constant__ FusedForward f) {
#ifdef DRIFT_WGMMA
  using Factors = typename F::Factors;
  constexpr int kImage = kTileBytes<Factors>;
  const Ring<ForwardStages<F>> ring(aligned_memory());
  const int tiles = f.division.tiles, pairs_of_member = f.row_blocks / 2;
  Share share(f.division, blockIdx.x);
  if (threadIdx.x >= kConsumers) {
    give_registers<40>();
    if (threadIdx.x == kConsumers) {
      constexpr int kBytes = (F::kHidden ? kImage : 0) + (F::kFolded ? kFoldedBytes : kImage) + F::kCoefficients * 4;
      for (int i = 0; share.next();) {
        const std::size_t first = static_cast<std::size_t>(share.pair / pairs_of_member) * tiles + share.begin;
        for (std::size_t at = first; at < first + share.count; ++at, ++i) {
          const Filling filling = ring.fill(i, kBytes);
          if constexpr (F::kHidden) filling.copy(0, f.frequencies + at * kTileWords<Factors>, kImage);
          if constexpr (F::kFolded) filling.copy(kImage, f.folded.q + at * kFusedTile, kFoldedBytes);
          if constexpr (!F::kFolded) filling.copy(kImage, f.bottleneck + at * kTileWords<Factors>, kImage);
          if constexpr (F::kCosines) filling.copy(2 * kImage, f.coefficients + at * F::kCoefficients, F::kCoefficients * 4);
        }
      }
    }
  } else {
    take_registers<232>();
    const int thread = threadIdx.x % 128, lane = thread % 32, group = threadIdx.x / 128;
    const std::size_t blocks_of_all = static_cast<std::size_t>(f.members) * f.row_blocks;
    if (F::kTurns && group == 1) pass_turn(group);  // group 0 begins
    for (int fill = 0; share.next(); fill += share.count) {
      const int begin = share.begin, count = share.count;
      const std::size_t member = share.pair / pairs_of_member, block = static_cast<std::size_t>(share.pair) * 2 + group;
      const std::size_t kept = (block * tiles + begin) * 512 + thread;
      uint4 added[4] = {};
      const auto fetch_added = [&](int n) {
        if constexpr (F::kAdded) {
#pragma unroll
          for (int q = 0; q < 4; ++q) added[q] = f.added[kept + n * 512 + q * 128];
        }
      };
      fetch_added(0);
      std::uint32_t left[left_registers<Factors>(kFusedWidth)];
      if constexpr (F::kHidden) load_left<Factors>(f.input, member, block, blocks_of_all * (kTileEntries / 4), thread, left);
      float x[2][F::kAtLeastOne];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = static_cast<int>(block % f.row_blocks) * kFusedRows + thread / 32 * 16 + lane / 4 + half * 8;
#pragma unroll
        for (int i = 0; i < F::kCoordinates; ++i) {
          x[half][i] = f.coordinates.data[member * f.coordinates.member_stride + row * f.coordinates.stride + i];
        }
      }
      float sum[F::kSums], phase[32];
#pragma unroll
      for (int i = 0; i < F::kSums; ++i) sum[i] = 0;
#pragma unroll
      for (int i = 0; i < 32; ++i) phase[i] = 0;
      const auto start_phases = [&](int i) {
        ring.wait_full(i);
        if constexpr (F::kHidden) {
          wgmma_fence();
          multiply_rows_image<Factors>(left, shared_address(ring.stage(i)), phase);
          wgmma_commit();
        }
      };
      touch(phase);
      start_phases(fill);
      wgmma_wait<0>();
      touch(phase);
      for (int n = 0; n < count; ++n) {
        const int i = fill + n;
        unsigned char* stage = ring.stage(i);
        const float* coefficients = reinterpret_cast<const float*>(stage + 2 * kImage) + lane % 4 * 2;
        uint4* phases = F::kKeep ? f.phases + kept + n * 512 : nullptr;
        const bool more = n + 1 < count;
        if constexpr (F::kFolded) {
          const float* q = reinterpret_cast<const float*>(stage + kImage) + lane % 4 * 2;
          take_features<F>(coefficients, x, phase, added, phases, [&](int n8, int half, float f0, float f1) {
            const float2 two = *reinterpret_cast<const float2*>(q + n8 * 8);
            sum[half] = fmaf(f0, two.x, fmaf(f1, two.y, sum[half]));
          });
          // Stored, and never read: an arrival overtakes reads that are under way, and behind the other group's loads one took so
          // long that the next fill came before it. A store of what came of all of them has to wait for them.
          reinterpret_cast<float2*>(stage + kImage + kFoldedBytes)[threadIdx.x] = {sum[0], sum[1]};
          ring.release(i);
          if (!more) break;
          fetch_added(n + 1);
          touch(phase);
          if constexpr (F::kTurns) await_turn(group);
          start_phases(i + 1);
          if constexpr (F::kTurns) pass_turn(group);
        } else {
          std::uint32_t feature[left_registers<Factors>(kFusedTile)];
          take_features<F>(coefficients, x, phase, added, phases,
                           [&](int n8, int half, float f0, float f1) { Factors::put(feature, n8, half, f0, f1); });
          if (more) fetch_added(n + 1);
          if constexpr (!F::kCosines) touch(feature);  // else conversions move in among the products, which then wait for them
          touch(sum);
          touch(phase);
          await_turn(group);
          wgmma_fence();
          multiply_columns_image<Factors>(feature, shared_address(stage + kImage), sum);
          wgmma_commit();
          // The next phases begin before this product is awaited.
          if (more) {
            start_phases(i + 1);
            pass_turn(group);
            wgmma_wait<F::kHidden ? 1 : 0>();
          } else {
            pass_turn(group);
            wgmma_wait<0>();
          }
          touch(sum);
          ring.release(i);
        }
        wgmma_wait<0>();
        touch(phase);
      }
      const std::size_t to = share.part * blocks_of_all + block;
      if constexpr (F::kFolded) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          sum[half] += __shfl_xor_sync(0xFFFFFFFFU, sum[half], 1);
          sum[half] += __shfl_xor_sync(0xFFFFFFFFU, sum[half], 2);
          if (lane % 4 == 0) f.folded.row_sums[to * kFusedRows + thread / 32 * 16 + lane / 4 + half * 8] = sum[half];
        }
      } else {
        store_fragments(sum, f.output + to * kTileEntries, thread);
      }
    }
  }
#endif
}

template <class Factors, bool kFolded>
__global__ void __launch_bounds__(kFusedThreads, 1) backward_kernel(const __grid_constant__ FusedBackward f) {
#ifdef DRIFT_WGMMA
  constexpr int kImage = kTileBytes<Factors>;
  const Ring<BackwardStages<Factors>> ring(aligned_memory());
  const int tiles = f.division.tiles, pairs_of_member = f.row_blocks / 2;
  Share share(f.division, blockIdx.x);
  if (threadIdx.x >= kConsumers) {
    give_registers<40>();
    if (threadIdx.x == kConsumers) {
      for (int i = 0; share.next();) {
        const std::size_t first = static_cast<std::size_t>(share.pair / pairs_of_member) * tiles + share.begin;
        for (std::size_t at = first; at < first + share.count; ++at, ++i) {
          const Filling filling = ring.fill(i, (kFolded ? kFoldedBytes : kImage) + kImage);
          if constexpr (kFolded) filling.copy(0, f.folded.q + at * kFusedTile, kFoldedBytes);
          if constexpr (!kFolded) filling.copy(0, f.bottleneck + at * kTileWords<Factors>, kImage);
          filling.copy(kImage, f.frequencies + at * kTileWords<Factors>, kImage);
        }
      }
    }
  } else {
    take_registers<232>();
    const int thread = threadIdx.x % 128, group = threadIdx.x / 128;
    const std::size_t blocks_of_all = static_cast<std::size_t>(f.members) * f.row_blocks;
    if (group == 1) pass_turn(group);
    for (int fill = 0; share.next(); fill += share.count) {
      const int begin = share.begin, count = share.count;
      const std::size_t member = share.pair / pairs_of_member, block = static_cast<std::size_t>(share.pair) * 2 + group;
      const uint4* phases = f.phases + (block * tiles + begin) * 512 + thread;
      uint4 kept[4];
      const auto fetch_phases = [&](int n) {
#pragma unroll
        for (int q = 0; q < 4; ++q) kept[q] = phases[n * 512 + q * 128];
      };
      fetch_phases(0);
      std::uint32_t left[left_registers<Factors>(kFusedWidth)];
      float slope[2] = {};
      if constexpr (kFolded) {
        const float* slopes = f.folded.slopes + member * f.folded.capacity + block % f.row_blocks * kFusedRows;
        for (int half = 0; half < 2; ++half) slope[half] = slopes[thread / 32 * 16 + thread % 32 / 4 + half * 8];
      } else {
        load_left<Factors>(f.output_gradient, member, block, blocks_of_all * (kTileEntries / 4), thread, left);
      }
      float sum[64], gradient[kFolded ? 1 : 32];
#pragma unroll
      for (int i = 0; i < 64; ++i) sum[i] = 0;
#pragma unroll
      for (float& g : gradient) g = 0;
      const auto start_gradients = [&](int i) {
        ring.wait_full(i);
        if constexpr (!kFolded) {
          wgmma_fence();
          multiply_rows_image<Factors>(left, shared_address(ring.stage(i)), gradient);
          wgmma_commit();
        }
      };
      touch(gradient);
      start_gradients(fill);
      wgmma_wait<0>();
      touch(gradient);
      for (int n = 0; n < count; ++n) {
        const int i = fill + n;
        const unsigned char* stage = ring.stage(i);
        const float* q = reinterpret_cast<const float*>(stage) + thread % 4 * 2;
        std::uint32_t product[left_registers<Factors>(kFusedTile)];
        times_sines<Factors>(
            kept,
            [&](int n8, int half) -> float2 {
              if constexpr (!kFolded) return {gradient[4 * n8 + 2 * half], gradient[4 * n8 + 2 * half + 1]};
              const float2 two = *reinterpret_cast<const float2*>(q + n8 * 8);
              return {slope[half] * two.x, slope[half] * two.y};
            },
            product);
        const bool more = n + 1 < count;
        if (more) fetch_phases(n + 1);
        touch(sum);
        touch(gradient);
        await_turn(group);
        wgmma_fence();
        multiply_columns_image<Factors>(product, shared_address(stage + kImage), sum);
        wgmma_commit();
        if (more) {
          start_gradients(i + 1);
          pass_turn(group);
          wgmma_wait<kFolded ? 0 : 1>();
        } else {
          pass_turn(group);
          wgmma_wait<0>();
        }
        touch(sum);
        ring.release(i);
        wgmma_wait<0>();
        touch(gradient);
      }
      store_fragments(sum, f.input_gradient + (share.part * blocks_of_all + block) * kTileEntries, thread);
    }
  }
#endif
}

unsigned grid_of(const Division& d) { return unsigned_of(d.rounds > 0 ? d.blocks : d.tail); }

template <class F>
void launch(const FusedForward& f, cudaStream_t stream) {
  constexpr int kShared = ForwardStages<F>::kShared;
  allow_shared(forward_kernel<F>, kShared);
  forward_kernel<F><<<grid_of(f.division), kFusedThreads, kShared, stream>>>(f);
}

template <class Factors, bool kHidden, int kCoordinates, bool kAdded, bool kKeep>
void launch_either(const FusedForward& f, cudaStream_t stream) {
  f.bottleneck == nullptr ? launch<Form<Factors, kHidden, kCoordinates, kAdded, kKeep, true>>(f, stream)
                          : launch<Form<Factors, kHidden, kCoordinates, kAdded, kKeep, false>>(f, stream);
}

template <class Factors, bool kHidden, int kCoordinates, bool kAdded = false>
void launch_cosines(const FusedForward& f, cudaStream_t stream) {
  f.phases == nullptr ? launch_either<Factors, kHidden, kCoordinates, kAdded, false>(f, stream)
                      : launch_either<Factors, kHidden, kCoordinates, kAdded, true>(f, stream);
}

template <class Factors>
void launch_forward(const FusedForward& f, cudaStream_t stream) {
  const bool hidden = f.input.data != nullptr;
  if (f.added != nullptr && hidden) return launch_cosines<Factors, true, 0, true>(f, stream);
  if (f.added != nullptr) return launch_either<Factors, false, 0, true, false>(f, stream);
  if (hidden && f.coordinate_count == 0) return launch_cosines<Factors, true, 0>(f, stream);
  if (f.coordinate_count == 1) {
    return hidden ? launch_cosines<Factors, true, 1>(f, stream) : launch_cosines<Factors, false, 1>(f, stream);
  }
  if (f.coordinate_count == 2) {
    return hidden ? launch_cosines<Factors, true, 2>(f, stream) : launch_cosines<Factors, false, 2>(f, stream);
  }
  if (f.coordinate_count == 3) {
    return hidden ? launch_cosines<Factors, true, 3>(f, stream) : launch_cosines<Factors, false, 3>(f, stream);
  }
  static_assert(kMaxFusedCoordinates == 4);
  hidden ? launch_cosines<Factors, true, 4>(f, stream) : launch_cosines<Factors, false, 4>(f, stream);
}

template <class Factors, bool kFolded>
void launch(const FusedBackward& f, cudaStream_t stream) {
  constexpr int kShared = BackwardStages<Factors>::kShared;
  allow_shared(backward_kernel<Factors, kFolded>, kShared);
  backward_kernel<Factors, kFolded><<<grid_of(f.division), kFusedThreads, kShared, stream>>>(f);
}

template <class Factors>
void launch_backward(const FusedBackward& f, cudaStream_t stream) {
  f.bottleneck == nullptr ? launch<Factors, true>(f, stream) : launch<Factors, false>(f, stream);
}

}  // namespace

void fused_forward(const FusedForward& f, cudaStream_t stream) {
  f.precision == Precision::bf16 ? launch_forward<Bf16>(f, stream) : launch_forward<Tf32>(f, stream);
  check_cuda(cudaGetLastError(), "starting a layer");
}

void fused_backward(const FusedBackward& f, cudaStream_t stream) {
  f.precision == Precision::bf16 ? launch_backward<Bf16>(f, stream) : launch_backward<Tf32>(f, stream);
  check_cuda(cudaGetLastError(), "starting a layer's way back");
}

}  // namespace drift::cuda
