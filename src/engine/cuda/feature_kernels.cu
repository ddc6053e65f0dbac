// Planar and spherical features and their slopes. Accuracy as on the CPU: the same polynomials, the same expansion.

#include <cstdint>

#include "engine/cuda/kernels.h"
#include "engine/cuda/launch.cuh"
#include "engine/cuda/legendre.cuh"
#include "engine/cuda/turns.cuh"

namespace drift::cuda {
namespace {

constexpr int kRowsAtOnce = 8;
constexpr float kTwoPi = 6.283185307179586F;

// A thread has one feature and eight rows.
__global__ void cosine_kernel(Cosine c) {
  const int feature = blockIdx.x * blockDim.x + threadIdx.x;
  if (feature >= c.features) return;
  const std::size_t z = blockIdx.z;
  const float amplitude = c.amplitude.data[z * c.amplitude.member_stride];
  const float shift = c.phases.data[z * c.phases.member_stride + feature];
  const float* frequencies = c.frequencies.data + z * c.frequencies.member_stride + feature;
  const float* coordinates = c.coordinates.data + z * c.coordinates.member_stride;
  const int first = blockIdx.y * kRowsAtOnce, last = min(first + kRowsAtOnce, c.rows);
  for (int row = first; row < last; ++row) {
    float phase = shift;
    for (int i = 0; i < c.coordinate_count; ++i) {
      phase = fmaf(coordinates[row * c.coordinates.stride + i], frequencies[i * c.frequencies.stride], phase);
    }
    if (c.hidden_phase.data != nullptr)
      phase += c.hidden_phase.data[z * c.hidden_phase.member_stride + row * c.hidden_phase.stride + feature];
    const Turn turn(fraction_of_turn(phase));
    c.feature.data[z * c.feature.member_stride + row * c.feature.stride + feature] = amplitude * turn.cosine();
    if (c.slope.data != nullptr) {
      c.slope.data[z * c.slope.member_stride + row * c.slope.stride + feature] = -kTwoPi * amplitude * turn.sine();
    }
  }
}

constexpr int kTerms = 5;
constexpr float kLeastArgument = 16;
constexpr float kLeastExpandedDegree = 32;

__global__ void legendre_kernel(Legendre l, Matrices feature, bool accumulate) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= l.features) return;
  const std::size_t z = blockIdx.z;
  const float* poles = l.poles.data + z * l.poles.member_stride + m;
  const float bx = poles[0], by = poles[l.poles.stride], bz = poles[2 * l.poles.stride];
  const float degree = l.degrees.data[z * l.degrees.member_stride + m];
  const float scale = l.scales.data[z * l.scales.member_stride + m];
  const Expansion<kTerms> expansion(degree, scale, kLeastArgument, kLeastExpandedDegree);
  const int first = blockIdx.y * kRowsAtOnce, last = min(first + kRowsAtOnce, l.rows);
  for (int row = first; row < last; ++row) {
    const Chord c = chord(l.points.data + z * l.points.member_stride + row * l.points.stride, bx, by, bz);
    const float sine2 = squared_sine(c.squared);
    float value, sum;
    if (sine2 >= expansion.least_squared_sine) {
      value = expanded(expansion, c.squared, sine2);
    } else {
      recurrence(degree, c.squared, value, sum);
      value *= scale;
    }
    if (c.negative && is_odd(degree)) value = -value;
    float& out = feature.data[z * feature.member_stride + row * feature.stride + m];
    out = accumulate ? out + value : value;
  }
}

__global__ void legendre_gradient_kernel(Legendre l, ConstMatrices given, Matrices gradient) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= l.rows) return;
  const std::size_t z = blockIdx.z;
  const float* s = l.points.data + z * l.points.member_stride + row * l.points.stride;
  const float* poles = l.poles.data + z * l.poles.member_stride;
  float sum[3] = {};
  for (int m = lane; m < l.features; m += 32) {
    const Chord c = chord(s, poles[m], poles[l.poles.stride + m], poles[2 * l.poles.stride + m]);
    const float degree = l.degrees.data[z * l.degrees.member_stride + m];
    float value, series;
    recurrence(degree, c.squared, value, series);
    const float derivative = fmaf(degree, value, series) / fmaf(c.squared, -0.5F, 2.0F);
    float factor =
        given.data[z * given.member_stride + row * given.stride + m] * l.scales.data[z * l.scales.member_stride + m] * derivative;
    if (c.negative && is_odd(degree)) factor = -factor;
    sum[0] = fmaf(-factor, c.x, sum[0]), sum[1] = fmaf(-factor, c.y, sum[1]), sum[2] = fmaf(-factor, c.z, sum[2]);
  }
  double total[3], radial = 0, squared_length = 0;
  for (int i = 0; i < 3; ++i) {
    total[i] = warp_sum(sum[i]);
    radial += s[i] * total[i];
    squared_length += static_cast<double>(s[i]) * s[i];
  }
  if (lane != 0) return;
  float* out = gradient.data + z * gradient.member_stride + row * gradient.stride;
  for (int i = 0; i < 3; ++i) out[i] += static_cast<float>(total[i] - radial / squared_length * s[i]);
}

