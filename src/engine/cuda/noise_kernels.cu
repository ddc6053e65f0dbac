// Dropout and the noise of variational weights: the numbers, and their order along columns, of engine/cpu/noise_kernels.cpp.

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "engine/cuda/kernels.h"
#include "engine/cuda/launch.cuh"
#include "engine/cuda/random.cuh"

namespace drift::cuda {
namespace {

constexpr int kCountersAGroup = 16;

// [k0, k1, c2, c3] of a member's matrix in this step.
__device__ Words key_of(const NoisePlace& place, std::size_t z, Purpose purpose) {
  const std::uint64_t step = place.numbers[z].step, seed = place.members[z].seed;
  return philox({{static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32), place.members[z].index,
                  place.matrix << 16 | static_cast<std::uint32_t>(purpose)}},
                static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32));
}

// A thread has one counter of one row: eight columns, sixteen apart.
__global__ void drop_kernel(NoisePlace place, std::uint32_t dropped, float kept, int rows, int cols, Matrices target) {
  const int counter = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  const int first = counter / kCountersAGroup * 8 * kCountersAGroup + counter % kCountersAGroup;
  if (first >= cols) return;
  const std::size_t z = blockIdx.z;
  const Words key = key_of(place, z, Purpose::dropout);
  const Words words =
      philox({{static_cast<std::uint32_t>(counter), place.first_row + row, key.word[2], key.word[3]}}, key.word[0], key.word[1]);
  float* out = target.data + z * target.member_stride + row * target.stride;
#pragma unroll
  for (int half = 0; half < 8; ++half) {
    const int col = first + half * kCountersAGroup;
    if (col >= cols) break;
    const std::uint32_t bits = words.word[half / 2] >> (16 * (half % 2)) & 0xFFFFU;
    out[col] = bits < dropped ? 0.0F : kept * out[col];
  }
}

__device__ float uniform(std::uint32_t bits) { return (static_cast<float>(bits >> 9) + 0.5F) * 0x1p-23F; }

__global__ void weight_noise_kernel(NoisePlace place, int rows, int cols, const float* variance, float* spread,
                                    ConstMatrices scale, Matrices out) {
  const int counter = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  const int first = counter / kCountersAGroup * 4 * kCountersAGroup + counter % kCountersAGroup;
  if (first >= cols) return;
  const std::size_t z = blockIdx.z;
  const Words key = key_of(place, z, Purpose::weight_noise);
  const Words words =
      philox({{static_cast<std::uint32_t>(counter), place.first_row + row, key.word[2], key.word[3]}}, key.word[0], key.word[1]);
  const float factor = scale.data[z * scale.member_stride];
  const std::size_t packed = (z * rows + row) * cols;
  for (int pair = 0; pair < 2; ++pair) {
    const float radius = sqrtf(-2.0F * logf(uniform(words.word[2 * pair])));
    float sine, cosine;
    sincospif(2.0F * uniform(words.word[2 * pair + 1]), &sine, &cosine);
    for (int part = 0; part < 2; ++part) {
      const int col = first + (2 * pair + part) * kCountersAGroup;
      if (col >= cols) continue;
      const float eps = radius * (part == 0 ? cosine : sine);
      const float sd = sqrtf(fmaxf(variance[packed + col], 1.17549435e-38F));
      out.data[z * out.member_stride + row * out.stride + col] += factor * sd * eps;
      spread[packed + col] = factor * eps / (2 * sd);
    }
  }
}

__global__ void spread_kernel(int rows, int cols, const float* spread, ConstMatrices gradient, float* result) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (col >= cols) return;
  const std::size_t z = blockIdx.z, packed = (z * rows + row) * cols + col;
  result[packed] = spread[packed] * gradient.data[z * gradient.member_stride + row * gradient.stride + col];
}

__global__ void square_gradient_kernel(int cols, ConstMatrices input, ConstMatrices share, Matrices target) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (col >= cols) return;
  const std::size_t z = blockIdx.z;
  target.data[z * target.member_stride + row * target.stride + col] +=
      2 * input.data[z * input.member_stride + row * input.stride + col] *
      share.data[z * share.member_stride + row * share.stride + col];
}

__global__ void copy_kernel(int cols, ConstMatrices from, Matrices to) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  if (col >= cols) return;
  const std::size_t z = blockIdx.z;
  to.data[z * to.member_stride + row * to.stride + col] = from.data[z * from.member_stride + row * from.stride + col];
}

dim3 grid(int members, int rows, int cols) { return {blocks(cols, 128), unsigned_of(rows), unsigned_of(members)}; }

}  // namespace

void drop(const NoisePlace& place, double rate, int members, int rows, int cols, const Matrices& target, cudaStream_t stream) {
  const auto dropped = static_cast<std::uint32_t>(std::clamp(std::lround(rate * 65536.0), 0L, 65535L));
  const auto kept = static_cast<float>(65536.0 / (65536.0 - dropped));
  const int counters = (cols + 8 * kCountersAGroup - 1) / (8 * kCountersAGroup) * kCountersAGroup;
  drop_kernel<<<grid(members, rows, counters), 128, 0, stream>>>(place, dropped, kept, rows, cols, target);
  check_cuda(cudaGetLastError(), "starting dropout");
}

void add_weight_noise(const NoisePlace& place, int members, int rows, int cols, const float* variance, float* spread,
                      const ConstMatrices& scale, const Matrices& out, cudaStream_t stream) {
  const int counters = (cols + 4 * kCountersAGroup - 1) / (4 * kCountersAGroup) * kCountersAGroup;
  weight_noise_kernel<<<grid(members, rows, counters), 128, 0, stream>>>(place, rows, cols, variance, spread, scale, out);
  check_cuda(cudaGetLastError(), "starting the weights' noise");
}

void spread_gradient(int members, int rows, int cols, const float* spread, const ConstMatrices& gradient, float* result,
                     cudaStream_t stream) {
  spread_kernel<<<grid(members, rows, cols), 128, 0, stream>>>(rows, cols, spread, gradient, result);
  check_cuda(cudaGetLastError(), "starting a gradient");
}

void add_square_gradient(int members, int rows, int cols, const ConstMatrices& input, const ConstMatrices& share,
                         const Matrices& target, cudaStream_t stream) {
  square_gradient_kernel<<<grid(members, rows, cols), 128, 0, stream>>>(cols, input, share, target);
  check_cuda(cudaGetLastError(), "starting a gradient");
}

void copy_matrices(int members, int rows, int cols, const ConstMatrices& from, const Matrices& to, cudaStream_t stream) {
  copy_kernel<<<grid(members, rows, cols), 128, 0, stream>>>(cols, from, to);
  check_cuda(cudaGetLastError(), "starting a copy");
}

}  // namespace drift::cuda
