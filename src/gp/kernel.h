#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "drift/network_spec.h"

namespace drift::gp {

// Covariances of points and their gradients, in double precision. Points are columns: [dimensions, n].
//
//   k(x, x') = amplitude^2 * product over parts p of k_p(x_p, x'_p)
//
// Parts are disjoint runs of coordinates:
//   plane   any number of coordinates, each with its lengthscale or all with one: k_p a function of r = |(x - x') / l|
//   sphere  a unit vector: sum_n p_n(l) P_n(s . s'), by a table in the chord that is made with the kernel
// Space and time under one planar part (time with a lengthscale of its own) is the usual anisotropic covariance; as two parts,
// the product covariance.

struct KernelPart {
  Space space = Space::plane;
  int first = 0;                             // coordinate
  int count = 2;                             // 3 on the sphere
  std::vector<int> lengthscale_of = {0, 0};  // [count] which of `lengthscales` divides each; on the sphere one entry
  Covariance covariance = {};  // Matérn with nu = 1/2, 3/2, 5/2, or squared exponential (plane); any nu on the sphere
};

struct KernelSpec {
  int dimensions = 2;
  int lengthscales = 1;
  std::vector<KernelPart> parts = {};
};

// Logarithms, so that any real vector is valid: [log l_0 .. log l_{q-1}, log amplitude]. The trained numbers of every method.
using KernelParameters = Eigen::VectorXd;

using Points = Eigen::Ref<const Eigen::MatrixXd>;  // [dimensions, n], a point a column

// The usual covariance for rows of the engine: space (plane or sphere) with one lengthscale, and time with its own. On the plane
// `joint` puts both in one part; else, and on the sphere, they are two parts.
KernelSpec space_time_kernel(Space space, int space_coordinates, bool time, const Covariance& covariance, bool joint);
// All coordinates on the plane, one lengthscale each: hidden layers.
KernelSpec planar_kernel(int dimensions, const Covariance& covariance);

class Kernel {
 public:
  // Throws UsageError for a spec that cannot be, Error for parameters that are not finite.
  Kernel(KernelSpec spec, KernelParameters parameters);
  ~Kernel();
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  Kernel(Kernel&&) noexcept;
  Kernel& operator=(Kernel&&) noexcept;

  const KernelSpec& spec() const { return spec_; }
  const KernelParameters& parameters() const { return parameters_; }
  double variance() const;  // k(x, x)

  double operator()(Points x, Points z) const;                           // of two points, one column each
  void matrix(Points x, Points z, Eigen::Ref<Eigen::MatrixXd> k) const;  // [x.cols, z.cols]
  void symmetric(Points x, Eigen::Ref<Eigen::MatrixXd> k) const;         // the same of x with itself, both triangles filled

  void lower(Points x, Eigen::Ref<Eigen::MatrixXd> k) const;  // its lower triangle alone

  // Adds what dL/dK means for the parameters and the points: weights = dL/dK [x.cols, z.cols]. Points' gradients may be null. For
  // the sphere they are along it (tangent).
  void backward(Points x, Points z, const Eigen::Ref<const Eigen::MatrixXd>& weights, KernelParameters& gradient,
                Eigen::MatrixXd* x_gradient, Eigen::MatrixXd* z_gradient) const;

  // The same for symmetric(x) and parameters alone, where dL/dK is symmetric too: reads the lower triangle of the weights.
  void backward_symmetric(Points x, const Eigen::Ref<const Eigen::MatrixXd>& weights, KernelParameters& gradient) const;

 private:
  struct Tables;
  struct Backward;
  KernelSpec spec_;
  KernelParameters parameters_;
  std::unique_ptr<Tables> tables_;  // what the loops want
};

}  // namespace drift::gp
