#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "drift/domain.h"
#include "drift/engine.h"
#include "drift/folds.h"
#include "drift/observations.h"

namespace drift {

// Observations as the engine trains on them.
struct TrainingRows {
  std::vector<float> coordinates;  // [n, columns]
  std::vector<float> values;       // [n]
  std::vector<float> weights;      // [n], or none
  Folds folds = {};                // [n]; none: every member sees every row
  std::size_t columns = 0;

  TrainingSet view() const;
};

// Weights are 1 / (sigma^2 + s^2) with s the median sigma, so that a few tiny ones do not outweigh all others; their mean is one.
// threads 0: one per core.
TrainingRows training_rows(const Domain& domain, const Observations& observations, std::span<const std::size_t> rows,
                           bool has_time, int threads = 0);

}  // namespace drift
