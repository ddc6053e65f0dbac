#pragma once

#include <cassert>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>

#include "drift/error.h"
#include "drift/matrix_view.h"
#include "drift/recipe.h"
#include "math/huber.h"

namespace drift {

// The loss of an observation is the sum over its outputs, r = prediction - target being the residual:
//   squared: r^2
//   Huber:   that of math/huber.h
// As a likelihood it is exp(-loss(r) / (2 t^2)) / Z(t). All that a loss is stands here, in one structure each; the GPU has value
// and slope of its own (engine/cuda/loss.cuh).
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
  Real log_normaliser(Real t) const { return std::log(t) + std::log(2 * std::numbers::pi_v<Real>) / 2; }
};

template <class Real>
struct Huber {
  Real delta;
  Real value(Real residual) const { return huber_value(residual, delta); }
  Real slope(Real residual) const { return huber_slope(residual, delta); }
  // Z = 2 t sqrt(pi) erf(delta / (2 t)) + (4 t^2 / delta) exp(-delta^2 / (4 t^2)): its core, and its two tails.
  Real log_normaliser(Real t) const {
    const Real core = 2 * t * std::sqrt(std::numbers::pi_v<Real>) * std::erf(delta / (2 * t));
    const Real tails = 4 * t * t / delta * std::exp(-delta * delta / (4 * t * t));
    return std::log(core + tails);
  }
};

// use() of the loss's own structure.
template <class Real, class Use>
auto pointwise(const Loss& loss, const Use& use) {
  switch (loss.kind) {
    case LossKind::squared:
      return use(Squared<Real>{});
    case LossKind::huber:
      return use(Huber<Real>{static_cast<Real>(loss.delta)});
  }
  throw UsageError("there is no such loss");
}

template <class Real, class Pointwise>
double add_rows(const Pointwise& one, MatrixView<const Real> prediction, MatrixView<const Real> target,
                std::span<const Real> weights, Real scale, MatrixView<Real> gradient) {
  double sum = 0.0;
  for (std::size_t row = 0; row < prediction.rows; ++row) {
    const Real weight = weights.empty() ? Real{1} : weights[row];
    double row_loss = 0.0;
    for (std::size_t output = 0; output < prediction.cols; ++output) {
      const Real residual = prediction(row, output) - target(row, output);
      row_loss += static_cast<double>(one.value(residual));
      gradient(row, output) = scale * weight * one.slope(residual);
    }
    sum += static_cast<double>(weight) * row_loss;
  }
  return sum;
}

}  // namespace loss_detail

inline double loss_value(const Loss& loss, double residual) {
  return loss_detail::pointwise<double>(loss, [&](const auto& one) { return one.value(residual); });
}
// log Z(t), t > 0.
inline double log_normaliser(const Loss& loss, double t) {
  return loss_detail::pointwise<double>(loss, [&](const auto& one) { return one.log_normaliser(t); });
}

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
  return loss_detail::pointwise<Real>(
      loss, [&](const auto& one) { return loss_detail::add_rows<Real>(one, prediction, target, weights, scale, gradient); });
}

}  // namespace drift
