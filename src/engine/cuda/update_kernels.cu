// Adam on all parameters of all members at once, and the steps of orthogonalised momentum between its matrix products.

#include "engine/cuda/kernels.h"
#include "engine/cuda/launch.cuh"
#include "engine/cuda/muon.h"

namespace drift::cuda {
namespace {

__device__ __forceinline__ void adam_entry(float g, float rate, float beta1, float beta2, float epsilon, float correction1,
                                           float correction2, float& weight, float& moment1, float& moment2) {
  const float m = fmaf(beta1, moment1, (1 - beta1) * g);
  const float v = fmaf(beta2, moment2, (1 - beta2) * (g * g));
  weight -= rate / correction1 * m / (sqrtf(v * (1 / correction2)) + epsilon);
  moment1 = m;
  moment2 = v;
}

__global__ void adam_kernel(AdamUpdate u) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x, z = blockIdx.y;
  if (i >= u.size || u.rules[i] != Rule::adam) return;
  const StepNumbers& numbers = u.numbers[z];
  float& weight = u.weights[z * u.weights_stride + i];
  float g = u.gradient[z * u.gradient_stride + i];
  if (u.variances == nullptr) {
    g = fmaf(numbers.decay, weight, g);
  } else {
    const float variance = u.variances[z * u.weights_stride + i];
    g = 2.0F * variance * g + numbers.decay * (variance - 1.0F);
  }
  adam_entry(g, numbers.adam_rate, u.beta1, u.beta2, u.epsilon, numbers.correction1, numbers.correction2, weight,
             u.moment1[z * u.moment_stride + i], u.moment2[z * u.moment_stride + i]);
  if (u.variances != nullptr) u.variances[z * u.weights_stride + i] = expf(2.0F * weight);
}

__global__ void hyper_kernel(HyperUpdate u) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const std::size_t z = blockIdx.y;
  if (i >= u.count) return;
  double& sum = u.sums[z * u.count + i];
  if (u.trained[i] != 0) {
    adam_entry(static_cast<float>(sum), u.numbers[z].hyper_rate, u.beta1, u.beta2, u.epsilon, u.numbers[z].correction1,
               u.numbers[z].correction2, u.weights[z * u.weights_stride + i], u.moment1[z * u.moment_stride + i],
               u.moment2[z * u.moment_stride + i]);
  }
  sum = 0;
}

__global__ void exponential_kernel(const float* in, float* out, std::size_t count) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < count) out[i] = expf(2.0F * in[i]);
}

constexpr int kThreads = 256;

// M = mu M + g, X = g + mu M, and the sum of X^2 of each block.
__global__ void momentum_kernel(MuonArrays a, const StepNumbers* numbers) {
  __shared__ double memory[kThreads / 32];
  const std::size_t z = blockIdx.z, layer = blockIdx.y, matrix = z * a.layers + layer;
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(kThreads) + threadIdx.x;
  double square = 0;
  if (i < a.size) {
    const std::size_t offset = a.offsets[layer] + i;
    const float g = fmaf(numbers[z].decay, a.weights[z * a.weights_stride + offset], a.gradient[z * a.gradient_stride + offset]);
    float& momentum = a.momentum[z * a.moment_stride + offset];
    momentum = a.mu * momentum + g;
    const float x = g + a.mu * momentum;
    a.x[matrix * a.size + i] = x;
    square = static_cast<double>(x) * x;
  }
  const double sum = block_sum<kThreads>(square, memory);
  if (threadIdx.x == 0) a.partial[matrix * gridDim.x + blockIdx.x] = sum;
}

// One block a matrix.
__global__ void muon_scales_kernel(MuonArrays a, int partials, const StepNumbers* numbers, float root, float* scales) {
  __shared__ double memory[kThreads / 32];
  const std::size_t matrix = blockIdx.x;
  double sum = 0;
  for (int i = threadIdx.x; i < partials; i += kThreads) sum += a.partial[matrix * partials + i];
  const double norm = sqrt(block_sum<kThreads>(sum, memory));
  if (threadIdx.x != 0) return;
  const double inverse = norm < 1e-15 ? 0.0 : 1.0 / norm;  // its square stays a float
  scales[3 * matrix] = static_cast<float>(inverse);
  scales[3 * matrix + 1] = static_cast<float>(inverse * inverse);
  scales[3 * matrix + 2] = inverse == 0.0 ? 0.0F : -numbers[matrix / a.layers].muon_rate * a.factors[matrix % a.layers] * root;
}

