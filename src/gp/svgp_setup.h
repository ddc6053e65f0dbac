#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gp/deep_model.h"
#include "gp/gp_data.h"

namespace drift::gp {

// Natural steps learn more from a step than Adam's (RMSE 0.070 against 0.095 and 0.60 against 0.65 on simulated fields, 300 and
// 500 points), but take twice the time of a step where there are thousands of points.
inline constexpr std::size_t kMostForNatural = 500;

// Set-up and training of a sparse variational process, shallow or deep. The defaults are the paper's of 2025 for the shallow
// one: 3,000 inducing points, five epochs in batches of 1,024, Adam at a rate of 0.01.
struct SvgpSettings {
  std::string method = "svgp";  // for errors and progress
  int layers = 1;
  int width = 0;                // of hidden layers; 0: as many as coordinates
  int draws = 10;               // of hidden layers
  std::size_t inducing = 3000;  // a layer; never more than observations that differ in position or time
  double inducing_share = 0.1;  // nor, with one layer, more than this share of the observations, or 500
  bool kmeans = true;           // inducing points begin where k-means++ puts them, else at observations by chance
  bool train_inducing = true;
  double epochs = 5.0;
  std::size_t least_steps = 1000;  // few observations make few batches: epochs are raised until there are so many steps
  std::size_t batch = 1024;
  double rate = 0.01;
  bool cosine = true;           // the rate falls to zero along a half cosine; the paper's is constant
  std::optional<bool> natural;  // natural steps for the last layer's m and S; none: up to kMostForNatural points, or in one batch
  std::size_t whole = 4096;     // so many observations or fewer are one batch
  double natural_rate = 0.1;    // size of natural steps; 1 for one layer, one batch and a Gaussian likelihood: the exact answer
  LikelihoodSpec likelihood;
  KernelSpec kernel;                                // of the first layer, whose inputs are coordinates
  Covariance hidden_covariance = {};                // of later layers
  std::vector<std::optional<double>> lengthscales;  // of the first layer's covariance, in the engine's units; given: not trained
  std::uint64_t seed = 1;
  int threads = 1;
};

// With what the data settle: inducing points, batch and optimiser.
SvgpSettings settled(SvgpSettings settings, std::size_t observations);

template <class Real>
struct SvgpStart {
  DeepSpec spec;
  DeepParameters<Real> parameters;
  double mean = 0.0;  // of the values, taken off them
};

// Inducing points among the observations; lengthscales from their extent and the inducing points' density; amplitude and noise
// from the values' variance (a tenth of it is noise). Hidden layers begin as nearly certain, small deviations from the skip.
template <class Real>
SvgpStart<Real> start_svgp(const GpData& data, const SvgpSettings& settings);

// Peak memory of training, in bytes.
double svgp_bytes(const SvgpSettings& settings, std::size_t observations, int coordinates);

// The linear mean function of a hidden layer with P outputs of D coordinates: the identity, padded with zeros where P > D, the
// first P principal directions of the points where P < D (Salimbeni & Deisenroth 2017).
Eigen::MatrixXd skip_matrix(Points x, int outputs);

}  // namespace drift::gp
