#include "engine/training_memory.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/cpu/member_trainer.h"
#include "network/plan.h"
#include "train/schedule.h"
#include "train/update_groups.h"

namespace drift {
namespace {

// Floats of a thread's Scratch (cpu/member_trainer.h): the passes' arrays of a block of rows, and Muon's of each shape.
double scratch_floats(const Plan& plan, const Recipe& recipe, double rows, bool variational) {
  constexpr double kLine = 32.0;  // by which a row of features may be longer than they are many
  double widest = 0.0, row = 4.0 * plan.coordinates + 3.0 * plan.head_inputs + 4.0 * plan.spec.outputs;
  for (const LayerPlan& layer : plan.layers) widest = std::max(widest, layer.features + kLine);
  double largest = 0.0;
  for (const LayerPlan& layer : plan.layers) {
    row += 2.0 * layer.hidden + 2.0 * widest;  // input and its gradient; features and slopes
    if (layer.activation()) row += widest;
    if (recipe.dropout > 0.0) row += widest;
    if (variational) row += 2.0 * layer.outputs + widest;
    largest = std::max(largest, static_cast<double>(layer.features) * layer.outputs);
  }
  row += 3.0 * widest;  // gradient of features, spherical ones, a panel
  double muon = 0.0;
  std::set<std::pair<std::size_t, std::size_t>> shapes;
  for (const UpdateGroup& group : update_groups(plan, recipe, variational)) {
    if (group.rule != UpdateGroup::Rule::muon || !shapes.emplace(group.rows, group.size).second) continue;
    const auto small = static_cast<double>(std::min(group.rows, group.size / group.rows));
    muon += 2.0 * static_cast<double>(group.size) + 5.0 * small * small;
  }
  return rows * row + largest + muon;
}

}  // namespace

double training_bytes(const NetworkSpec& spec, const Recipe& recipe, std::size_t members, std::size_t observations, int threads,
                      bool variational) {
  const Plan plan = make_plan(spec);
  const auto parameters = static_cast<double>(plan.parameter_size), fixed = static_cast<double>(plan.fixed_size);
  const double trained = (variational ? 2.0 : 1.0) * parameters;  // log sds are trained as well
  const auto steps = static_cast<double>(total_steps(recipe, observations));
  double member = fixed + 3.0 * trained + (variational ? parameters : 0.0) + 2.0 * steps;  // a growing list of losses
  for (const LayerPlan& layer : plan.layers) member += 4.0 * layer.features;               // scales, and the folded head
  const std::size_t batch = std::max<std::size_t>(1, recipe.batch);
  const double slices = std::clamp<double>(static_cast<double>((batch - 1) / cpu::kBlockRows + 1), 1.0, cpu::kMaxSlices);
  const double under_way = std::min(static_cast<double>(threads), static_cast<double>(members));
  const auto rows = static_cast<double>(std::min(batch, cpu::kBlockRows));
  return sizeof(float) * (static_cast<double>(members) * member + under_way * slices * trained +
                          threads * scratch_floats(plan, recipe, rows, variational));
}

}  // namespace drift
