// What begins and ends a training step: rates, batches, losses.

#include "core/random.h"
#include "engine/cuda/kernels.h"
#include "engine/cuda/launch.cuh"
#include "engine/cuda/loss.cuh"
#include "engine/cuda/random.cuh"

namespace drift::cuda {
namespace {

// train/schedule.h
__device__ double rate_multiplier(const RunNumbers& run, std::uint64_t step) {
  if (run.schedule == Schedule::constant) return 1.0;
  const std::uint64_t quarter = run.total_steps / 4, warmup = run.warmup_steps < quarter ? run.warmup_steps : quarter;
  if (step < warmup) return static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
  if (step >= run.total_steps) return 0.0;
  const double done = static_cast<double>(step - warmup) / static_cast<double>(run.total_steps - warmup);
  return 0.5 * (1.0 + cospi(done));
}

__device__ void make_numbers(const RunNumbers& run, const MemberNumbers& member, std::uint64_t step, StepNumbers* numbers) {
  const double factor = rate_multiplier(run, step), t = static_cast<double>(step + 1);
  numbers->adam_rate = static_cast<float>(factor * member.rate);
  numbers->hyper_rate = static_cast<float>(factor * member.hyper_rate);
  numbers->muon_rate = static_cast<float>(factor * member.muon_rate);
  numbers->correction1 = static_cast<float>(1.0 - pow(run.beta1, t));
  numbers->correction2 = static_cast<float>(1.0 - pow(run.beta2, t));
}

__global__ void gather_kernel(const __grid_constant__ Gather g) {
  __shared__ std::uint32_t keys[kShuffleKeys];
  const std::size_t z = blockIdx.y;
  const std::uint64_t step = g.numbers[z].step;
  const MemberNumbers& member = g.run.member[z];
  const std::uint64_t steps_per_epoch = (g.run.observations - 1) / g.run.batch + 1;
  if (threadIdx.x < kShuffleKeys / 4) {
    // The first words of RandomStream({seed, member, layer 0, batches}, epoch).
    const Words words = philox({{threadIdx.x, static_cast<std::uint32_t>(step / steps_per_epoch), member.index,
                                 static_cast<std::uint32_t>(Purpose::batches)}},
                               static_cast<std::uint32_t>(member.seed), static_cast<std::uint32_t>(member.seed >> 32));
    for (int i = 0; i < 4; ++i) keys[threadIdx.x * 4 + i] = words.word[i];
  }
  __syncthreads();
  if (g.first == 0 && blockIdx.x == 0 && threadIdx.x == blockDim.x - 1) make_numbers(g.run, member, step, g.numbers + z);
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= g.rows) return;
  const std::uint64_t position = step % steps_per_epoch * g.run.batch + g.first + row;
  const std::uint64_t source = Shuffle(g.run.observations, keys)(position);
  const std::size_t to = z * g.capacity + row;
  for (int i = 0; i < g.coordinate_count; ++i) {
    const float x = g.coordinates[source * g.coordinate_stride + i];
    g.out_coordinates[to * g.coordinate_count + i] = x;
    g.out_scaled[to * g.coordinate_count + i] = x * g.inverse_lengthscale.data[z * g.inverse_lengthscale.member_stride + i];
  }
  const float weight = g.weights == nullptr ? 1.0F : g.weights[source];
  const float noise = weight > 0.0F ? member.value_noise * rsqrtf(weight) : 0.0F;
  for (int i = 0; i < g.outputs; ++i) {
    const float value = g.values[source * g.value_stride + i];
    g.out_values[to * g.outputs + i] =
        noise > 0.0F ? value + noise * value_noise_eps(member.seed, member.index, source, i) : value;
  }
  if (g.weights == nullptr && g.folds == nullptr) return;
  // weight_in_member() of drift/engine.h.
  const bool left_out = g.folds != nullptr && g.folds[source] == member.index % static_cast<std::uint32_t>(g.fold_count);
  const float folds = static_cast<float>(g.fold_count);
  g.out_weights[to] = g.folds == nullptr ? weight : left_out ? 0.0F : weight * folds / (folds - 1.0F);
}

__global__ void repeat_kernel(const float* points, std::size_t count, float* out, std::size_t member_stride) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x;
  if (i < count) out[blockIdx.y * member_stride + i] = points[i];
}

