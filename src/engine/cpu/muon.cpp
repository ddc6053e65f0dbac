#include "engine/cpu/muon.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "math/gemm.h"

namespace drift::cpu {
namespace {

// Jordan's coefficients: the steepest slope at zero for which the iteration still ends near one.
constexpr float kA = 3.4445F;
constexpr float kB = -4.7750F;
constexpr float kC = 2.0315F;

using Square = AlignedVector<float>;

// c = a b, all [n, n].
void multiply(std::size_t n, const Square& a, const Square& b, Square& c) {
  gemm({.m = n, .n = n, .k = n, .a = a.data(), .lda = n, .b = b.data(), .ldb = n, .c = c.data(), .ldc = n});
}

}  // namespace

Muon::Muon(std::size_t rows, std::size_t cols)
    : rows_(rows),
      cols_(cols),
      small_(std::min(rows, cols)),
      x_(rows * cols),
      gram_(small_ * small_),
      square_(small_ * small_),
      polynomial_(small_ * small_),
      factor_(small_ * small_),
      product_(small_ * small_) {}

void Muon::step(const MuonStep& step, std::span<const float> gradient, std::span<float> weights, std::span<float> momentum) {
  assert(gradient.size() == x_.size() && weights.size() == x_.size() && momentum.size() == x_.size());
  assert(step.iterations >= 1);
  const double norm = add_momentum(step.momentum, gradient, momentum);
  if (norm < static_cast<double>(std::numeric_limits<float>::min())) return;  // nowhere to go; its inverse would overflow
  const auto scale = static_cast<float>(1.0 / norm);
  for (float& entry : x_) entry *= scale;

  int left = step.iterations;
  for (; left > kStepsPerGram; left -= kStepsPerGram) {
    next_x_.resize(x_.size());
    make_gram();
    make_factor(kStepsPerGram);
    apply_factor(1.0F, 0.0F, next_x_);
    std::swap(x_, next_x_);
  }
  make_gram();
  make_factor(left);
  const double length = static_cast<double>(step.rate) * std::sqrt(static_cast<double>(rows_));
  apply_factor(static_cast<float>(-length), 1.0F, weights);
}

// Moves the momentum on, puts U into x_ and returns |U|_F.
double Muon::add_momentum(float mu, std::span<const float> gradient, std::span<float> momentum) {
  for (std::size_t i = 0; i < x_.size(); ++i) {
    momentum[i] = mu * momentum[i] + gradient[i];
    x_[i] = gradient[i] + mu * momentum[i];
  }
  // In double: no overflow. Eight sums side by side, since the compiler may not reorder one.
  std::array<double, 8> sums = {};
  std::size_t i = 0;
  for (; i + sums.size() <= x_.size(); i += sums.size()) {
    for (std::size_t lane = 0; lane < sums.size(); ++lane) {
      const double entry = static_cast<double>(x_[i + lane]);
      sums[lane] += entry * entry;
    }
  }
  double sum = 0.0;
  for (; i < x_.size(); ++i) sum += static_cast<double>(x_[i]) * static_cast<double>(x_[i]);
  for (const double lane : sums) sum += lane;
  return std::sqrt(sum);
}

// X^T X, or X X^T where that is the smaller.
void Muon::make_gram() {
  const bool tall = rows_ >= cols_;
  gemm({.transpose_a = tall ? Transpose::yes : Transpose::no,
        .transpose_b = tall ? Transpose::no : Transpose::yes,
        .m = small_,
        .n = small_,
        .k = std::max(rows_, cols_),
        .a = x_.data(),
        .lda = cols_,
        .b = x_.data(),
        .ldb = cols_,
        .c = gram_.data(),
        .ldc = small_});
}

// factor_ = P_0 P_1 ... P_{steps - 1}, gram_ being A_0; gram_ is used up.
void Muon::make_factor(int steps) {
  for (int k = 0; k < steps; ++k) {
    multiply(small_, gram_, gram_, square_);
    for (std::size_t i = 0; i < square_.size(); ++i) polynomial_[i] = kB * gram_[i] + kC * square_[i];
    for (std::size_t i = 0; i < small_; ++i) polynomial_[i * small_ + i] += kA;
    if (k == 0) {
      factor_ = polynomial_;
    } else {
      multiply(small_, factor_, polynomial_, product_);
      std::swap(factor_, product_);
    }
    if (k + 1 == steps) return;
    multiply(small_, polynomial_, gram_, product_);
    multiply(small_, product_, polynomial_, gram_);
  }
}

// result = alpha X factor_ + beta result, or factor_ X where rows < cols.
void Muon::apply_factor(float alpha, float beta, std::span<float> result) const {
  const bool tall = rows_ >= cols_;
  gemm({.m = rows_,
        .n = cols_,
        .k = small_,
        .alpha = alpha,
        .a = tall ? x_.data() : factor_.data(),
        .lda = small_,
        .b = tall ? factor_.data() : x_.data(),
        .ldb = cols_,
        .beta = beta,
        .c = result.data(),
        .ldc = cols_});
}

}  // namespace drift::cpu
