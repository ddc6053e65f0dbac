// engine/scales.cpp and the spectrum of features/spherical.cpp, in double: one block a member.

#include <cmath>

#include "engine/cuda/launch.cuh"
#include "engine/cuda/scales.h"
#include "features/spectral_density.h"

namespace drift::cuda {
namespace {

constexpr int kThreads = 256;

__device__ double block_max(double x, double* memory) {
  for (int offset = 16; offset > 0; offset /= 2) x = fmax(x, __shfl_xor_sync(0xFFFFFFFFU, x, offset));
  __syncthreads();
  if (threadIdx.x % 32 == 0) memory[threadIdx.x / 32] = x;
  __syncthreads();
  for (int i = 0; i < kThreads / 32; ++i) x = fmax(x, memory[i]);
  return x;
}

__device__ void make_masses(const ScaleUpdate& u, double lengthscale, double* mass, double* slope, double* memory) {
  const SpectralDensity<double> density(u.covariance, lengthscale);
  double top = -INFINITY;
  for (int n = threadIdx.x; n < u.degrees; n += kThreads) {
    const double log_lambda = log(static_cast<double>(n) * (n + 1.0));
    mass[n] = log(2.0 * n + 1.0) + density.log_value(log_lambda);
    slope[n] = density.log_slope(log_lambda);
    top = fmax(top, mass[n]);
  }
  top = block_max(top, memory);
  double total = 0, slopes = 0;
  for (int n = threadIdx.x; n < u.degrees; n += kThreads) {
    mass[n] = exp(mass[n] - top);
    total += mass[n];
  }
  total = block_sum<kThreads>(total, memory);
  for (int n = threadIdx.x; n < u.degrees; n += kThreads) {
    mass[n] /= total;
    slopes += mass[n] * slope[n];
  }
  slopes = block_sum<kThreads>(slopes, memory);
  for (int n = threadIdx.x; n < u.degrees; n += kThreads) slope[n] -= slopes;
  __syncthreads();
}

__global__ void __launch_bounds__(kThreads) scales_kernel(ScaleUpdate u) {
  __shared__ double memory[kThreads / 32];
  const std::size_t z = blockIdx.x;
  const float* logarithms = u.logarithms + z * u.parameters_stride;
  const auto value = [&](int index) { return u.values[index] * exp(static_cast<double>(logarithms[index])); };
  float* out = u.scales + z * u.scales_stride;
  for (int i = threadIdx.x; i < u.coordinates; i += kThreads) {
    const int index = u.coordinate_lengthscale[i];
    out[i] = index < 0 ? 1.0F : static_cast<float>(1.0 / value(index));
  }
  for (int i = threadIdx.x; i < u.layers; i += kThreads) {
    const ScaleLayer& layer = u.plan[i];
    out[u.coordinates + i] = layer.amplitude < 0 ? 0.0F : static_cast<float>(1.4142135623730951 * value(layer.amplitude));
    out[u.coordinates + u.layers + i] =
        static_cast<float>(1.0 / (layer.divisor * (layer.next_lengthscale < 0 ? 1.0 : value(layer.next_lengthscale))));
  }
  if (threadIdx.x == 0) out[u.coordinates + 2 * u.layers] = u.head_scale;
  if (u.sphere_lengthscale < 0) return;
  double* mass = u.mass + z * 2 * u.degrees;
  double* slope = mass + u.degrees;
  make_masses(u, value(u.sphere_lengthscale), mass, slope, memory);
  for (int i = 0; i < u.layers; ++i) {
    const ScaleLayer& layer = u.plan[i];
    if (layer.sphere_amplitude < 0) continue;
    const double sigma = value(layer.sphere_amplitude);
    const std::size_t first = z * u.sphere_stride + static_cast<std::size_t>(layer.sphere_index) * u.features;
    for (int m = threadIdx.x; m < u.features; m += kThreads) {
      const int degree = static_cast<int>(u.fixed[z * u.fixed_stride + layer.degrees + m]);
      u.sphere_scales[first + m] = static_cast<float>(sigma * sqrt((2.0 * degree + 1.0) * (mass[degree] / u.drawn_mass[degree])));
      u.sphere_slopes[first + m] = static_cast<float>(0.5 * slope[degree]);
    }
  }
}

}  // namespace

void update_scales(const ScaleUpdate& u, cudaStream_t stream) {
  scales_kernel<<<unsigned_of(u.members), kThreads, 0, stream>>>(u);
  check_cuda(cudaGetLastError(), "starting the hyperparameters' scales");
}

}  // namespace drift::cuda
