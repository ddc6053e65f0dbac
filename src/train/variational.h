#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "network/plan.h"

namespace drift {

// Variational weights: every entry of the trained matrices Theta has its own Gaussian, q = prod N(m_i, s_i^2), and the means and
// log s are trained to maximise the evidence lower bound (Kingma & Welling 2014)
//   ELBO = E_q[sum_n log p(y_n | Theta)] - KL(q | N(0, I)),   KL = sum_i (m_i^2 + s_i^2 - 1) / 2 - log s_i.
// The likelihood is exp(-loss / (2 sigma_y^2)) over its integral: for the squared loss N(f, sigma_y^2). Times -2 sigma_y^2 / N,
// and without what does not depend on q, that is
//   E_q[mean loss] + 2 beta KL,   beta = sigma_y^2 / N,
// whose part in the means, beta |m|^2, is the MAP objective's own: their gradients get the same decay 2 beta m, and those of log
// s
//   d / d log s = 2 s^2 dL / d s^2 + 2 beta (s^2 - 1).
// E_q of the loss is estimated by local reparameterisation (Kingma, Salimans & Welling 2015): given a matrix's inputs phi, its
// outputs are independent, N(phi . M, phi^2 . S^2), and are drawn in its place, anew for every row. That has far less variance
// than one draw of the weights for the whole batch, at the price of a second product.

// A trained matrix in Member::parameters.
struct MatrixPlace {
  std::size_t offset;
  std::size_t rows;  // with the bias
  std::size_t cols;
  std::size_t droppable;  // the first of the rows, whose inputs dropout may leave out: not coordinates, not a bias

  std::size_t size() const { return rows * cols; }
};
// The layers' bottlenecks, then the head where there is one.
std::vector<MatrixPlace> trained_matrices(const Plan& plan);

// KL(prod N(mean, exp(log_sd)^2) | N(0, I)), in nats.
double kl_from_prior(std::span<const float> means, std::span<const float> log_sds);

// s^2 = exp(2 log s).
void variances_of(std::span<const float> log_sds, std::span<float> variances);

// Turns dL / d s^2 into the gradient of log s above, in place; decay = 2 beta.
void to_log_sd_gradient(std::span<const float> variances, float decay, std::span<float> gradient);

}  // namespace drift
