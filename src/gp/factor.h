#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>

#include "drift/control.h"

namespace drift::gp {

// The Cholesky factor of a covariance matrix, with as little added to its diagonal as makes it positive.
struct Factor {
  Eigen::MatrixXd lower;  // L, its upper triangle zero
  double jitter = 0.0;    // what was added to every diagonal entry; 0: nothing was needed

  double log_determinant() const;  // of L L'
};

// Reads the lower triangle. Tries jitters of 0, then 1e-10, 1e-9 ... 1e-4 times the mean of the diagonal. Beyond that throws
// Error: "<where>: the covariance of <n> points cannot be factored even with <jitter> added to its diagonal; <advice>". A matrix
// with a NaN is an Error too. Throws Stopped.
Factor factor(Eigen::MatrixXd matrix, const std::string& where, const std::string& advice, const Control& control = {});

// The same for searches, which turn back from where there is no factor.
std::optional<Factor> try_factor(Eigen::MatrixXd matrix, const Control& control = {});

}  // namespace drift::gp