__global__ void scale_columns_kernel(const float* in, float* out, std::size_t count, int columns, std::size_t member_stride,
                                     Batched<const float> factors) {
  const std::size_t i = blockIdx.x * static_cast<std::size_t>(blockDim.x) + threadIdx.x, z = blockIdx.y;
  if (i >= count) return;
  out[z * member_stride + i] = in[z * member_stride + i] * factors.data[z * factors.member_stride + i % columns];
}

constexpr int kLossThreads = 256;

__global__ void loss_kernel(const __grid_constant__ LossBlock l) {
  __shared__ double memory[kLossThreads / 32];
  const LossTarget& target = l.target;
  const int row = blockIdx.x * kLossThreads + threadIdx.x;
  const std::size_t z = blockIdx.y, at = z * l.capacity + row;
  double loss = 0;
  if (row < l.rows) {
    const float weight = target.weights == nullptr ? 1.0F : target.weights[at];
    for (int o = 0; o < l.outputs; ++o) {
      const std::size_t i = at * l.outputs + o;
      const float2 found = loss_of(target, l.prediction[i] - target.values[i]);
      loss += found.x;
      l.gradient[i] = target.scale * weight * found.y;
    }
    loss *= weight;
  }
  const double sum = block_sum<kLossThreads>(loss, memory);
  if (threadIdx.x == 0) target.partial[z * target.partial_stride + target.partial_first + blockIdx.x] = sum;
}

__global__ void finish_kernel(StepNumbers* numbers, const double* partial, int partials, int partial_stride, int rows,
                              int members, float* losses, std::size_t losses_stride, std::uint64_t first_step) {
  for (int z = threadIdx.x; z < members; z += blockDim.x) {
    double sum = 0;
    for (int i = 0; i < partials; ++i) sum += partial[z * partial_stride + i];
    losses[z * losses_stride + (numbers[z].step++ - first_step)] = static_cast<float>(sum / rows);
  }
}

__global__ void moments_kernel(const float* predictions, int rows, int outputs, int members, std::size_t capacity, float* mean,
                               float* variance, float* side_by_side) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * outputs) return;
  const int row = i / outputs, o = i % outputs;
  double sum = 0, squares = 0;
  for (int z = 0; z < members; ++z) sum += predictions[(z * capacity + row) * outputs + o];
  const double average = sum / members;
  for (int z = 0; z < members; ++z) {
    const float value = predictions[(z * capacity + row) * outputs + o];
    squares += (value - average) * (value - average);
    if (side_by_side != nullptr) side_by_side[(static_cast<std::size_t>(row) * members + z) * outputs + o] = value;
  }
  mean[i] = static_cast<float>(average);
  variance[i] = members > 1 ? static_cast<float>(squares / (members - 1)) : 0.0F;
}

__global__ void member_gradients_kernel(const float* gradient, int rows, int columns, int members, std::size_t capacity,
                                        int output, int outputs, float share, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * columns) return;
  const int row = i / columns, col = i % columns;
  float sum = 0;
  for (int z = 0; z < members; ++z) sum += share * gradient[(z * capacity + row) * columns + col];
  out[(static_cast<std::size_t>(row) * outputs + output) * columns + col] = sum;
}

__global__ void seed_kernel(float* gradient, int count, int outputs, std::size_t member_stride, int output) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) gradient[blockIdx.y * member_stride + i] = i % outputs == output ? 1.0F : 0.0F;
}

__global__ void scaled_gradient_kernel(const float* scaled, int count, int columns, std::size_t member_stride,
                                       Batched<const float> inverse, float* gradient) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const std::size_t z = blockIdx.y;
  if (i >= count) return;
  gradient[z * member_stride + i] += scaled[z * member_stride + i] * inverse.data[z * inverse.member_stride + i % columns];
}

__global__ void scale_matrix_kernel(int cols, const float* scale, float constant, ConstMatrices from, float* to) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const std::size_t row = blockIdx.y;
  if (col < cols) to[row * cols + col] = constant * *scale * from.data[row * from.stride + col];
}

constexpr int kDotThreads = 1024;

__global__ void __launch_bounds__(kDotThreads) dot_kernel(Dot d) {
  __shared__ double memory[kDotThreads / 32];
  const std::size_t z = blockIdx.x;
  const float* a = d.a.data + z * d.a.member_stride;
  const float* b = d.b.data + z * d.b.member_stride;
  const float* weight = d.weight.data == nullptr ? nullptr : d.weight.data + z * d.weight.member_stride;
  double sum = 0;
  const std::size_t count = static_cast<std::size_t>(d.rows) * d.cols;
  for (std::size_t i = threadIdx.x; i < count; i += kDotThreads) {
    const std::size_t row = i / d.cols, col = i % d.cols;
    const double term = static_cast<double>(a[row * d.a.stride + col]) * b[row * d.b.stride + col];
    sum += weight == nullptr ? term : term * weight[col];
  }
  sum = block_sum<kDotThreads>(sum, memory);
  if (threadIdx.x == 0) d.sums[z * d.sums_stride + d.index] += d.sign * sum;
}

