#pragma once

#include <cstddef>
#include <vector>

#include "drift/network_spec.h"

namespace drift::gp {

// The covariance on the sphere, sum_n p_n P_n(s . s') of features/spherical.h, and its slope in log l, by cubic Hermite
// interpolation between equally spaced nodes: in the chord c = |s - s'| for the half of the sphere around s, in the chord |s +
// s'| to the antipode for the other half. Each is smooth to its end, which the cosine is not, and neither needs an arc sine.
//
// The degrees are those below which all but kTailMass of the variance lies, at most kMaxDegree: what a lengthscale asks for
// beyond it (Matérn 3/2: below 500 km for the tail mass, below 100 km for 1e-4 of the variance) is cut off and the rest taken up
// in proportion, which is a covariance too. Error against that sum below 5e-8 of the variance.
class SphereTable {
 public:
  static constexpr double kTailMass = 1e-6;       // Matérn
  static constexpr double kHeatTailMass = 1e-13;  // whose masses fall so fast that it costs little
  static constexpr int kMaxDegree = 2000;

  SphereTable(const Covariance& covariance, double lengthscale);

  // From squared chords; `pull` = -(dk/dc) / c (0 at c = 0 and 2) and `log_slope` may be null.
  void evaluate(const double* squared_chord, std::size_t n, double* value, double* pull, double* log_slope) const;

  int degrees() const { return degrees_; }

 private:
  struct Node {
    double value, slope, log_slope, log_slope_slope;
  };
  using Nodes = std::vector<Node>;

  int degrees_ = 0;
  double spacing_ = 0.0;
  Nodes near_, far_;  // chords 0 ... sqrt(2)
};

}  // namespace drift::gp
