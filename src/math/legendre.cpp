#include "math/legendre.h"

#include <cmath>

namespace drift {

LegendreRecurrence::LegendreRecurrence(double x) : LegendreRecurrence(1.0 - std::abs(x), x < 0.0) {}

LegendreRecurrence LegendreRecurrence::at_gap(double gap) {
  return gap > 1.0 ? LegendreRecurrence(2.0 - gap, true) : LegendreRecurrence(gap, false);
}

double LegendreRecurrence::value() const { return mirrored_ && degree_ % 2 == 1 ? -value_ : value_; }

double LegendreRecurrence::derivative() const {
  const double slope = degree_ * (value_ + difference_) / (2.0 - gap_);
  return mirrored_ && degree_ % 2 == 0 ? -slope : slope;  // the derivative of an even polynomial is odd
}

void LegendreRecurrence::next() {
  const double n = degree_;
  difference_ = (n * difference_ + (2.0 * n + 1.0) * value_) / (n + 1.0);
  value_ -= gap_ * difference_;
  ++degree_;
}

namespace {

LegendreRecurrence at_degree(int degree, double x) {
  LegendreRecurrence polynomial(x);
  while (polynomial.degree() < degree) polynomial.next();
  return polynomial;
}

}  // namespace

double legendre(int degree, double x) { return at_degree(degree, x).value(); }

double legendre_derivative(int degree, double x) { return at_degree(degree, x).derivative(); }

}  // namespace drift
