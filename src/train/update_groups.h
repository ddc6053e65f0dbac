#pragma once

#include <cstddef>
#include <vector>

#include "drift/recipe.h"
#include "network/plan.h"

namespace drift {

// A run of the parameters and how a step updates it. The same for every backend.
struct UpdateGroup {
  enum class Rule { adam, muon, hyper, log_sd };
  Rule rule;
  std::size_t offset;  // into the parameters, or into the log sds
  std::size_t size;
  std::size_t rows;          // of the matrix, for Muon
  double muon_factor = 1.0;  // on the recipe's muon_rate
};

// With the recipe's Muon, it takes the matrices between features and hidden inputs, Adam the last matrix of a network. In a dense
// network it takes the weights between two activations; Adam takes the first and the last matrix and every bias. A dense matrix
// is not divided by sqrt(rows) on its way to the output, so its update is; and one before sin(omega z) by omega, too: a step then
// moves what the activation sees as far as in drift's own networks.
std::vector<UpdateGroup> update_groups(const Plan& plan, const Recipe& recipe, bool variational);

}  // namespace drift
