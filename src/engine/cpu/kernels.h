#pragma once

#include <cstddef>
#include <span>

namespace drift::cpu {

// The element-wise work between matrix products. The float versions are vectorised for the instruction set found at run time
// (Highway); the double versions are plain loops, the reference for tests and for finite differences.

// A block of planar features, [rows, features]:
//   phase = hidden share + coordinates . frequencies + phases,   in turns
//   feature = amplitude cos(2 pi phase),   slope = d feature / d phase = -2 pi amplitude sin(2 pi phase)
// Phases in turns make the range reduction exact (phase - round(phase)) however large the heavy tails of a Matérn spectrum make
// them: max error 2.2e-7 * amplitude for the feature, 2.2e-7 * 2 pi amplitude for the slope, for every finite phase.
template <class Real>
struct CosineBlock {
  std::size_t rows;
  std::size_t features;
  const Real* hidden_phase;  // [rows, features] with `stride`, or nullptr: no hidden share
  const Real* coordinates;   // [rows, coordinate_count] with `coordinate_stride`, divided by their lengthscales
  std::size_t coordinate_stride;
  std::size_t coordinate_count;        // may be 0
  const Real* coordinate_frequencies;  // [coordinate_count, features], packed
  const Real* phases;                  // [features]
  Real amplitude;
  Real* feature;  // out, [rows, features] with `stride`
  Real* slope;    // out likewise, or nullptr; may be the same memory as hidden_phase
  std::size_t stride;
};
void cosine_features(const CosineBlock<float>& block);
void cosine_features(const CosineBlock<double>& block);

// Structured frequencies (features/structured.h), blocks of n features with n a power of two. For every row and block
//   phase = lengths * (H D_3 H D_2 H D_1 u),   and back   du = sum over blocks of D_1 H D_2 H D_3 H (lengths * dphase),
// by fast Walsh-Hadamard transforms, u being filled up with zeros to n entries.
template <class Real>
struct HadamardBlock {
  std::size_t rows;
  std::size_t hidden;    // entries of u, at most n
  std::size_t features;  // the last block may be cut short
  std::size_t n;         // at most 4096
  const Real* signs;     // [3 blocks, n]
  const Real* lengths;   // [blocks n]
  std::size_t stride;    // of the phases
};
inline constexpr std::size_t kMaxHadamard = 4096;
void hadamard_phase(const HadamardBlock<float>& block, const float* u, float* phase);  // [rows, hidden] -> [rows, features]
void hadamard_phase(const HadamardBlock<double>& block, const double* u, double* phase);
void hadamard_gradient(const HadamardBlock<float>& block, const float* phase_gradient, float* u_gradient);
void hadamard_gradient(const HadamardBlock<double>& block, const double* phase_gradient, double* u_gradient);

// A block of spherical features: feature (+)= scale_m P_{n_m}(s . b_m). In float the max error is 6e-7 (n + 1) for the scale
// sqrt(2n + 1), everywhere on the sphere: an angle's rounding, which the degree magnifies. A feature's bits depend on its own
// point, pole, degree and scale alone.
template <class Real>
struct LegendreBlock {
  std::size_t rows;
  std::size_t features;
  const Real* points;  // [rows, 3] with `point_stride`, unit vectors
  std::size_t point_stride;
  const Real* poles;    // [3, features], unit columns
  const Real* degrees;  // [features], whole numbers, ascending (fastest so; right in any order)
  const Real* scales;   // [features]
  std::size_t stride;   // of the feature matrices below
};
// feature [rows, features]: overwritten, or added to when `accumulate`.
void legendre_features(const LegendreBlock<float>& block, float* feature, bool accumulate);
void legendre_features(const LegendreBlock<double>& block, double* feature, bool accumulate);
// gradient [rows, 3] += sum_m feature_gradient[row, m] d feature_m / d s, taken along the sphere: tangent at s.
void legendre_gradient(const LegendreBlock<float>& block, const float* feature_gradient, float* gradient,
                       std::size_t gradient_stride);
void legendre_gradient(const LegendreBlock<double>& block, const double* feature_gradient, double* gradient,
                       std::size_t gradient_stride);

// What dense layers do to their hidden input, in place, [rows, cols] with `stride`: feature = activation(feature + bias), and for
// a sine slope = d feature / d z = omega cos(omega z), the relu's being plain from its feature. In float a sine's max error is
// 2.2e-7 and 2 eps |omega z|, for the rounding of its angle. What is not a number stays so: a loss must show it.
template <class Real>
struct ActivationBlock {
  std::size_t rows;
  std::size_t cols;
  std::size_t stride;
  const Real* bias;  // [cols], or nullptr
  Real* feature;     // in: z without its bias
};
void relu(const ActivationBlock<float>& block);
void relu(const ActivationBlock<double>& block);
void sine(const ActivationBlock<float>& block, float omega, float* slope);  // [rows, cols] with `stride`, or nullptr
void sine(const ActivationBlock<double>& block, double omega, double* slope);

// target[r, c] = 0 where feature[r, c] is not positive, both [rows, cols] with `stride`: the way back through a relu.
void relu_gradient(std::size_t rows, std::size_t cols, std::size_t stride, const float* feature, float* target);
void relu_gradient(std::size_t rows, std::size_t cols, std::size_t stride, const double* feature, double* target);

// sums[c] (+)= from[0, c] + from[1, c] + ..., in that order. [rows, cols] with `stride`
void column_sums(std::size_t rows, std::size_t cols, std::size_t stride, const float* from, bool accumulate, float* sums);
void column_sums(std::size_t rows, std::size_t cols, std::size_t stride, const double* from, bool accumulate, double* sums);

// target[r, c] *= factor[r, c], both [rows, cols] with `stride`.
void multiply(std::size_t rows, std::size_t cols, std::size_t stride, const float* factor, float* target);
void multiply(std::size_t rows, std::size_t cols, std::size_t stride, const double* factor, double* target);

// One Adam step on a run of parameters. gradient = sum of the slices + decay * weight.
//   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;  weight -= rate (m / c1) / (sqrt(v / c2) + epsilon)
// with c1 = 1 - beta1^t, c2 = 1 - beta2^t. Kingma & Ba 2015.
struct AdamStep {
  float rate;
  float beta1;
  float beta2;
  float epsilon;
  float correction1;  // c1
  float correction2;  // c2
  float decay;        // 2 beta of the recipe
};
void adam_step(const AdamStep& step, std::span<const float* const> gradient_slices, std::span<float> weights,
               std::span<float> moment1, std::span<float> moment2);

// sum[i] = slices[0][i] + slices[1][i] + ... in that order, + decay * weights[i]. With decay 0 no weights are needed. The sum may
// take a slice's place.
void sum_slices(std::span<const float* const> slices, float decay, std::span<const float> weights, std::span<float> sum);

}  // namespace drift::cpu
