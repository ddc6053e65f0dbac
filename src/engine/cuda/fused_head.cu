// Between the fused layers: images of weights and gradients, the head and the loss.

#include "engine/cuda/fused_parts.cuh"
#include "engine/cuda/launch.cuh"

namespace drift::cuda {
namespace {

constexpr int kImageThreads = 256;
// A block of threads has one tile of one member.
__global__ void __launch_bounds__(kImageThreads) images_kernel(MakeImages m) {
  __shared__ float tile[kFusedTile * kImageStride];
  const std::size_t member = blockIdx.y, at = (member * m.tiles + blockIdx.x) * kTileFloats;
  const int first = blockIdx.x * kFusedTile;
  for (int i = threadIdx.x; i < kTileFloats; i += kImageThreads) {
    // Neighbours read along whichever index is contiguous.
    const int h = m.column == 1 ? i / kFusedWidth : i % kFusedTile, j = m.column == 1 ? i % kFusedWidth : i / kFusedTile;
    const float value = first + h < m.features ? m.data[member * m.member_stride + (first + h) * m.row + j * m.column] : 0.0F;
    tile[h * kImageStride + j] = __uint_as_float(as_tf32(value));
  }
  __syncthreads();
  write_images<kImageThreads>(tile, threadIdx.x, m.rows_image == nullptr ? nullptr : m.rows_image + at,
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
__device__ void store_transposed(const float4 (&v)[16], int thread, float* shared, float* image) {
  const int row = thread / 32 * 16 + thread % 32 / 4;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const int column = k * 8 + thread % 4 * 2;
    shared[columns_image_place(row, column)] = __uint_as_float(as_tf32(v[k].x));
    shared[columns_image_place(row, column + 1)] = __uint_as_float(as_tf32(v[k].y));
    shared[columns_image_place(row + 8, column)] = __uint_as_float(as_tf32(v[k].z));
    shared[columns_image_place(row + 8, column + 1)] = __uint_as_float(as_tf32(v[k].w));
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < 16; ++k)
    reinterpret_cast<float4*>(image)[k * 128 + thread] = reinterpret_cast<const float4*>(shared)[k * 128 + thread];
}

__global__ void __launch_bounds__(128) transpose_kernel(Fragments from, int members, int row_blocks, float* images) {
  __shared__ __align__(16) float shared[kTileFloats];
  const std::size_t member = blockIdx.y, block = member * row_blocks + blockIdx.x;
  float4 sum[16];
  load_fragments(from, member, block, static_cast<std::size_t>(members) * row_blocks * (kTileFloats / 4), threadIdx.x, sum);
  store_transposed(sum, threadIdx.x, shared, images + block * kTileFloats);
}

__device__ float sum_over_quad(float x) {
  x += __shfl_xor_sync(0xFFFFFFFFU, x, 1);
  return x + __shfl_xor_sync(0xFFFFFFFFU, x, 2);
}

// Loss and slope of one residual.
__device__ float2 loss_of(const FusedHead& h, float residual) {
  const float size = fabsf(residual);
  if (h.loss == LossKind::squared) return {residual * residual, 2 * residual};
  if (size <= h.delta) return {residual * residual / 2, residual};
  return {h.delta * (size - h.delta / 2), isnan(residual) ? residual : copysignf(h.delta, residual)};
}

// A block of threads has one row block; its first half one side of the head's input, its second half the other.
constexpr int kHeadShared = 2 * kTileFloats * 4;
__global__ void __launch_bounds__(256) head_kernel(const __grid_constant__ FusedHead h) {
  extern __shared__ __align__(16) float images[];  // [2][kTileFloats]
  __shared__ float columns[4][256];
  __shared__ float shares[2][kFusedRows];
  __shared__ double losses[4];
  const std::size_t member = blockIdx.y, block = member * h.row_blocks + blockIdx.x;
  const int side = threadIdx.x / 128, thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
  const float* head = h.head.data + member * h.head.member_stride + side * 128 + lane % 4 * 2;
  float4 v[16];
  load_fragments(h.input[side], member, block, static_cast<std::size_t>(h.members) * h.row_blocks * (kTileFloats / 4), thread, v);
  float y[2] = {0, 0};
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const float2 w = *reinterpret_cast<const float2*>(head + k * 8);
    y[0] = fmaf(v[k].x, w.x, fmaf(v[k].y, w.y, y[0]));
    y[1] = fmaf(v[k].z, w.x, fmaf(v[k].w, w.y, y[1]));
  }
  const int first_row = warp * 16 + lane / 4;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const float share = sum_over_quad(y[half]);
    if (lane % 4 == 0) shares[side][first_row + half * 8] = share;
  }
  __syncthreads();
  float slope[2] = {0, 0};
  double loss = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int in_block = first_row + half * 8, row = blockIdx.x * kFusedRows + in_block;
    const float out = h.head_scale * (shares[0][in_block] + shares[1][in_block]);
    if (row >= h.rows) continue;
    const std::size_t at = member * h.capacity + row;
    if (lane % 4 == 0 && side == 0) h.output[at] = out;
    if (h.values == nullptr) continue;
    const float weight = h.weights == nullptr ? 1.0F : h.weights[at];
    const float2 found = loss_of(h, out - h.values[at]);
    if (lane % 4 == 0) loss += static_cast<double>(weight) * found.x;
    slope[half] = h.head_scale * h.loss_scale * weight * found.y;
  }
  if (h.values == nullptr) return;
  loss = warp_sum(loss);
  if (lane == 0 && side == 0) losses[warp] = loss;
  float4* to = reinterpret_cast<float4*>(h.input_gradient[side] + block * kTileFloats) + thread;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const float2 w = *reinterpret_cast<const float2*>(head + k * 8);
    float c0 = slope[0] * v[k].x + slope[1] * v[k].z, c1 = slope[0] * v[k].y + slope[1] * v[k].w;
#pragma unroll
    for (int offset = 4; offset < 32; offset *= 2) {
      c0 += __shfl_xor_sync(0xFFFFFFFFU, c0, offset);
      c1 += __shfl_xor_sync(0xFFFFFFFFU, c1, offset);
    }
    if (lane < 4) {
      columns[warp][side * 128 + k * 8 + lane * 2] = c0;
      columns[warp][side * 128 + k * 8 + lane * 2 + 1] = c1;
    }
    v[k] = {slope[0] * w.x, slope[0] * w.y, slope[1] * w.x, slope[1] * w.y};
    to[k * 128] = v[k];
  }
  store_transposed(v, thread, images + side * kTileFloats, h.transposed[side] + block * kTileFloats);
  const int i = threadIdx.x;
  h.head_partial[block * 256 + i] = columns[0][i] + columns[1][i] + columns[2][i] + columns[3][i];
  if (i == 0) h.partial[member * h.partial_stride + h.partial_first + blockIdx.x] = losses[0] + losses[1] + losses[2] + losses[3];
}

