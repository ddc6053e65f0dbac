#pragma once

#include <cstddef>

#include "drift/network_spec.h"

namespace drift::gp {

// The inner loops of covariances, in double precision, for the instruction set of the machine they run on (Highway). A column of
// a covariance matrix at a time: n points against one.

enum class PlanarForm { matern_1_2, matern_3_2, matern_5_2, squared_exponential };
// Throws UsageError if the covariance has no elementary form.
PlanarForm planar_form(const Covariance& covariance);

struct PlanarColumn {
  const double* points = nullptr;  // [count, n] a coordinate of all points lies together, divided by its lengthscale
  std::size_t stride = 0;          // from one coordinate to the next
  const double* point = nullptr;   // [count] the one point, divided likewise
  int count = 0;
  std::size_t n = 0;
  PlanarForm form = PlanarForm::matern_3_2;
};

// value[i] = scale k(r_i), r_i = |points_i - point|. Relative error below 4e-15 of k while k > 1e-300, beyond that 0.
void planar_values(const PlanarColumn& column, double scale, double* value);
// Unscaled, and pull[i] = -k'(r) / r, so that dk/d log l_d = pull u_d^2 and dk/dx_d = -pull u_d / l_d, u = points_i - point. The
// pull of Matérn 1/2 at r = 0, where it has no bound, is 0.
void planar_values_and_pulls(const PlanarColumn& column, double* value, double* pull);

// r_i^2 alone.
void squared_distances(const PlanarColumn& column, double* out);

struct PullSums {
  double square = 0.0;  // sum of w_i u_i^2
  double first = 0.0;   // sum of w_i u_i
};
// u_i = x_i - z. Where `gradient` is there, gradient_i -= factor w_i u_i.
PullSums pull_sums(const double* w, const double* x, double z, std::size_t n, double factor, double* gradient);

}  // namespace drift::gp
