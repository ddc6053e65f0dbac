#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gp/nearest.h"

namespace drift::gp {

// Smoothness (and, where several are tried, mean and number of neighbours) of a nearest-neighbour process, by how well it
// predicts folds left out: whole tracks or blocks, about as wide as the gaps that a map has to fill. The likelihood of near
// neighbours cannot tell: it sees distances of one observation to the next, and prefers smooth covariances that predict gaps
// badly.
//
// Score of a candidate, over targets i of the folds left out with errors e_i and forecast variances v_i of an observation: the
// mean log density under the best common factor on all variances, since spreads are calibrated later,
//   -1/2 log(mean(e^2 / v)) - 1/2 mean(log v) - (1 + log 2 pi) / 2.
struct NearestChoice {
  double nu = 1.5;
  std::size_t neighbours = 64;
  MeanKind mean = MeanKind::global;
  Found found = {};      // parameters of that nu
  double density = 0.0;  // the score; 0: there was nothing to choose
};

struct NearestCandidates {
  std::vector<double> nu = {0.5, 1.5, 2.5};
  std::vector<MeanKind> mean = {MeanKind::global, MeanKind::local};
  std::vector<std::size_t> neighbours = {64, 128};  // the first is used for all nu and means, the others for the best of them
};

// spec_of(nu) is the covariance. Parameters of each nu are fitted to all observations with settings.neighbours. Without folds, or
// with one candidate, the first mean and number, and nu 1.5 where it is one of them: nothing is judged.
NearestChoice choose_nearest(const std::function<KernelSpec(double nu)>& spec_of, const GpData& data,
                             const NearestSettings& settings, const NearestCandidates& candidates, const std::string& where,
                             const Control& control = {});

// The score of forecasts given e and v.
double held_out_density(const Eigen::VectorXd& error, const Eigen::VectorXd& variance);

}  // namespace drift::gp
