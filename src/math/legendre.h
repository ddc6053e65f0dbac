#pragma once

namespace drift {

// The Legendre polynomials P_0(x), P_1(x), ... one after the other: the double-precision reference for the features.
//
// With g = 1 - x and e_n = (P_{n-1} - P_n) / g the three-term recurrence
//   (n + 1) P_{n+1} = (2n + 1) x P_n - n P_{n-1}
// becomes one in differences, in the manner of Reinsch,
//   e_{n+1} = (n e_n + (2n + 1) P_n) / (n + 1),   P_{n+1} = P_n - g e_{n+1},
// which near x = 1 keeps what the first form loses (a thousandfold at degree 1000, legendre_test.cpp), and (1 - x^2) P_n' = n
// (P_{n-1} - x P_n) becomes P_n' = n (P_n + e_n) / (2 - g), which needs no limit at x = 1. Negative x by P_n(-x) = (-1)^n P_n(x).
//
// Absolute error below 4e-16 sqrt(n) in P_n and below 4e-16 sqrt(n) n(n+1)/2 in P_n', for 1 <= n <= 2000 (legendre_test.cpp).
class LegendreRecurrence {
 public:
  // x in [-1, 1].
  explicit LegendreRecurrence(double x);
  // x = 1 - gap, gap in [0, 2]. For points so near that their cosine would round to 1: gap = |s - b|^2 / 2 of unit vectors.
  static LegendreRecurrence at_gap(double gap);

  int degree() const { return degree_; }
  double value() const;       // P_n(x)
  double derivative() const;  // P_n'(x)
  void next();                // n -> n + 1

 private:
  LegendreRecurrence(double gap, bool mirrored) : gap_(gap), mirrored_(mirrored) {}

  double gap_;     // 1 - |x|
  bool mirrored_;  // x < 0
  int degree_ = 0;
  double value_ = 1.0;       // P_n(|x|)
  double difference_ = 0.0;  // e_n; e_0 = 0 starts the recurrence rightly: e_1 = 1
};

double legendre(int degree, double x);             // P_n(x)
double legendre_derivative(int degree, double x);  // P_n'(x)

}  // namespace drift
