#pragma once

// Legendre polynomials on the sphere; engine/cpu/legendre_kernels.cpp has the mathematics.

#include "engine/cuda/turns.cuh"

namespace drift::cuda {

struct Chord {
  float x, y, z;  // from the nearer of b and -b to s
  float squared;
  bool negative;  // s . b < 0
};

__device__ __forceinline__ Chord chord(const float* s, float bx, float by, float bz) {
  const float dot = fmaf(s[0], bx, fmaf(s[1], by, s[2] * bz));
  Chord c;
  c.negative = signbit(dot);
  const float sign = c.negative ? -1.0F : 1.0F;
  c.x = s[0] - sign * bx, c.y = s[1] - sign * by, c.z = s[2] - sign * bz;
  c.squared = fmaf(c.x, c.x, fmaf(c.y, c.y, c.z * c.z));
  return c;
}

// sin(theta)^2
__device__ __forceinline__ float squared_sine(float squared_chord) { return squared_chord * fmaf(squared_chord, -0.25F, 1.0F); }

// theta, in turns, over the chord.
__device__ __forceinline__ float turns_over_chord(float squared_chord) {
  constexpr float kTurns[] = {0.15915494F,    6.63143e-3F,   7.4636843e-4F,  1.094218e-4F, 2.2713948e-5F,
                              -1.5751805e-6F, 4.4622577e-6F, -1.4101138e-6F, 3.1225085e-7F};
  float polynomial = kTurns[8];
#pragma unroll
  for (int i = 7; i >= 0; --i) polynomial = fmaf(polynomial, squared_chord, kTurns[i]);
  return polynomial;
}

__device__ __forceinline__ bool is_odd(float degree) { return (static_cast<int>(degree) & 1) != 0; }

// P_n and Christoffel's sum.
__device__ __forceinline__ void recurrence(float degree, float squared_chord, float& value, float& sum) {
  const float delta = 0.5F * squared_chord;
  value = 1;
  sum = 0;
  const int n = static_cast<int>(degree);
  for (int k = 0; k < n; ++k) {
    sum = fmaf(static_cast<float>(2 * k + 1), value, sum);
    value = fmaf(-delta * __frcp_rn(static_cast<float>(k + 1)), sum, value);
  }
}

// What Stieltjes' expansion of scale P_n takes from the degree. It holds where sin(theta) is least_argument / (n + 1/2) or more,
// and with kTerms terms to within about 1/20 of least_argument^-kTerms of the amplitude.
template <int kTerms>
struct Expansion {
  float middle, amplitude, least_squared_sine;
  float ratio[kTerms - 1];

  __device__ Expansion(float degree, float scale, float least_argument, float least_degree) : middle(degree + 0.5F) {
    const float least_sine = least_argument / middle;
    least_squared_sine = degree >= least_degree ? least_sine * least_sine : 2.0F;
#pragma unroll
    for (int m = 0; m + 1 < kTerms; ++m) {
      ratio[m] = static_cast<float>((m + 0.5) * (m + 0.5) / (2 * (m + 1))) / (degree + (m + 1.5F));
    }
    const float inverse = 1.0F / (degree + 0.75F), inverse2 = inverse * inverse;
    const float series = fmaf(fmaf(21.0F / 8192, inverse2, -1.0F / 64), inverse2, 1.0F);
    amplitude = 0.7978845608028654F * scale * sqrtf(inverse) * series;
  }
};

// sum_m h_m w^m, `ratio` of the expansion above.
template <int kRatios>
__device__ __forceinline__ float2 expansion_sum(const float (&ratio)[kRatios], float cotangent) {
  float re = 1.0F + ratio[kRatios - 1], im = -ratio[kRatios - 1] * cotangent;
#pragma unroll
  for (int m = kRatios - 2; m >= 0; --m) {
    const float turned_re = fmaf(cotangent, im, re), turned_im = fmaf(-cotangent, re, im);
    re = fmaf(ratio[m], turned_re, 1.0F);
    im = ratio[m] * turned_im;
  }
  return {re, im};
}

// scale P_n without the sign, in float32's accuracy.
template <int kTerms>
__device__ __forceinline__ float expanded(const Expansion<kTerms>& e, float squared_chord, float squared_sine) {
  const float inverse_sine = rsqrtf(squared_sine);
  const float2 sum = expansion_sum(e.ratio, fmaf(squared_chord, -0.5F, 1.0F) * inverse_sine);
  const float turns = turns_over_chord(squared_chord) * __fsqrt_rn(squared_chord);
  const float whole = rintf(fmaf(e.middle, turns, -0.125F));
  const Turn alpha(fmaf(e.middle, turns, -whole) - 0.125F);
  return e.amplitude * __fsqrt_rn(inverse_sine) * fmaf(-alpha.sine(), sum.y, alpha.cosine() * sum.x);
}

}  // namespace drift::cuda
