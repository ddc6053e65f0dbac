#pragma once

#include <cstddef>

namespace drift::gp {

// sum_n a_n P_n(x), sum_n a_n P_n'(x), and the same for b, at n points x = 1 - gap in [0, 1], degrees 0 ... degrees - 1.
struct LegendreSums {
  const double* a = nullptr;  // [degrees]
  const double* b = nullptr;
  std::size_t degrees = 0;
  const double* gap = nullptr;  // [n] in [0, 1]
  std::size_t n = 0;
  double* out[4] = {};  // [n] each: a P, a P', b P, b P'
};
void legendre_sums(const LegendreSums& sums);

}  // namespace drift::gp
