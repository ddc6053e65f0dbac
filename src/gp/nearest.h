#pragma once

#include <Eigen/Core>
#include <optional>
#include <string>
#include <vector>

#include "drift/control.h"
#include "gp/evidence_search.h"
#include "gp/gp_data.h"
#include "gp/nearest_neighbours.h"
#include "gp/vecchia.h"

namespace drift::gp {

// The nearest-neighbour Gaussian process: every prediction is kriging from k observations near in scaled space-time (Vecchia
// 1988; Datta et al. 2016; Katzfuss, Guinness & Lawrence 2022 for the scaling). With k = n it is the exact process.

// The mean in a prediction: a constant of all observations, or one unknown in each neighbourhood, which is
// ordinary kriging: with 1 the vector of ones, b = K^-1 k and h = 1 - 1'b,
//   mean = m + b'(y - m) + h g,   g = 1'K^-1 (y - m) / 1'K^-1 1,   variance = k(x, x) - k'b + h^2 / 1'K^-1 1.
enum class MeanKind { global, local };

struct NearestSettings {
  std::size_t neighbours = 32;
  MeanKind mean = MeanKind::global;
  Thinning thinning = {};
  double merge = 0.1;         // side of a cell, in lengthscales, within which predictions take observations together; 0: none
  std::size_t subset = 4000;  // conditionals in the likelihood
  std::size_t start = 500;    // observations of the exact process that the search starts from
  int evaluations = 30;       // of the likelihood, in each round
  int rounds = 3;             // neighbours are chosen anew, by the lengthscales found, before each
  std::vector<std::optional<double>> lengthscales = {};
  std::uint64_t seed = 1;
  int threads = 1;
};

// Conditionals that represent the likelihood of n observations, by the present lengthscales.
//   with folds    each given the k nearest of all other folds, as gaps are predicted: along a track observations lie seconds
//   apart,
//                 and what they say of each other drowns what they say of the field between tracks (twenty days of sea level: a
//                 time lengthscale of 0.13 days and an RMSE of 0.058 m where 0.029 m can be had)
//   n <= subset   all, each given the k nearest of those before it in a random order: Vecchia's likelihood
//   else          half of them as predictions are made, from all other observations; the rest given the k nearest of thinnings by
//                 8, 64, 512 ..., which see the longer lengths that the dense tracks around an observation hide
std::vector<Conditional> choose_conditionals(const KernelSpec& spec, const GpData& data, const KernelParameters& parameters,
                                             const NearestSettings& settings);

Found fit_nearest(const KernelSpec& spec, const GpData& data, const NearestSettings& settings, const std::string& where,
                  const Control& control = {});

// Observations of one cell as one: their mean and mean place, weighted by 1 / (noise^2 + known), with the variance that such a
// mean has. Within a tenth of a lengthscale the field hardly changes, and its noise is averaged out where tracks are dense. The
// variance of `known_variance` is here that of all of the error, the fitted noise included.
GpData merged(const KernelSpec& spec, const GpParameters& parameters, const GpData& data, double side);

// The same observations in the order of a space-filling curve (Morton's), so that neighbours lie together in memory.
GpData in_place_order(const GpData& data);

class NearestGp {
 public:
  NearestGp(KernelSpec spec, GpParameters parameters, const GpData& data, const NearestSettings& settings);

  const GpParameters& parameters() const { return parameters_; }
  Eigen::Index places() const { return data_.size(); }  // observations after merging

  // Of the field at points [dimensions, m]; variances without noise. Throws Error with the point's coordinates where the
  // neighbours' covariance cannot be factored.
  void predict(Points points, Eigen::VectorXd& mean, Eigen::VectorXd& variance) const;

 private:
  struct Kriging;

  Kernel kernel_;
  GpParameters parameters_;
  GpData data_;  // merged: the variances are those of all of the error
  std::size_t neighbours_;
  MeanKind mean_;
  Eigen::VectorXd inverse_lengthscale_;  // [dimensions]
  NeighbourFinder finder_;
};

// Factor of each coordinate, from the parameters: 1 / lengthscale. [dimensions]
Eigen::VectorXd inverse_lengthscales(const KernelSpec& spec, const KernelParameters& parameters);

}  // namespace drift::gp
