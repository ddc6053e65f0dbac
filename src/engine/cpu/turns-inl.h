// Cosine and sine of angles in turns.
//   r = p - round(p), exact, |r| <= 1/2;   y = 1/4 - |r|, |y| <= 1/4
//   cos(2 pi p) = sin(2 pi y) = y (a0 + a1 y^2 + ... + a4 y^8)                 error of the polynomial 7.6e-9
//   sin(2 pi p) = sign(r) cos(2 pi y) = sign(r) (b0 + b1 y^2 + ... + b5 y^10)  error of the polynomial 1.1e-9
// The coefficients minimise the greatest absolute error over |y| <= 1/4 (Remez exchange in long double), from the lowest power
// on: each is rounded to a float before the rest are fitted again, so that their rounding does not add to the error. An infinite
// phase gives r = inf - inf, so nothing that is not finite is hidden.
// Included once for every instruction set: no ordinary include guard.

#include "engine/cpu/lanes-inl.h"

#if defined(DRIFT_ENGINE_CPU_TURNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef DRIFT_ENGINE_CPU_TURNS_INL_H_
#undef DRIFT_ENGINE_CPU_TURNS_INL_H_
#else
#define DRIFT_ENGINE_CPU_TURNS_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace drift::cpu::HWY_NAMESPACE {

// p - round(p)
HWY_INLINE FloatVector fraction_of_turn(FloatVector p) { return hn::Sub(p, hn::Round(p)); }

template <int kTerms>
HWY_INLINE FloatVector polynomial(const float (&coefficients)[kTerms], FloatVector x) {
  FloatVector sum = hn::Set(FloatTag(), coefficients[kTerms - 1]);
  for (int i = kTerms - 2; i >= 0; --i) sum = hn::MulAdd(sum, x, hn::Set(FloatTag(), coefficients[i]));
  return sum;
}

// cos(2 pi r) and sin(2 pi r), |r| <= 1/2 (a rounding beyond does no harm).
class Turn {
 public:
  HWY_INLINE explicit Turn(FloatVector r)
      : r_(r), y_(hn::Sub(hn::Set(FloatTag(), 0.25f), hn::Abs(r))), y_squared_(hn::Mul(y_, y_)) {}

  HWY_INLINE FloatVector cosine() const {
    constexpr float kCoefficients[] = {6.283185f, -41.341618f, 81.59865f, -76.49605f, 39.13411f};
    return hn::Mul(y_, polynomial(kCoefficients, y_squared_));
  }

  HWY_INLINE FloatVector sine() const {
    constexpr float kCoefficients[] = {1.0f, -19.739208f, 64.939285f, -85.45034f, 60.079044f, -24.539007f};
    return hn::Xor(polynomial(kCoefficients, y_squared_), hn::And(r_, hn::SignBit(FloatTag())));
  }

 private:
  FloatVector r_;
  FloatVector y_;
  FloatVector y_squared_;
};

}  // namespace drift::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DRIFT_ENGINE_CPU_TURNS_INL_H_
