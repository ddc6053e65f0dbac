// Between the fused layers: images of weights and gradients.

#include "engine/cuda/fused_parts.cuh"
#include "engine/cuda/launch.cuh"

namespace drift::cuda {
namespace {

constexpr int kImageThreads = 256;
// A block of threads has one tile of one member.
template <class Factors>
__global__ void __launch_bounds__(kImageThreads) images_kernel(MakeImages m) {
  __shared__ float tile[kFusedTile * kImageStride];
  const std::size_t member = blockIdx.y, at = (member * m.tiles + blockIdx.x) * kTileWords<Factors>;
  const int first = blockIdx.x * kFusedTile;
  for (int i = threadIdx.x; i < kTileEntries; i += kImageThreads) {
    // Neighbours read along whichever index is contiguous.
    const int h = m.column == 1 ? i / kFusedWidth : i % kFusedTile, j = m.column == 1 ? i % kFusedWidth : i / kFusedTile;
    const float value = first + h < m.features ? m.data[member * m.member_stride + (first + h) * m.row + j * m.column] : 0.0F;
    tile[h * kImageStride + j] = value;
  }
  __syncthreads();
  write_images<Factors, kImageThreads>(tile, threadIdx.x, m.rows_image == nullptr ? nullptr : m.rows_image + at,
                                       m.columns_image == nullptr ? nullptr : m.columns_image + at);
}

__global__ void coefficients_kernel(int features, int tiles, int coordinates, ConstMatrices phases, ConstMatrices frequencies,
                                    float* coefficients) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const std::size_t member = blockIdx.y;
  const int row = i / 64 % (coordinates + 1), tile = i / 64 / (coordinates + 1), feature = tile * 64 + i % 64;
  if (tile >= tiles) return;
  float value = 0;
  if (feature < features) {
    value = row == 0 ? phases.data[member * phases.member_stride + feature]
                     : frequencies.data[member * frequencies.member_stride + (row - 1) * frequencies.stride + feature];
  }
  coefficients[member * tiles * (coordinates + 1) * 64 + i] = value;
}

// Fragments into a transposed image in shared memory, and from there to `image`, by 128 threads of the block. No two lanes meet
// in a bank.
template <class Factors>
__device__ void store_transposed(const float4 (&v)[16], int thread, typename Factors::Number* shared, ImageWord* image) {
  const int row = thread / 32 * 16 + thread % 32 / 4;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const int column = k * 8 + thread % 4 * 2;
    shared[image_place<Factors, kFusedWidth>(row, column)] = Factors::rounded(v[k].x);
    shared[image_place<Factors, kFusedWidth>(row, column + 1)] = Factors::rounded(v[k].y);
    shared[image_place<Factors, kFusedWidth>(row + 8, column)] = Factors::rounded(v[k].z);
    shared[image_place<Factors, kFusedWidth>(row + 8, column + 1)] = Factors::rounded(v[k].w);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kTileBytes<Factors> / (16 * 128); ++k)
    reinterpret_cast<uint4*>(image)[k * 128 + thread] = reinterpret_cast<const uint4*>(shared)[k * 128 + thread];
}

template <class Factors>
__global__ void __launch_bounds__(128) transpose_kernel(Fragments from, int members, int row_blocks, ImageWord* images) {
  __shared__ __align__(16) typename Factors::Number shared[kFusedTile * kFusedWidth];
  const std::size_t member = blockIdx.y, block = member * row_blocks + blockIdx.x;
  float4 sum[16];
  load_fragments(from, member, block, static_cast<std::size_t>(members) * row_blocks * (kTileEntries / 4), threadIdx.x, sum);
  store_transposed<Factors>(sum, threadIdx.x, shared, images + block * kTileWords<Factors>);
}

void launched() { check_cuda(cudaGetLastError(), "starting work between layers"); }

}  // namespace

void make_images(const MakeImages& m, cudaStream_t stream) {
  const auto kernel = m.precision == Precision::bf16 ? images_kernel<Bf16> : images_kernel<Tf32>;
  kernel<<<dim3(unsigned_of(m.tiles), unsigned_of(m.members)), kImageThreads, 0, stream>>>(m);
  launched();
}

void make_coefficients(int members, int features, int tiles, int coordinates, const ConstMatrices& phases,
                       const ConstMatrices& frequencies, float* coefficients, cudaStream_t stream) {
  const auto count = static_cast<std::size_t>(tiles) * 64 * static_cast<std::size_t>(coordinates + 1);
  coefficients_kernel<<<dim3(blocks(count, 256), unsigned_of(members)), 256, 0, stream>>>(features, tiles, coordinates, phases,
                                                                                          frequencies, coefficients);
  launched();
}

void transpose_fragments(const Fragments& from, Precision precision, int members, int row_blocks, ImageWord* images,
                         cudaStream_t stream) {
  const auto kernel = precision == Precision::bf16 ? transpose_kernel<Bf16> : transpose_kernel<Tf32>;
  kernel<<<dim3(unsigned_of(row_blocks), unsigned_of(members)), 128, 0, stream>>>(from, members, row_blocks, images);
  launched();
}

}  // namespace drift::cuda
