// Spherical features for the fused layers. Three terms of the expansion are enough for halves; near the poles, where it fails,
// the recurrence would take n steps for a few lanes of many warps, so Szegő's expansion in Bessel functions takes its place:
//   P_n(cos t) = sqrt(t / sin t) (J_0(x) + (t cot t - 1) / (8 t) J_1(x) / N + ...),  N = n + 1/2, x = N t
// (Bogaert, Michiels, Fostier 2012), its error 3e-5 of the amplitude at n = 16 and falling as n^-3.

#include "engine/cuda/fused_parts.cuh"
#include "engine/cuda/launch.cuh"
#include "engine/cuda/legendre.cuh"

namespace drift::cuda {
namespace {

constexpr float kLeastArgument = 12;        // of N sin t for the expansion, whose error is then 3e-5 of the amplitude
constexpr float kLeastExpandedDegree = 16;  // below it the recurrence

// J_0 and its slope at multiples of 1 / kPerUnit; between them a cubic, wrong by 4e-6 at most.
constexpr int kPerUnit = 4;
constexpr int kBesselEntries = 56;  // up to 13.75; N asin(12 / N) is 13.4 at N = 16.5 and less beyond
struct BesselTable {
  float value[kBesselEntries], slope[kBesselEntries];  // slope: over a step of the table
  constexpr BesselTable() : value(), slope() {
    for (int i = 0; i < kBesselEntries; ++i) {
      const double x = static_cast<double>(i) / kPerUnit;
      double term = 1, j0 = 0, j1 = 0;  // (-x^2/4)^k / k!^2
      for (int k = 0; k < 50; ++k) {
        j0 += term;
        j1 += term * x / 2 / (k + 1);
        term *= -x * x / 4 / ((k + 1) * (k + 1));
      }
      value[i] = static_cast<float>(j0);
      slope[i] = static_cast<float>(-j1 / kPerUnit);
    }
  }
};
__device__ constexpr BesselTable kBessel;

__device__ __forceinline__ float fast_inverse_root(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// scale P_n without the sign by Szegő's expansion.
__device__ __forceinline__ float near_pole(const SphericalFeature& f, float squared_chord, const float2* bessel) {
  const float over_chord = kTwoPiF * turns_over_chord(squared_chord);
  const float angle = over_chord * fast_root(squared_chord), x = f.middle * angle;
  const float at = fminf(kPerUnit * x, kBesselEntries - 2.0F);
  const int i = static_cast<int>(at);
  const float u = at - static_cast<float>(i);
  const float2 left = bessel[i], right = bessel[i + 1];
  const float difference = right.x - left.x;
  const float square = fmaf(3.0F, difference, fmaf(-2.0F, left.y, -right.y)), cube = fmaf(-2.0F, difference, left.y + right.y);
  const float j0 = fmaf(u, fmaf(u, fmaf(u, cube, square), left.y), left.x);
  const float minus_j1 = kPerUnit * fmaf(u, fmaf(3.0F * u, cube, 2.0F * square), left.y);
  // (t cot t - 1) / (8 t) = -t / 24 (1 + t^2 / 15 + ...)
  const float second = __fdividef(angle * fmaf(angle * angle, 1.0F / 360, 1.0F / 24), f.middle);
  const float root = fast_root(over_chord * fast_inverse_root(fmaf(squared_chord, -0.25F, 1.0F)));
  return f.scale * root * fmaf(second, minus_j1, j0);
}

// The same by the expansion; meaningless where it fails.
__device__ __forceinline__ float far_from_poles(const SphericalFeature& f, float squared_chord, float sine2) {
  const float inverse_sine = fast_inverse_root(sine2);
  const float2 sum = expansion_sum(f.ratio, fmaf(squared_chord, -0.5F, 1.0F) * inverse_sine);
  const float turns = turns_over_chord(squared_chord) * fast_root(squared_chord);
  const float whole = fmaf(f.middle, turns, 12582912.0F) - 12582912.0F;  // as fast_fraction
  const float alpha = fmaf(kTwoPiF, fmaf(f.middle, turns, -whole), -kTwoPiF / 8);
  return f.amplitude * fast_root(inverse_sine) * fmaf(-fast_sine(alpha), sum.y, fast_cosine(alpha) * sum.x);
}

// The same of low degrees by the recurrence (legendre.cuh), four side by side to hide its latency; others are left alone.
__device__ __forceinline__ void low_degrees(const SphericalFeature (&f)[4], const float (&squared_chord)[4], float (&value)[4]) {
  float p[4] = {1, 1, 1, 1}, sum[4] = {};
  for (int k = 0; k < static_cast<int>(kLeastExpandedDegree); ++k) {
    const float middle = static_cast<float>(k) + 0.5F, inverse = __fdividef(-0.5F, static_cast<float>(k + 1));
    bool any = false;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (f[i].middle > middle) {
        sum[i] = fmaf(2 * middle, p[i], sum[i]);
        p[i] = fmaf(squared_chord[i] * inverse, sum[i], p[i]);
        any |= f[i].middle < kLeastExpandedDegree;
      }
    }
    if (!any) break;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (f[i].middle < kLeastExpandedDegree) value[i] = f[i].scale * p[i];
  }
}

// A thread's four features in one row: first all by the expansion, side by side, then those that it fails.
__device__ __forceinline__ uint2 four_features(const SphericalFeature (&f)[4], const float (&s)[3], const float2* bessel) {
  float value[4], squared[4];
  std::uint32_t sign[4];
  bool far[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const Chord c = chord(s, f[i].x, f[i].y, f[i].z);
    const float sine2 = squared_sine(c.squared);
    squared[i] = c.squared;
    sign[i] = c.negative ? f[i].odd : 0;
    far[i] = sine2 >= f[i].least_squared_sine;
    value[i] = far_from_poles(f[i], c.squared, sine2);
  }
  if (!(far[0] && far[1] && far[2] && far[3])) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      if (!far[i] && f[i].middle >= kLeastExpandedDegree) value[i] = near_pole(f[i], squared[i], bessel);
    }
    const float lowest = fminf(fminf(f[0].middle, f[1].middle), fminf(f[2].middle, f[3].middle));
    if (lowest < kLeastExpandedDegree) low_degrees(f, squared, value);
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) value[i] = __uint_as_float(__float_as_uint(value[i]) ^ sign[i]);
  return {pack_halves(value[0], value[1]), pack_halves(value[2], value[3])};
}

