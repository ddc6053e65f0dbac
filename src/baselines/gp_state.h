#pragma once

#include <string>

#include "drift/domain.h"
#include "drift/state.h"
#include "gp/gp_data.h"

namespace drift {

// Observations and parameters of Gaussian processes in a state (drift/state.h). Coordinates and values came as float32 and are
// kept as such without loss:
//   "points" [n, dimensions] and "values" [n] of float32, "known_variance" [n] of float64 where errors are known
//   "<name>.kernel" [k], "<name>.noise" and "<name>.mean", of float64: logarithms as they were fitted
void put_observations(State& state, const gp::GpData& data);
// Throws Error unless the points have the domain's coordinates, or these and time.
gp::GpData observations_of(const State& state, const Domain& domain);

void put_parameters(State& state, const gp::GpParameters& parameters, const std::string& name = "parameters");
gp::GpParameters parameters_of(const State& state, const gp::KernelSpec& spec, const std::string& name = "parameters");

// Column-major [rows, columns] as a tensor [columns, rows] of float64, and back.
void put_matrix(State& state, const std::string& name, const Eigen::MatrixXd& matrix);
Eigen::MatrixXd matrix_of(const State& state, const std::string& name, std::size_t rows, std::size_t columns = State::kAny);

double smoothness_of(const State& state);  // its number "nu": 0.5, 1.5 or 2.5

bool has_time(const Domain& domain, std::size_t dimensions);  // throws Error unless space alone, or space and time

}  // namespace drift
