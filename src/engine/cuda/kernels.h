#pragma once

#include <cstdint>

#include "drift/recipe.h"
#include "engine/cuda/device.h"

namespace drift::cuda {

// The work between matrix products, for all members in one launch. Sums over rows or features have a fixed order.

// Inputs of a member's step besides weights and observations; made on the device at the step's beginning. Kernels are
// given one for each member: members of several runs, with their own rates and decay, go together.
struct StepNumbers {
  std::uint64_t step;  // steps taken, the same for all
  float decay;         // 2 beta, of the weights; the same in every step
  float adam_rate;     // with the schedule, as all rates here
  float hyper_rate;
  float muon_rate;
  float correction1;  // 1 - beta1^t of Adam
  float correction2;
};
inline constexpr int kShuffleKeys = 24;

// Quantities in which members that are trained together may differ.
struct MemberNumbers {
  std::uint64_t seed;
  std::uint32_t index;  // of the member in its run
  double rate, hyper_rate, muon_rate;
  float value_noise;  // sd
};
// Quantities that they share; passed to kernels by value.
struct RunNumbers {
  Schedule schedule;
  std::uint64_t warmup_steps;
  std::uint64_t total_steps;
  double beta1, beta2;
  std::uint64_t observations;
  std::uint64_t batch;
  const MemberNumbers* member;  // [members]
  int members;
};
// Observations of a batch, in the order of train/batches.h; the first gather of a step also makes the step's numbers.
struct Gather {
  RunNumbers run;
  StepNumbers* numbers;  // [members]
  std::uint64_t first;   // row of the batch
  int rows;
  const float* coordinates;  // [observations, coordinate_count] on the device, or in mapped memory of the host; as all here
  std::size_t coordinate_stride;
  int coordinate_count;
  const float* values;  // [observations, outputs]
  std::size_t value_stride;
  int outputs;
  const float* weights;       // [observations], or nullptr
  const std::uint8_t* folds;  // [observations], or nullptr: see TrainingSet
  int fold_count;
  float* out_coordinates;  // [members, rows, coordinate_count] packed; likewise below
  float* out_scaled;       // the same times inverse_lengthscale
  float* out_values;
  float* out_weights;
  Batched<const float> inverse_lengthscale;
  std::size_t capacity;  // rows that the packed arrays hold for each member
};
void gather(const Gather& g, cudaStream_t stream);

// The same points for every member: out [members, capacity, columns].
void repeat_points(const float* points, int rows, int columns, int members, float* out, std::size_t capacity,
                   cudaStream_t stream);
// out = in * factors[member, column]
void scale_columns(const float* in, float* out, int rows, int columns, int members, std::size_t capacity,
                   Batched<const float> factors, cudaStream_t stream);

// feature = amplitude cos(2 pi phase), slope = d feature / d phase; phase = hidden share + coordinates . frequencies + phases.
struct Cosine {
  int members, rows, features;
  ConstMatrices hidden_phase;  // none: data is nullptr
  ConstMatrices coordinates;   // [rows, coordinate_count], divided by their lengthscales
  int coordinate_count;
  ConstMatrices frequencies;  // [coordinate_count, features]
  ConstMatrices phases;       // [1, features]
  ConstMatrices amplitude;    // a number a member
  Matrices feature;
  Matrices slope;  // none: data is nullptr; may be hidden_phase's memory
};
void cosine_features(const Cosine& c, cudaStream_t stream);

// feature (+)= scale_m P_{n_m}(s . b_m); engine/cpu/legendre_kernels.cpp has the mathematics.
struct Legendre {
  int members, rows, features;
  ConstMatrices points;   // [rows, 3]
  ConstMatrices poles;    // [3, features]
  ConstMatrices degrees;  // [1, features]
  ConstMatrices scales;   // [1, features]
};
void legendre_features(const Legendre& l, const Matrices& feature, bool accumulate, cudaStream_t stream);
// gradient [rows, 3] += sum_m feature_gradient d feature_m / d s along the sphere.
void legendre_gradient(const Legendre& l, const ConstMatrices& feature_gradient, const Matrices& gradient, cudaStream_t stream);

// target *= factor, [rows, cols].
void multiply(int members, int rows, int cols, const ConstMatrices& factor, const Matrices& target, cudaStream_t stream);

// An activation of z, which becomes the feature in place: max(z, 0), or sin(omega z) with its slope.
struct Activation {
  int members, rows, features;
  bool sine;
  float omega;
  Matrices feature;
  Matrices slope;  // none: data is nullptr
};
void activate(const Activation& a, cudaStream_t stream);
// target = 0 where feature is not above 0
void relu_gradient(int members, int rows, int cols, const ConstMatrices& feature, const Matrices& target, cudaStream_t stream);
void fill_column(int members, int rows, const Matrices& column, float value, cudaStream_t stream);
// Makes gradients [members, capacity, columns] tangent to the sphere at the points, columns 0 to 2.
void make_tangent(const float* points, int rows, int columns, int members, std::size_t capacity, float* gradient,
                  cudaStream_t stream);

// Structured frequencies (features/structured.h) as a matrix [hidden, features]: products with it are what tensor cores do best.
struct Structured {
  int members, hidden, features, n;
  ConstMatrices signs;    // [3 blocks, n]
  ConstMatrices lengths;  // [1, blocks n]
  Matrices frequencies;
};
void expand_structured(const Structured& s, cudaStream_t stream);

// gradient [rows, count] += phase_gradient [rows, features] . frequencies^T.
void coordinate_gradient(int members, int rows, int features, int count, const ConstMatrices& phase_gradient,
                         const ConstMatrices& frequencies, const Matrices& gradient, cudaStream_t stream);

// Source of a step's random numbers (engine/cpu/step_noise.h).
struct NoisePlace {
  const StepNumbers* numbers;    // [members]
  const MemberNumbers* members;  // [members]
  std::uint32_t matrix;
  std::uint32_t first_row;
};
// target *= mask of dropout.
void drop(const NoisePlace& place, double rate, int members, int rows, int cols, const Matrices& target, cudaStream_t stream);
// out += scale sd eps, sd^2 = variance; spread = scale eps / (2 sd). variance and spread packed [members, rows, cols].
void add_weight_noise(const NoisePlace& place, int members, int rows, int cols, const float* variance, float* spread,
                      const ConstMatrices& scale, const Matrices& out, cudaStream_t stream);
// result (packed) = spread * gradient
void spread_gradient(int members, int rows, int cols, const float* spread, const ConstMatrices& gradient, float* result,
                     cudaStream_t stream);
// target += 2 input share
void add_square_gradient(int members, int rows, int cols, const ConstMatrices& input, const ConstMatrices& share,
                         const Matrices& target, cudaStream_t stream);
void copy_matrices(int members, int rows, int cols, const ConstMatrices& from, const Matrices& to, cudaStream_t stream);

// Targets of predictions, the loss that compares them, and its destination.
struct LossTarget {
  const float* values = nullptr;   // [members, capacity, outputs]
  const float* weights = nullptr;  // [members, capacity], or all are one
  LossKind kind = LossKind::squared;
  float delta = 0;            // of the Huber loss
  float scale = 0;            // of the gradient: one over the batch's rows
  double* partial = nullptr;  // [members, partial_stride], from partial_first on: sums of losses
  int partial_first = 0;
  int partial_stride = 0;
};
struct LossBlock {
  int members, rows, outputs;
  const float* prediction;  // [members, capacity, outputs], as is the gradient
  float* gradient;
  std::size_t capacity;
  LossTarget target;
};
int loss_partials(int rows);  // entries of `partial` that a block of rows fills
void loss_and_gradient(const LossBlock& l, cudaStream_t stream);
// losses[member * losses_stride + step - first_step] = sum of the partials / rows; then one more step has been taken.
void finish_step(StepNumbers* numbers, const double* partial, int partials, int partial_stride, int rows, int members,
                 float* losses, std::size_t losses_stride, std::uint64_t first_step, cudaStream_t stream);

// sums[member * sums_stride + index] += sign * sum of a * b * weight[col] over [rows, cols]; weight may be nullptr.
struct Dot {
  int members, rows, cols;
  ConstMatrices a, b;
  ConstMatrices weight;
  double sign;
  double* sums;
  int sums_stride;
  int index;
};
void add_dot(const Dot& d, cudaStream_t stream);

// Update of a parameter here; orthogonalised momentum and hyperparameters have their own.
enum class Rule : std::uint8_t { none, adam };
struct AdamUpdate {
  const StepNumbers* numbers;  // [members]
  const Rule* rules;           // [size]
  int members;
  std::size_t size;  // a member's
  float beta1, beta2, epsilon;
  float* weights;  // [members, size]; log sds where `variances` is given
  std::size_t weights_stride;
  const float* gradient;  // [members, gradient_stride]
  std::size_t gradient_stride;
  float* moment1;
  float* moment2;
  std::size_t moment_stride;
  float* variances;  // of variational weights, [members, weights_stride]: the gradient is then of them; nullptr otherwise
};
void adam(const AdamUpdate& u, cudaStream_t stream);
// The hyperparameters' logarithms from the sums of their gradients.
struct HyperUpdate {
  const StepNumbers* numbers;   // [members]
  const std::uint8_t* trained;  // [count]
  int members, count;
  float beta1, beta2, epsilon;
  double* sums;  // [members, count], cleared
  float* weights;
  std::size_t weights_stride;
  float* moment1;
  float* moment2;
  std::size_t moment_stride;
};
void adam_hyper(const HyperUpdate& u, cudaStream_t stream);
void exponential_of_twice(const float* in, float* out, std::size_t count, cudaStream_t stream);

// Mean and variance over members of packed predictions [members, capacity, outputs], in double.
void member_moments(const float* predictions, int rows, int outputs, int members, std::size_t capacity, float* mean,
                    float* variance, float* side_by_side, cudaStream_t stream);
// out [rows, outputs * columns] (+)= share * gradient of member z at output o, in the order of the members.
void add_member_gradients(const float* gradient, int rows, int columns, int members, std::size_t capacity, int output,
                          int outputs, float share, float* out, cudaStream_t stream);
void fill_output_seed(float* gradient, int rows, int outputs, int members, std::size_t capacity, int output, cudaStream_t stream);
// gradient += scaled gradient * inverse lengthscale; [members, capacity, columns] all.
void add_scaled_gradient(const float* scaled_gradient, int rows, int columns, int members, std::size_t capacity,
                         Batched<const float> inverse_lengthscale, float* gradient, cudaStream_t stream);
void scale_matrix(int rows, int cols, const float* scale, float constant, const ConstMatrices& from, float* to,
                  cudaStream_t stream);

}  // namespace drift::cuda
