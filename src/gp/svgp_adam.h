#pragma once

#include <cstdint>

#include "gp/deep_model.h"

namespace drift::gp {

// The parameters of a deep process that Adam (Kingma & Ba 2015) trains.
struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  bool last_posterior = true;  // m and S of the last layer; natural steps do without
  bool inducing = true;        // Z of the first layer; those of later layers, which lie among hidden inputs, always
  bool kernel = true;          // the covariances' parameters
  bool scale = true;           // the likelihood's
  int threads = 1;
};

// The diagonal of S is trained as its logarithm, so that it stays positive; unit vectors among inducing points are brought back
// to length one after each step; lengthscales, amplitudes and the likelihood's scale stay within wide bounds.
template <class Real>
class DeepAdam {
 public:
  DeepAdam(const DeepSpec& spec, const DeepParameters<Real>& parameters, const AdamOptions& options);

  // Moves against the gradient. Steps are counted here.
  void step(const DeepParameters<Real>& gradient, double rate, DeepParameters<Real>& parameters);

 private:
  const DeepSpec& spec_;
  AdamOptions options_;
  DeepParameters<Real> first_, second_;  // moments
  std::uint64_t steps_ = 0;
};

}  // namespace drift::gp
