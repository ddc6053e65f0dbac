#include "engine/training_start.h"

#include <fmt/format.h>

#include "drift/error.h"
#include "engine/shapes.h"
#include "train/schedule.h"

namespace drift {

void check_training(const Ensemble& ensemble, const TrainingSet& data, const Recipe& recipe) {
  check(recipe);
  check_shapes(ensemble, data);
  if (!ensemble.members.front().log_sd.empty() && recipe.dropout > 0.0) {
    throw UsageError(fmt::format("recipe: dropout is {} but the weights are variational: choose one of the two", recipe.dropout));
  }
}

void begin_training(const Ensemble& ensemble, TrainingState& state, const TrainingSet& data, const Recipe& recipe) {
  check_training(ensemble, data, recipe);
  if (state.members.empty()) {
    for (const Member& member : ensemble.members) {
      const std::size_t size = trained_numbers(member);
      state.members.push_back(
          {.step = 0, .moment1 = std::vector<float>(size), .moment2 = std::vector<float>(size), .losses = {}});
    }
  }
  check_shapes(ensemble, state);
}

std::uint64_t steps_taken(const TrainingState& state) {
  std::uint64_t sum = 0;
  for (const MemberProgress& member : state.members) sum += member.step;
  return sum;
}

std::string divergence_message(const Recipe& recipe, std::uint32_t member, std::uint64_t step, std::uint64_t total) {
  return fmt::format(
      "training diverged: the loss of member {} is not finite at step {} of {}, at {:.3g} % of the learning rate {:g} "
      "(bottlenecks: "
      "{:g}); lower the rate, lengthen the warm-up, or look for outliers in the values",
      member, step + 1, total, 100.0 * rate_multiplier(recipe, step, total), recipe.rate, recipe.muon_rate);
}

}  // namespace drift
