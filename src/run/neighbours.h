#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "drift/calibration.h"
#include "drift/domain.h"
#include "drift/network_spec.h"
#include "drift/observations.h"

namespace drift {

// Rows with the nearest others among them, in units of the network's lengthscales. Indices are those into `rows`; where there are
// more than `most` rows, an even choice of them looks for its nearest.
std::vector<Neighbours> nearest_pairs(const Domain& domain, const NetworkSpec& spec, const Observations& observations,
                                      std::span<const std::size_t> rows, std::size_t most);

}  // namespace drift
