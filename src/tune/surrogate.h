#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tune/gaussian_process.h"

namespace drift {

// The surrogate of a study's trials.
//
// Values: failed trials count as the worst value there is. Then the bad side is cut at the median plus kCut times the spread of
// the better half (median to best), so that a training that diverged does not flatten the rest, and the values are shifted and
// divided to mean 0 and variance 1.
//
// Hyperparameters: the largest marginal likelihood times priors (maximum a posteriori), by L-BFGS from the priors' centre and
// from draws of them. Priors, in the logarithm and for standardised values on the unit cube:
//   lengthscale  N(sqrt2 + log(d)/2, 3), d the number of coordinates, as Hvarfner, Hellsten, Nardi, "Vanilla Bayesian optimization
//                performs great in high dimensions", 2024, and after it BoTorch
//   variance     N(0, 1)
//   noise        N(log 1e-4, 2^2): trials are nearly repeatable, unless they say otherwise
//   mean         N(0, 1), itself
struct Surrogate {
  GaussianProcess process;
  double shift = 0.0;  // value = shift + scale * standardised value
  double scale = 1.0;
};

// Cuts the bad side; entries without a value take the worst that is left. At least one must have one.
Eigen::VectorXd robust_values(std::span<const std::optional<double>> values);

// log prior of packed hyperparameters, and its gradient.
double log_prior(const Eigen::VectorXd& packed, Eigen::VectorXd& gradient);

Surrogate fit_surrogate(Eigen::MatrixXd places,  // [trials, coordinates]
                        std::span<const std::optional<double>> values, std::vector<bool> is_choice, std::uint64_t seed);

}  // namespace drift
