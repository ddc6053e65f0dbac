#pragma once

namespace drift::cuda {

// Cosine and sine of angles in turns; the polynomials of engine/cpu/turns-inl.h.
struct Turn {
  float r, y, y2;
  __device__ __forceinline__ explicit Turn(float fraction) : r(fraction), y(0.25F - fabsf(fraction)), y2(y * y) {}
  __device__ __forceinline__ float cosine() const {
    float sum = 39.13411F;
    sum = fmaf(sum, y2, -76.49605F);
    sum = fmaf(sum, y2, 81.59865F);
    sum = fmaf(sum, y2, -41.341618F);
    sum = fmaf(sum, y2, 6.283185F);
    return y * sum;
  }
  __device__ __forceinline__ float sine() const {
    float sum = -24.539007F;
    sum = fmaf(sum, y2, 60.079044F);
    sum = fmaf(sum, y2, -85.45034F);
    sum = fmaf(sum, y2, 64.939285F);
    sum = fmaf(sum, y2, -19.739208F);
    sum = fmaf(sum, y2, 1.0F);
    return copysignf(sum, r);
  }
};
__device__ __forceinline__ float fraction_of_turn(float p) { return p - rintf(p); }

}  // namespace drift::cuda