void launched() { check_cuda(cudaGetLastError(), "starting a step's work"); }

}  // namespace

void gather(const Gather& g, cudaStream_t stream) {
  gather_kernel<<<dim3(blocks(g.rows, 128), unsigned_of(g.run.members)), 128, 0, stream>>>(g);
  launched();
}

void repeat_points(const float* points, int rows, int columns, int members, float* out, std::size_t capacity,
                   cudaStream_t stream) {
  const std::size_t count = static_cast<std::size_t>(rows) * columns;
  repeat_kernel<<<dim3(blocks(count, 256), unsigned_of(members)), 256, 0, stream>>>(points, count, out, capacity * columns);
  launched();
}

void scale_columns(const float* in, float* out, int rows, int columns, int members, std::size_t capacity,
                   Batched<const float> factors, cudaStream_t stream) {
  const std::size_t count = static_cast<std::size_t>(rows) * columns;
  scale_columns_kernel<<<dim3(blocks(count, 256), unsigned_of(members)), 256, 0, stream>>>(in, out, count, columns,
                                                                                           capacity * columns, factors);
  launched();
}

int loss_partials(int rows) { return static_cast<int>(blocks(rows, kLossThreads)); }

void loss_and_gradient(const LossBlock& l, cudaStream_t stream) {
  loss_kernel<<<dim3(blocks(l.rows, kLossThreads), unsigned_of(l.members)), kLossThreads, 0, stream>>>(l);
  launched();
}

void finish_step(StepNumbers* numbers, const double* partial, int partials, int partial_stride, int rows, int members,
                 float* losses, std::size_t losses_stride, std::uint64_t first_step, cudaStream_t stream) {
  finish_kernel<<<1, 128, 0, stream>>>(numbers, partial, partials, partial_stride, rows, members, losses, losses_stride,
                                       first_step);
  launched();
}

void add_dot(const Dot& d, cudaStream_t stream) {
  dot_kernel<<<unsigned_of(d.members), kDotThreads, 0, stream>>>(d);
  launched();
}

void member_moments(const float* predictions, int rows, int outputs, int members, std::size_t capacity, float* mean,
                    float* variance, float* side_by_side, cudaStream_t stream) {
  moments_kernel<<<blocks(static_cast<std::size_t>(rows) * outputs, 256), 256, 0, stream>>>(
      predictions, rows, outputs, members, capacity, mean, variance, side_by_side);
  launched();
}

void add_member_gradients(const float* gradient, int rows, int columns, int members, std::size_t capacity, int output,
                          int outputs, float share, float* out, cudaStream_t stream) {
  member_gradients_kernel<<<blocks(static_cast<std::size_t>(rows) * columns, 256), 256, 0, stream>>>(
      gradient, rows, columns, members, capacity, output, outputs, share, out);
  launched();
}

void fill_output_seed(float* gradient, int rows, int outputs, int members, std::size_t capacity, int output,
                      cudaStream_t stream) {
  seed_kernel<<<dim3(blocks(static_cast<std::size_t>(rows) * outputs, 256), unsigned_of(members)), 256, 0, stream>>>(
      gradient, rows * outputs, outputs, capacity * outputs, output);
  launched();
}

void add_scaled_gradient(const float* scaled_gradient, int rows, int columns, int members, std::size_t capacity,
                         Batched<const float> inverse_lengthscale, float* gradient, cudaStream_t stream) {
  scaled_gradient_kernel<<<dim3(blocks(static_cast<std::size_t>(rows) * columns, 256), unsigned_of(members)), 256, 0, stream>>>(
      scaled_gradient, rows * columns, columns, capacity * columns, inverse_lengthscale, gradient);
  launched();
}

void scale_matrix(int rows, int cols, const float* scale, float constant, const ConstMatrices& from, float* to,
                  cudaStream_t stream) {
  scale_matrix_kernel<<<dim3(blocks(cols, 128), unsigned_of(rows)), 128, 0, stream>>>(cols, scale, constant, from, to);
  launched();
}

}  // namespace drift::cuda