__global__ void multiply_kernel(int rows, int cols, ConstMatrices factor, Matrices target) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= cols) return;
  const std::size_t z = blockIdx.z;
  const int first = blockIdx.y * kRowsAtOnce, last = min(first + kRowsAtOnce, rows);
  for (int row = first; row < last; ++row) {
    target.data[z * target.member_stride + row * target.stride + col] *=
        factor.data[z * factor.member_stride + row * factor.stride + col];
  }
}

__global__ void activation_kernel(Activation a) {
  const int feature = blockIdx.x * blockDim.x + threadIdx.x;
  if (feature >= a.features) return;
  const std::size_t z = blockIdx.z;
  const int first = blockIdx.y * kRowsAtOnce, last = min(first + kRowsAtOnce, a.rows);
  for (int row = first; row < last; ++row) {
    float& value = a.feature.data[z * a.feature.member_stride + row * a.feature.stride + feature];
    if (!a.sine) {
      if (value < 0.0F) value = 0.0F;
      continue;
    }
    float sine, cosine;
    sincosf(a.omega * value, &sine, &cosine);
    value = sine;
    if (a.slope.data != nullptr) a.slope.data[z * a.slope.member_stride + row * a.slope.stride + feature] = a.omega * cosine;
  }
}

__global__ void relu_gradient_kernel(int rows, int cols, ConstMatrices feature, Matrices target) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= cols) return;
  const std::size_t z = blockIdx.z;
  const int first = blockIdx.y * kRowsAtOnce, last = min(first + kRowsAtOnce, rows);
  for (int row = first; row < last; ++row) {
    if (!(feature.data[z * feature.member_stride + row * feature.stride + col] > 0.0F)) {
      target.data[z * target.member_stride + row * target.stride + col] = 0.0F;
    }
  }
}

__global__ void fill_column_kernel(int rows, Matrices column, float value) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) column.data[blockIdx.y * column.member_stride + row * column.stride] = value;
}

__global__ void tangent_kernel(const float* points, int rows, int columns, std::size_t capacity, float* gradient) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  const float* s = points + (blockIdx.y * capacity + row) * columns;
  float* g = gradient + (blockIdx.y * capacity + row) * columns;
  float radial = 0, squared_length = 0;
  for (int i = 0; i < 3; ++i) {
    radial += s[i] * g[i];
    squared_length += s[i] * s[i];
  }
  for (int i = 0; i < 3; ++i) g[i] -= radial / squared_length * s[i];
}

// A block has one hidden entry and one block of n features: the transforms of a unit vector, whole numbers until the end.
__global__ void structured_kernel(Structured s) {
  extern __shared__ float x[];
  const std::size_t z = blockIdx.z;
  const int entry = blockIdx.x, block = blockIdx.y;
  const float* signs = s.signs.data + z * s.signs.member_stride + static_cast<std::size_t>(block) * 3 * s.n;
  for (int i = threadIdx.x; i < s.n; i += blockDim.x) x[i] = i == entry ? 1.0F : 0.0F;
  for (int round = 0; round < 3; ++round) {
    __syncthreads();
    for (int i = threadIdx.x; i < s.n; i += blockDim.x) x[i] *= signs[round * s.n + i];
    for (int half = 1; half < s.n; half *= 2) {
      __syncthreads();
      for (int pair = threadIdx.x; pair < s.n / 2; pair += blockDim.x) {
        const int i = pair / half * 2 * half + pair % half;
        const float a = x[i], b = x[i + half];
        x[i] = a + b;
        x[i + half] = a - b;
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < s.n; i += blockDim.x) {
    const int feature = block * s.n + i;
    if (feature >= s.features) continue;
    s.frequencies.data[z * s.frequencies.member_stride + entry * s.frequencies.stride + feature] =
        x[i] * s.lengths.data[z * s.lengths.member_stride + feature];
  }
}

__global__ void coordinate_gradient_kernel(int rows, int features, int count, ConstMatrices phase_gradient,
                                           ConstMatrices frequencies, Matrices gradient) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const std::size_t z = blockIdx.z;
  const float* given = phase_gradient.data + z * phase_gradient.member_stride + row * phase_gradient.stride;
  for (int i = 0; i < count; ++i) {
    const float* frequency = frequencies.data + z * frequencies.member_stride + i * frequencies.stride;
    float sum = 0;
    for (int m = lane; m < features; m += 32) sum = fmaf(given[m], frequency[m], sum);
    sum = warp_sum(sum);
    if (lane == 0) gradient.data[z * gradient.member_stride + row * gradient.stride + i] += sum;
  }
}

}  // namespace