// A block of threads has one tile; a warp 16 of its features, a thread four of them. The first tiles, of low degrees, take the
// longest and begin first.
constexpr int kSphereThreads = 128, kBlocksAtOnce = 1;
__global__ void __launch_bounds__(kSphereThreads, 6) sphere_kernel(const __grid_constant__ FusedSphere l) {
  __shared__ float2 bessel[kBesselEntries];
  if (threadIdx.x < kBesselEntries) bessel[threadIdx.x] = {kBessel.value[threadIdx.x], kBessel.slope[threadIdx.x]};
  __syncthreads();
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, tile = blockIdx.z;
  const std::size_t member = blockIdx.y;
  SphericalFeature f[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    f[i] = l.features[(member * l.tiles + tile) * kFusedTile + warp * 16 + i / 2 * 8 + lane % 4 * 2 + i % 2];
  }
  const int first = blockIdx.x * kBlocksAtOnce, last = min(first + kBlocksAtOnce, l.row_blocks);
  const float* points = l.points.data + member * l.points.member_stride;
  for (int block = first; block < last; ++block) {
    uint4* to = l.halves + ((member * l.row_blocks + block) * l.tiles + tile) * 512 + warp * 128 + lane;
    for (int part = 0; part < 4; ++part) {
      uint2 half[2];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const float* point =
            points + static_cast<std::size_t>(block * kFusedRows + part * 16 + i * 8 + lane / 4) * l.points.stride;
        const float s[3] = {point[0], point[1], point[2]};
        half[i] = four_features(f, s, bessel);
      }
      to[part * 32] = {half[0].x, half[1].x, half[0].y, half[1].y};
    }
  }
}

__global__ void spherical_kernel(int features, int tiles, ConstMatrices poles, ConstMatrices degrees, ConstMatrices scales,
                                 ConstMatrices divisor, SphericalFeature* to) {
  const int m = blockIdx.x * kFusedTile + threadIdx.x;
  const std::size_t z = blockIdx.y;
  SphericalFeature f = {
      .x = 1, .y = 0, .z = 0, .middle = 0.5F, .amplitude = 0, .least_squared_sine = 2, .ratio = {}, .scale = 0, .odd = 0};
  if (m < features) {
    const float* pole = poles.data + z * poles.member_stride + m;
    const float degree = degrees.data[z * degrees.member_stride + m];
    f.scale = scales.data[z * scales.member_stride + m];
    if (divisor.data != nullptr) f.scale /= divisor.data[z * divisor.member_stride];
    const Expansion<3> expansion(degree, f.scale, kLeastArgument, kLeastExpandedDegree);
    f.x = pole[0], f.y = pole[poles.stride], f.z = pole[2 * poles.stride];
    f.middle = expansion.middle;
    f.amplitude = expansion.amplitude;
    f.least_squared_sine = expansion.least_squared_sine;
    f.ratio[0] = expansion.ratio[0], f.ratio[1] = expansion.ratio[1];
    f.odd = is_odd(degree) ? 0x80000000U : 0U;
  }
  to[z * tiles * kFusedTile + m] = f;
}

}  // namespace

void make_spherical(int members, int features, int tiles, const ConstMatrices& poles, const ConstMatrices& degrees,
                    const ConstMatrices& scales, const ConstMatrices& divisor, SphericalFeature* to, cudaStream_t stream) {
  spherical_kernel<<<dim3(unsigned_of(tiles), unsigned_of(members)), kFusedTile, 0, stream>>>(features, tiles, poles, degrees,
                                                                                              scales, divisor, to);
  check_cuda(cudaGetLastError(), "starting spherical features' numbers");
}

void fused_sphere(const FusedSphere& s, cudaStream_t stream) {
  const dim3 grid(blocks(s.row_blocks, kBlocksAtOnce), unsigned_of(s.members), unsigned_of(s.tiles));
  sphere_kernel<<<grid, kSphereThreads, 0, stream>>>(s);
  check_cuda(cudaGetLastError(), "starting spherical features");
}

}  // namespace drift::cuda
