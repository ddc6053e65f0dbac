#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "drift/calibration.h"
#include "drift/control.h"
#include "drift/domain.h"
#include "drift/network_spec.h"
#include "drift/observations.h"

namespace drift {

// Rows with the nearest others among them, in units of the network's lengthscales. Indices are those into `rows`. threads 0,
// here and below: one per core.
std::vector<Neighbours> nearest_pairs(const Domain& domain, const NetworkSpec& spec, const Observations& observations,
                                      std::span<const std::size_t> rows, int threads = 0, const Control& control = {});

// Of these, rows that lie between two of their nearest.
std::vector<Between> nearest_triples(const Domain& domain, const NetworkSpec& spec, const Observations& observations,
                                     std::span<const std::size_t> rows, std::span<const Neighbours> pairs, int threads = 0);

// Mean distance in space from an observation to the nearest one of another track (without tracks: to the nearest other one), in
// the engine's units.
double gap_between_tracks(const Domain& domain, const Observations& observations, std::span<const std::size_t> rows,
                          int threads = 0, const Control& control = {});

}  // namespace drift
