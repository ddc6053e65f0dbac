#pragma once

#include <cstddef>
#include <span>

#include "core/aligned_vector.h"

namespace drift::cpu {

// Orthogonalised momentum for a bottleneck [rows, cols] (Muon; Jordan et al. 2024). With g the gradient, mu the momentum,
//   M = mu M + g,   U = g + mu M  (Nesterov),   X_0 = U / |U|_F,
//   X_{k+1} = X_k (a I + b A_k + c A_k^2),  A_k = X_k^T X_k,  (a, b, c) = (3.4445, -4.7750, 2.0315)   (a quintic Newton-Schulz
//   step) weights -= rate sqrt(rows) X_n.
// The iteration drives every singular value of X into about [0.7, 1.2] and leaves the singular vectors alone: after five steps,
// those above 1/200 of |U|_F have arrived, smaller ones have grown up to a^5 = 485 times.
//
// The products with X are the large ones (rows >> cols), so they are put off. P_k = a I + b A_k + c A_k^2 commutes with A_k, so
// that A_{k+1} = P_k A_k P_k and X_n = X_0 P_0 P_1 ...: only cols x cols matrices are multiplied, and X enters at the start, for
// its Gram matrix, and at the end. A small eigenvalue of A_k inherits the rounding of the largest one, grown by a^2 = 12 a step:
// after five steps X is off by 1e-4 of itself, little beside the band that singular values end in. After more, eigenvalues that
// rounding made negative would run away; so X and its Gram matrix are made anew after every kStepsPerGram steps. A matrix with
// rows < cols is treated from its other side.
struct MuonStep {
  float rate;      // muon_rate times the schedule
  float momentum;  // mu
  int iterations;  // n, at least 1
};

class Muon {
 public:
  Muon(std::size_t rows, std::size_t cols);

  // All three are [rows, cols], row-major. The gradient holds the weight decay's share already. A gradient and momentum of zeros
  // leave the weights as they are; one with NaN in it makes them NaN, for the caller's check of the loss to find. Runs on the
  // calling thread alone.
  void step(const MuonStep& step, std::span<const float> gradient, std::span<float> weights, std::span<float> momentum);

 private:
  static constexpr int kStepsPerGram = 5;

  double add_momentum(float mu, std::span<const float> gradient, std::span<float> momentum);
  void make_gram();
  void make_factor(int steps);
  void apply_factor(float alpha, float beta, std::span<float> result) const;

  std::size_t rows_, cols_;
  std::size_t small_;                                                   // the lesser side
  AlignedVector<float> x_, next_x_;                                     // [rows, cols]
  AlignedVector<float> gram_, square_, polynomial_, factor_, product_;  // [small, small]
};

}  // namespace drift::cpu
