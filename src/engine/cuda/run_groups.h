#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "drift/engine.h"

namespace drift::cuda {

// True if two runs' members can be trained by the same launches: same shapes, batches and rules. All that may differ is a number
// of the member on the device: seed, lengthscales, amplitudes, weight decay, rates. Where hyperparameters are trained the device
// keeps their first values once for all, so the networks must be the same.
bool go_together(const TrainingRun& a, const TrainingRun& b);

// The runs, by index, as groups that go together, in the order of each one's first. Only runs of the same kind go together; those
// of a kind below 0 are left out.
std::vector<std::vector<std::size_t>> groups_of(std::span<const TrainingRun> runs, const std::vector<int>& kinds);

}  // namespace drift::cuda
