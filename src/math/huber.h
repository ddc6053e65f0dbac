#pragma once

namespace drift {

// Huber's loss of a residual r: r^2 / 2 where |r| <= delta, delta (|r| - delta / 2) beyond; value and slope join at delta (Huber
// 1964). A residual that is not a number has a value and a slope that are none. constexpr, so that CUDA's compiler takes both
// (with --expt-relaxed-constexpr) for the device as well.
template <class Real>
constexpr Real huber_value(Real residual, Real delta) {
  const Real size = residual < 0 ? -residual : residual;
  return size <= delta ? residual * residual / 2 : delta * (size - delta / 2);
}

template <class Real>
constexpr Real huber_slope(Real residual, Real delta) {
  return residual > delta ? delta : residual < -delta ? -delta : residual;
}

}  // namespace drift
