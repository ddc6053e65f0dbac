#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <vector>

#include "core/aligned_vector.h"
#include "gp/kernel.h"
#include "gp/variational_layer_tasks.h"

namespace drift::gp {

// One sparse variational layer: P independent Gaussian processes that share a covariance k and M inducing points Z (Titsias 2009;
// Hensman, Fusi & Lawrence 2013), whitened: u = L v with K_uu = L L', and q(v_p) = N(m_p, S_p S_p'), S_p lower triangular. At a
// point x, with a = L^-1 k(Z, x),
//   mean_p = a' m_p + (skip' x)_p,    variance_p = k(x, x) - |a|^2 + |S_p' a|^2,
//   KL(q(v) || N(0, I)) = sum_p (|S_p|^2 + |m_p|^2 - M) / 2 - sum_i log S_p,ii.
// The skip is the linear mean function of Salimbeni & Deisenroth 2017.
//
// Backward, with e = dL/dmean, w = dL/dvariance [points, P] and A = [a ...], B_p = S_p' A, all as matrices over the points:
//   dm_p = A e_p,   dS_p = tril(2 A diag(w_p) B_p'),   dA = sum_p (m_p e_p' + 2 S_p B_p diag(w_p)) - 2 A diag(sum_p w_p),
//   dK_uf = L^-T dA,   dK_uu = -1/2 L^-T Y L^-1,
// Y the symmetric matrix whose lower triangle is that of dA A'. (The usual backward pass of the Cholesky factor, Murray 2016, is
// L^-T phi(L' dL) L^-1 with dL = -tril(L^-T dA A'); only the lower triangle of L' dL matters, in which L' and L^-T cancel.)
//
// Precision: K_uu and its factor are double. Real is that of S and of the products of M x M by points that follow A: float
// trains, double is checked by finite differences. A itself is solved for in double, or in Real where a quick answer is wanted
// and L allows it: an error of 6e-8 in L A becomes one of 6e-8 / L_ii in A, and L_ii^2, the share of an inducing point's variance
// that those before it do not explain, has to be at least 1e-4.

template <class Real>
using RowMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct LayerSpec {
  KernelSpec kernel;
  Eigen::MatrixXd skip;  // [D, P] the mean function x -> skip' x; empty: zero
  int outputs = 1;       // P
  double jitter = 1e-6;  // added to K_uu's diagonal, as a share of k(x, x)
  std::string where;     // who asks, for errors: "svgp"
};

// Trained parameters; their gradient has the same form.
template <class Real>
struct LayerParameters {
  Eigen::MatrixXd inducing;           // Z [D, M]
  KernelParameters kernel;            // logarithms
  Eigen::MatrixXd mean;               // m [M, P]
  std::vector<RowMatrix<Real>> root;  // S_p [M, M], lower triangular, diagonal > 0; one an output

  std::size_t points() const { return static_cast<std::size_t>(inducing.cols()); }
  // The same shapes, all zero.
  LayerParameters zero() const;
};

// m = 0 and S = root_sd I.
template <class Real>
LayerParameters<Real> initial_layer(const LayerSpec& spec, const Eigen::MatrixXd& inducing, const KernelParameters& kernel,
                                    double root_sd);

// Results of a forward pass kept for the backward pass. Reused from step to step.
template <class Real>
struct LayerWork {
  std::size_t points = 0;
  std::size_t stride = 0;              // between rows, >= points, an odd number of cache lines: 4096-byte strides are slow
  Eigen::MatrixXd inputs;              // [D, points]
  bool quick = false;                  // A was solved for in Real: `a` is not filled
  Eigen::MatrixXd a;                   // A' [stride, M], column-major: the rows of A one after the other
  AlignedVector<Real> a_low;           // A [M, stride], the same in Real
  std::vector<AlignedVector<Real>> b;  // B_p [M, stride]
  AlignedVector<Real> da;              // dA [M, stride]
  AlignedVector<Real> dk;              // dK_uf [M, stride]
  RowMatrix<Real> f, half;             // [M, M] of the backward pass of K_uu
  Eigen::MatrixXd mean;                // [points, P]
  Eigen::MatrixXd variance;            // [points, P], > 0
};

// A layer with its parameters: K_uu factored. Refers to spec and parameters, which must outlive it unchanged.
template <class Real>
class VariationalLayer {
 public:
  // Throws Error, naming spec.where, when K_uu cannot be factored.
  VariationalLayer(const LayerSpec& spec, const LayerParameters<Real>& parameters, int threads);
  // The same layer with other parameters, in the same memory: fresh memory every step would cost a page fault every 4 kB.
  void renew(const LayerParameters<Real>& parameters);

  double jitter() const { return jitter_; }                // what was added to K_uu's diagonal
  const Eigen::MatrixXd& lower() const { return lower_; }  // L
  const Kernel& kernel() const { return kernel_; }

  // Fills work.mean and work.variance for x [D, points].
  enum class Solve { precise, quick };
  void forward(Points x, LayerWork<Real>& work, Solve solve = Solve::precise) const;

  // Sums to which backward() adds.
  struct Wanted {
    LayerParameters<Real>* gradient = nullptr;
    Eigen::MatrixXd* inputs = nullptr;  // [D, points]; null: not wanted
    bool root = true;                   // dS is wanted
    bool kernel = true;                 // dZ and the covariance's parameters are wanted
  };
  // Adds to the gradients what dmean and dvariance [points, P] mean. Spoils work.b.
  void backward(const Eigen::MatrixXd& dmean, const Eigen::MatrixXd& dvariance, LayerWork<Real>& work, const Wanted& wanted);

  double divergence() const;                                                          // KL
  void add_divergence_gradient(double scale, LayerParameters<Real>& gradient) const;  // of scale * KL, in m and S

 private:
  void prepare();
  void covariance_and_factor();
  void solve_slice(const Range& slice, LayerWork<Real>& work) const;
  void mean_and_variance(const Range& slice, LayerWork<Real>& work) const;
  void backward_mean(const Eigen::MatrixXd& dmean, const LayerWork<Real>& work, LayerParameters<Real>& gradient) const;
  void scale_b(const Eigen::MatrixXd& dvariance, LayerWork<Real>& work) const;
  void backward_a(const Eigen::MatrixXd& dmean, const Eigen::MatrixXd& dvariance, LayerWork<Real>& work) const;
  void backward_root(const LayerWork<Real>& work, LayerParameters<Real>& gradient) const;
  void backward_cross(LayerWork<Real>& work, const Wanted& wanted) const;
  void half_slopes(const Range& rows, LayerWork<Real>& work) const;
  void prior_slopes(LayerWork<Real>& work) const;
  void backward_prior(LayerWork<Real>& work, LayerParameters<Real>& gradient) const;
  void invert();

  const LayerSpec& spec_;
  const LayerParameters<Real>* parameters_;
  int threads_;
  Kernel kernel_;
  Eigen::MatrixXd lower_;                // L, its upper triangle zero
  std::vector<Eigen::MatrixXd> blocks_;  // inverses of its diagonal blocks
  double jitter_ = 0.0;
  bool well_conditioned_ = false;  // enough for a quick solve
  RowMatrix<Real> low_;            // L in Real, where it is
  std::vector<RowMatrix<Real>> low_blocks_;
  RowMatrix<Real> inverse_;  // L^-1, made when backward() first needs it
  bool inverted_ = false;
};

// Bytes that a layer holds in training, its gradient and Adam's moments included.
template <class Real>
double layer_bytes(std::size_t inducing, std::size_t outputs, std::size_t points);

}  // namespace drift::gp