__global__ void sum_grams_kernel(int size, int slices, const float* grams, const float* scale, float* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const std::size_t matrix = blockIdx.y;
  float total = 0;
  for (int slice = 0; slice < slices; ++slice) total += grams[(matrix * slices + slice) * size + i];
  sum[matrix * size + i] = scale == nullptr ? total : total * scale[3 * matrix];
}

__global__ void scale_matrices_kernel(int size, const float* scale, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) x[static_cast<std::size_t>(blockIdx.y) * size + i] *= scale[3 * blockIdx.y];
}

// P = a I + b G + c G^2
__global__ void polynomial_kernel(int n, const float* gram, const float* square, float* polynomial) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  const std::size_t at = static_cast<std::size_t>(blockIdx.y) * n * n + i;
  const float p = kMuonB * gram[at] + kMuonC * square[at];
  polynomial[at] = i / n == i % n ? p + kMuonA : p;
}

__global__ void apply_kernel(MuonArrays a, const float* scales) {
  const std::size_t z = blockIdx.z, layer = blockIdx.y, matrix = z * a.layers + layer;
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(kThreads) + threadIdx.x;
  if (i < a.size) a.weights[z * a.weights_stride + a.offsets[layer] + i] += scales[3 * matrix + 2] * a.x[matrix * a.size + i];
}

void launched() { check_cuda(cudaGetLastError(), "starting an update"); }

}  // namespace

void adam(const AdamUpdate& u, cudaStream_t stream) {
  adam_kernel<<<dim3(blocks(u.size, 256), unsigned_of(u.members)), 256, 0, stream>>>(u);
  launched();
}

void adam_hyper(const HyperUpdate& u, cudaStream_t stream) {
  hyper_kernel<<<dim3(blocks(u.count, 64), unsigned_of(u.members)), 64, 0, stream>>>(u);
  launched();
}

void exponential_of_twice(const float* in, float* out, std::size_t count, cudaStream_t stream) {
  exponential_kernel<<<blocks(count, 256), 256, 0, stream>>>(in, out, count);
  launched();
}

int momentum_partials(std::size_t size) { return static_cast<int>(blocks(size, kThreads)); }

void muon_momentum(const MuonArrays& a, const StepNumbers* numbers, float root, float* scales, cudaStream_t stream) {
  momentum_kernel<<<dim3(blocks(a.size, kThreads), unsigned_of(a.layers), unsigned_of(a.members)), kThreads, 0, stream>>>(
      a, numbers);
  launched();
  muon_scales_kernel<<<unsigned_of(a.layers * a.members), kThreads, 0, stream>>>(a, momentum_partials(a.size), numbers, root,
                                                                                 scales);
  launched();
}

void sum_grams(int n, int matrices, int slices, const float* grams, const float* scale, float* sum, cudaStream_t stream) {
  sum_grams_kernel<<<dim3(blocks(static_cast<std::size_t>(n) * n, 256), unsigned_of(matrices)), 256, 0, stream>>>(
      n * n, slices, grams, scale, sum);
  launched();
}

void scale_matrices(int size, int matrices, const float* scale, float* x, cudaStream_t stream) {
  scale_matrices_kernel<<<dim3(blocks(size, 256), unsigned_of(matrices)), 256, 0, stream>>>(size, scale, x);
  launched();
}

void muon_polynomial(int n, int matrices, const float* gram, const float* square, float* polynomial, cudaStream_t stream) {
  polynomial_kernel<<<dim3(blocks(static_cast<std::size_t>(n) * n, 256), unsigned_of(matrices)), 256, 0, stream>>>(
      n, gram, square, polynomial);
  launched();
}

void muon_apply(const MuonArrays& a, const float* scales, cudaStream_t stream) {
  apply_kernel<<<dim3(blocks(a.size, kThreads), unsigned_of(a.layers), unsigned_of(a.members)), kThreads, 0, stream>>>(a, scales);
  launched();
}

}  // namespace drift::cuda
