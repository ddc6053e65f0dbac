#pragma once

#include <cassert>
#include <cstddef>
#include <span>

#include "drift/matrix_view.h"
#include "drift/recipe.h"
#include "math/huber.h"

namespace drift {

// The loss of an observation is the sum over its outputs, r = prediction - target being the residual:
//   squared: r^2
//   Huber:   that of math/huber.h
struct Loss {
  LossKind kind = LossKind::squared;
  double delta = 0.1;  // > 0, Huber's
};

inline Loss loss_of(const Recipe& recipe) { return {recipe.loss, recipe.huber_delta}; }

namespace loss_detail {

template <class Real>
struct Squared {
  Real value(Real residual) const { return residual * residual; }
  Real slope(Real residual) const { return 2 * residual; }
};

template <class Real>
struct Huber {
  Real delta;
  Real value(Real residual) const { return huber_value(residual, delta); }
  Real slope(Real residual) const { return huber_slope(residual, delta); }
};

template <class Real, class Pointwise>
double add_rows(const Pointwise& pointwise, MatrixView<const Real> prediction, MatrixView<const Real> target,
                std::span<const Real> weights, Real scale, MatrixView<Real> gradient) {
  double sum = 0.0;
  for (std::size_t row = 0; row < prediction.rows; ++row) {
    const Real weight = weights.empty() ? Real{1} : weights[row];
    double row_loss = 0.0;
    for (std::size_t output = 0; output < prediction.cols; ++output) {
      const Real residual = prediction(row, output) - target(row, output);
      row_loss += static_cast<double>(pointwise.value(residual));
      gradient(row, output) = scale * weight * pointwise.slope(residual);
    }
    sum += static_cast<double>(weight) * row_loss;
  }
  return sum;
}

}  // namespace loss_detail

// Returns the sum over the rows of weight times loss, and fills gradient = scale * weight * d loss / d prediction; with scale one
// over the batch's rows, the gradient of the batch's mean.
template <class Real>
double loss_and_gradient(const Loss& loss,
                         MatrixView<const Real> prediction,  // [rows, outputs]
                         MatrixView<const Real> target,      // [rows, outputs]
                         std::span<const Real> weights,      // [rows], or empty: all one
                         Real scale,
                         MatrixView<Real> gradient) {  // [rows, outputs]; may be the prediction's memory
  assert(target.rows == prediction.rows && target.cols == prediction.cols);
  assert(gradient.rows == prediction.rows && gradient.cols == prediction.cols);
  assert(weights.empty() || weights.size() == prediction.rows);
  if (loss.kind == LossKind::squared) {
    return loss_detail::add_rows<Real>(loss_detail::Squared<Real>{}, prediction, target, weights, scale, gradient);
  }
  const loss_detail::Huber<Real> huber{static_cast<Real>(loss.delta)};
  return loss_detail::add_rows<Real>(huber, prediction, target, weights, scale, gradient);
}

}  // namespace drift
