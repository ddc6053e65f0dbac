#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "drift/field_model.h"
#include "drift/fit.h"
#include "drift/interpolator.h"
#include "fields/blended_point.h"
#include "fitting/judge.h"
#include "process/process.h"

namespace drift {

// Networks and a process make different mistakes: their weighted mean beats both. The weight is the one with the least squared
// error out of fold: networks forecast the fold that they left out, the process kriges without that fold's observations.

// The process of these observations, with their tracks, platforms, errors and folds.
struct FittedProcess {
  std::shared_ptr<Process> process;
  std::vector<std::uint32_t> group_of;  // [observations] the group of places that each belongs to
};
FittedProcess fit_process_part(const InterpolatorData& data, std::uint64_t seed, int threads, const Control& control);

// Its lengths, velocity and errors in a sentence or two, in the domain's units.
std::vector<std::string> describe(const Process& process, const Domain& domain);

// Out-of-fold forecasts of some training observations, in the engine's units.
struct OutOfFold {
  std::vector<std::size_t> rows;         // ascending: of the training set, or of the plan's observations
  std::vector<std::size_t> training;     // [rows] of the training set
  std::vector<double> y;                 // [rows]
  std::vector<double> network;           // [rows] mean of the members that left the row out; empty: no networks
  std::vector<double> process;           // [rows]
  std::vector<double> process_variance;  // [rows]
  std::vector<double> local;             // [rows] factors of the local spread; 1 until it is learnt
  std::vector<std::uint32_t> group;      // [rows] the track or block of each; empty: each row by itself
};
OutOfFold forecast_out_of_fold(Engine& engine, const InterpolatorData& data, const Ensemble& ensemble, const Process& process,
                               int threads, const Control& control = {});
// The same with rows of the plan's observations and their values in double precision.
OutOfFold forecast_out_of_fold(Engine& engine, const FitPlan& plan, const Observations& observations,
                               const InterpolatorData& data, const Ensemble& ensemble, const Process& process,
                               const Control& control = {});

// The reach is the parts' root-mean-square difference. The networks' share u, as far as it is not damped by that, is the
// one with the least squared error, within [0, 1]. It is known with a variance v, by how much tracks (or blocks) disagree on it,
// and what they do not agree on is left to the process: the networks get u (1 - v / u^2), or nothing (James & Stein's shrinkage,
// its positive part).
//
// Out of fold a row has fewer members than a prediction will have, which counts against the networks; allowing for it was tried
// and made held-out scores worse.
BlendWeight blend_weight(const OutOfFold& out);

// Lets the process learn where the blend errs by more than elsewhere, and out.local follow. Returns a sentence on it, or nothing.
std::string learn_local_spread(const FittedProcess& fitted, const InterpolatorData& data, const BlendWeight& weight, int threads,
                               OutOfFold& out, const Control& control = {});

// RMSE of each part out of fold, in the values' unit.
PartWorth part_worth(const OutOfFold& out, const BlendWeight& weight, const Domain& domain);

// Forecasts of rows among out.rows, as judge() takes them.
Forecast forecast_of(const OutOfFold& out, const BlendWeight& weight, const Domain& domain, const Observations& observations,
                     std::span<const std::size_t> rows, double noise_sd, double spread_scale, bool noise_by_sigma);

}  // namespace drift
