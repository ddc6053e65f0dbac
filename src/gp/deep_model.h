#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gp/likelihood.h"
#include "gp/variational_layer.h"

namespace drift::gp {

// A deep Gaussian process by doubly stochastic variational inference (Salimbeni & Deisenroth 2017): variational layers one after
// the other, each the input of the next,
//   h_0 = x,   h_l ~ N(mean_l(h_{l-1}), variance_l(h_{l-1})) entry by entry,   y ~ p(y | f = the last layer's output).
// Minimised is minus the evidence lower bound,
//   -sum_i E log p(y_i | f_i) + sum_l KL_l,
// the sum over all observations by that over a batch times their number ratio, the expectation over hidden layers by draws
// h = mean + sqrt(variance) epsilon, that over f in closed form or by quadrature. With one layer there is nothing to draw, and
// this is the sparse variational Gaussian process of Hensman, Fusi & Lawrence 2013: the same code.

struct DeepSpec {
  std::vector<LayerSpec> layers;  // the last has one output
  LikelihoodSpec likelihood;
  int draws = 10;  // of hidden layers, a point
};

template <class Real>
struct DeepParameters {
  std::vector<LayerParameters<Real>> layers;
  double log_scale = 0.0;  // of the likelihood

  DeepParameters zero() const;
  void set_zero();
};

// Observations of a step.
struct DeepBatch {
  Eigen::MatrixXd x;          // [D, n]
  Eigen::VectorXd y;          // [n]
  Eigen::VectorXd known;      // [n] variance of each observation's known error, which adds to scale^2; empty: none
  double all_over_batch = 1;  // observations in all, divided by n
};

// Key of the draws' random numbers.
struct DrawKey {
  std::uint64_t seed = 1;
  std::uint32_t step = 0;
};

template <class Real>
class DeepModel {
 public:
  DeepModel(DeepSpec spec, int threads);

  const DeepSpec& spec() const { return spec_; }
  const Likelihood& likelihood() const { return likelihood_; }

  struct Wanted {
    DeepParameters<Real>* gradient = nullptr;  // of the parameters' shapes, overwritten; null: the value alone
    bool last_root = true;                     // dS of the last layer; natural steps do without
    bool kernel = true;                        // dZ and the covariances' parameters
    bool quick = false;                        // layers may solve in Real (variational_layer.h); natural steps do not bear it
  };
  // Minus the evidence lower bound. `parameters` must not change before the last use of what is kept here for natural steps.
  double evaluate(const DeepParameters<Real>& parameters, const DeepBatch& batch, const DrawKey& key, const Wanted& wanted);

  // Of the last evaluate(): A' of the last layer [columns (stride beyond them), M], and slopes of the loss there. Columns are the
  // batch's points, repeated for every draw where there are hidden layers.
  struct LastLayer {
    const Eigen::MatrixXd* a;
    std::size_t columns;
    const Eigen::VectorXd* mean;
    const Eigen::VectorXd* dmean;
    const Eigen::VectorXd* dvariance;
  };
  LastLayer last_layer() const;
  double jitter() const { return jitter_; }  // the largest that the last evaluate() added to a K_uu

 private:
  void forward(const DeepBatch& batch, const DrawKey& key, bool quick);
  void draw_hidden(std::size_t layer, const DrawKey& key);
  double expected(const DeepParameters<Real>& parameters, const DeepBatch& batch, double* dlog_scale);
  void backward(const Wanted& wanted);

  DeepSpec spec_;
  Likelihood likelihood_;
  int threads_;
  std::vector<std::unique_ptr<VariationalLayer<Real>>> layers_;
  std::vector<LayerWork<Real>> works_;
  std::vector<Eigen::MatrixXd> hidden_;   // [P, columns] outputs drawn of each layer but the last
  std::vector<Eigen::MatrixXd> epsilon_;  // the same shape
  std::vector<Eigen::MatrixXd> dmean_, dvariance_;
  Eigen::VectorXd last_mean_, last_dmean_, last_dvariance_;
  std::size_t points_ = 0;
  double jitter_ = 0.0;
};

// The fitted process, ready for predictions. Copies nothing: spec and parameters must outlive it.
template <class Real>
class DeepPredictor {
 public:
  DeepPredictor(const DeepSpec& spec, const DeepParameters<Real>& parameters, std::uint64_t seed, int threads);

  // Mean and variance of f at x [D, n], n any. Hidden layers by draws: f is then a mixture of Gaussians, of which these are the
  // moments. A draw has the same epsilon everywhere, so that a point's forecast does not depend on its company and fields are
  // smooth; every second draw is the one before it mirrored.
  void predict(Points x, std::span<double> mean, std::span<double> variance);

 private:
  void predict_chunk(Points x, std::span<double> mean, std::span<double> variance);

  const DeepSpec& spec_;
  std::vector<std::unique_ptr<VariationalLayer<Real>>> layers_;
  std::vector<LayerWork<Real>> works_;
  std::vector<Eigen::MatrixXd> epsilon_;  // [P, draws] for each layer but the last
};

}  // namespace drift::gp