__global__ void head_gradient_kernel(const float* head_partial, int row_blocks, float* gradient, std::size_t stride,
                                     bool accumulate) {
  const std::size_t member = blockIdx.x;
  const int i = threadIdx.x;
  float sum = accumulate ? gradient[member * stride + i] : 0.0F;
  for (int block = 0; block < row_blocks; ++block) sum += head_partial[(member * row_blocks + block) * 256 + i];
  gradient[member * stride + i] = sum;
}

void launched() { check_cuda(cudaGetLastError(), "starting work between layers"); }

}  // namespace

void make_images(const MakeImages& m, cudaStream_t stream) {
  images_kernel<<<dim3(unsigned_of(m.tiles), unsigned_of(m.members)), kImageThreads, 0, stream>>>(m);
  launched();
}

void make_coefficients(int members, int features, int tiles, int coordinates, const ConstMatrices& phases,
                       const ConstMatrices& frequencies, float* coefficients, cudaStream_t stream) {
  const auto count = static_cast<std::size_t>(tiles) * 64 * static_cast<std::size_t>(coordinates + 1);
  coefficients_kernel<<<dim3(blocks(count, 256), unsigned_of(members)), 256, 0, stream>>>(features, tiles, coordinates, phases,
                                                                                          frequencies, coefficients);
  launched();
}

void transpose_fragments(const Fragments& from, int members, int row_blocks, float* images, cudaStream_t stream) {
  transpose_kernel<<<dim3(unsigned_of(row_blocks), unsigned_of(members)), 128, 0, stream>>>(from, members, row_blocks, images);
  launched();
}

void fused_head(const FusedHead& h, cudaStream_t stream) {
  check_cuda(cudaFuncSetAttribute(head_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kHeadShared),
             "asking for shared memory");
  head_kernel<<<dim3(unsigned_of(h.row_blocks), unsigned_of(h.members)), 256, kHeadShared, stream>>>(h);
  launched();
}

void fused_head_gradient(const float* head_partial, int members, int row_blocks, float* gradient, std::size_t stride,
                         bool accumulate, cudaStream_t stream) {
  head_gradient_kernel<<<unsigned_of(members), 256, 0, stream>>>(head_partial, row_blocks, gradient, stride, accumulate);
  launched();
}

}  // namespace drift::cuda
