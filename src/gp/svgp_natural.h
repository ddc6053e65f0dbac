#pragma once

#include <Eigen/Core>
#include <string>

#include "gp/deep_model.h"

namespace drift::gp {

// Natural-gradient steps for q(v) = N(m, S S') of the last layer (Hensman et al. 2013; Salimbeni, Eleftheriadis & Hensman 2018).
// In natural parameters, precision P = (S S')^-1 and P m, a step of size gamma is a weighted mean of the present ones and of
//   P* = I + A diag(2 w) A',   (P m)* = A (2 w mean - e),   e and w the loss's slopes in the means and variances at the points:
// for a Gaussian likelihood the optimum, so that one step of size 1 on all observations is the exact answer. All in double: w may
// be the number of observations over the noise's variance, and float32 would lose the identity beside it.
class NaturalSteps {
 public:
  template <class Real>
  explicit NaturalSteps(const LayerParameters<Real>& layer);

  // Replaces layer.mean and layer.root. Slopes w < 0, which likelihoods with heavy tails have far out, count as 0, so that the
  // precision stays positive. Throws Error, naming `where`, when it cannot be factored all the same.
  template <class Real>
  void step(const typename DeepModel<Real>::LastLayer& at, double size, LayerParameters<Real>& layer, int threads,
            const std::string& where);

  static double bytes(std::size_t inducing, std::size_t columns);

 private:
  Eigen::MatrixXd precision_;           // [M, M] the lower triangle
  Eigen::VectorXd weighted_;            // [M] P m
  Eigen::MatrixXd a_;                   // memory of a step, [columns, M]
  Eigen::MatrixXd reversed_, inverse_;  // [M, M]
};

}  // namespace drift::gp
