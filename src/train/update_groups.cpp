#include "train/update_groups.h"

#include <cmath>

#include "train/variational.h"

namespace drift {
namespace {

using Rule = UpdateGroup::Rule;

std::size_t size(int count) { return static_cast<std::size_t>(count); }

void add(Rule rule, std::size_t offset, std::size_t rows, std::size_t cols, std::vector<UpdateGroup>& groups) {
  groups.push_back({.rule = rule, .offset = offset, .size = rows * cols, .rows = rows});
}

void add_dense(const Plan& plan, const LayerPlan& layer, std::vector<UpdateGroup>& groups) {
  const std::size_t rows = size(layer.features), cols = size(layer.outputs);
  add(Rule::muon, layer.bottleneck, rows, cols, groups);
  const LayerPlan& next = plan.layers[size(layer.next)];
  const double omega = next.kind == FeatureKind::sine ? next.omega : 1.0;
  groups.back().muon_factor = 1.0 / (std::sqrt(static_cast<double>(rows)) * omega);
  if (layer.bias) add(Rule::adam, layer.bottleneck + rows * cols, 1, cols, groups);
}

}  // namespace

std::vector<UpdateGroup> update_groups(const Plan& plan, const Recipe& recipe, bool variational) {
  std::vector<UpdateGroup> groups;
  for (const LayerPlan& layer : plan.layers) {
    const bool muon = recipe.optimiser == Optimiser::muon && layer.next != kOutput;
    if (muon && layer.activation()) {
      add_dense(plan, layer, groups);
      continue;
    }
    const bool dense = layer.chain == ChainId::dense;
    add(muon && !dense ? Rule::muon : Rule::adam, layer.bottleneck, size(layer.matrix_rows()), size(layer.outputs), groups);
  }
  if (plan.has_head) add(Rule::adam, plan.head, size(plan.head_inputs), size(plan.spec.outputs), groups);
  if (recipe.train_lengthscales || recipe.train_amplitudes) {
    add(Rule::hyper, plan.hyper, plan.hyperparameters.size(), 1, groups);
  }
  if (variational) {
    for (const MatrixPlace& place : trained_matrices(plan)) add(Rule::log_sd, place.offset, place.rows, place.cols, groups);
  }
  return groups;
}

}  // namespace drift
