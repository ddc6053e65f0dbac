#pragma once

#include <algorithm>
#include <span>

#include "drift/uncertainty.h"
#include "network/plan.h"
#include "train/variational.h"

namespace drift {

// Puts the posterior means in the place of the trained matrices.
inline void set_last_layers(Ensemble& ensemble, std::span<const LastLayerPosterior> posteriors) {
  const MatrixPlace last = trained_matrices(make_plan(ensemble.spec)).back();
  for (std::size_t i = 0; i < posteriors.size(); ++i)
    std::copy(posteriors[i].mean.begin(), posteriors[i].mean.end(), ensemble.members[i].parameters.data() + last.offset);
}

}  // namespace drift