void cosine_features(const Cosine& c, cudaStream_t stream) {
  cosine_kernel<<<dim3(blocks(c.features, 128), blocks(c.rows, kRowsAtOnce), unsigned_of(c.members)), 128, 0, stream>>>(c);
  check_cuda(cudaGetLastError(), "starting planar features");
}

void legendre_features(const Legendre& l, const Matrices& feature, bool accumulate, cudaStream_t stream) {
  legendre_kernel<<<dim3(blocks(l.features, 128), blocks(l.rows, kRowsAtOnce), unsigned_of(l.members)), 128, 0, stream>>>(
      l, feature, accumulate);
  check_cuda(cudaGetLastError(), "starting spherical features");
}

void legendre_gradient(const Legendre& l, const ConstMatrices& feature_gradient, const Matrices& gradient, cudaStream_t stream) {
  legendre_gradient_kernel<<<dim3(blocks(l.rows, 4), 1, unsigned_of(l.members)), 128, 0, stream>>>(l, feature_gradient, gradient);
  check_cuda(cudaGetLastError(), "starting gradients along the sphere");
}

void multiply(int members, int rows, int cols, const ConstMatrices& factor, const Matrices& target, cudaStream_t stream) {
  multiply_kernel<<<dim3(blocks(cols, 128), blocks(rows, kRowsAtOnce), unsigned_of(members)), 128, 0, stream>>>(rows, cols,
                                                                                                                factor, target);
  check_cuda(cudaGetLastError(), "starting products by elements");
}

void activate(const Activation& a, cudaStream_t stream) {
  activation_kernel<<<dim3(blocks(a.features, 128), blocks(a.rows, kRowsAtOnce), unsigned_of(a.members)), 128, 0, stream>>>(a);
  check_cuda(cudaGetLastError(), "starting an activation");
}

void relu_gradient(int members, int rows, int cols, const ConstMatrices& feature, const Matrices& target, cudaStream_t stream) {
  relu_gradient_kernel<<<dim3(blocks(cols, 128), blocks(rows, kRowsAtOnce), unsigned_of(members)), 128, 0, stream>>>(
      rows, cols, feature, target);
  check_cuda(cudaGetLastError(), "starting an activation's gradient");
}

void fill_column(int members, int rows, const Matrices& column, float value, cudaStream_t stream) {
  fill_column_kernel<<<dim3(blocks(rows, 256), unsigned_of(members)), 256, 0, stream>>>(rows, column, value);
  check_cuda(cudaGetLastError(), "filling a column");
}

void make_tangent(const float* points, int rows, int columns, int members, std::size_t capacity, float* gradient,
                  cudaStream_t stream) {
  tangent_kernel<<<dim3(blocks(rows, 256), unsigned_of(members)), 256, 0, stream>>>(points, rows, columns, capacity, gradient);
  check_cuda(cudaGetLastError(), "starting gradients along the sphere");
}

void expand_structured(const Structured& s, cudaStream_t stream) {
  const dim3 grid(unsigned_of(s.hidden), blocks(s.features, s.n), unsigned_of(s.members));
  structured_kernel<<<grid, 128, s.n * sizeof(float), stream>>>(s);
  check_cuda(cudaGetLastError(), "writing out structured frequencies");
}

void coordinate_gradient(int members, int rows, int features, int count, const ConstMatrices& phase_gradient,
                         const ConstMatrices& frequencies, const Matrices& gradient, cudaStream_t stream) {
  coordinate_gradient_kernel<<<dim3(blocks(rows, 4), 1, unsigned_of(members)), 128, 0, stream>>>(
      rows, features, count, phase_gradient, frequencies, gradient);
  check_cuda(cudaGetLastError(), "starting gradients of coordinates");
}

}  // namespace drift::cuda
