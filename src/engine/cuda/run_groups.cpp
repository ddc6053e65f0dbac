#include "engine/cuda/run_groups.h"

#include <algorithm>
#include <optional>

#include "engine/scales.h"

namespace drift::cuda {
namespace {

Recipe rules_of(Recipe recipe) {
  recipe.rate = recipe.muon_rate = recipe.hyper_rate = 1.0;
  recipe.noise_sd = recipe.value_noise = 0.0;
  recipe.beta = std::nullopt;
  return recipe;
}

bool is_variational(const TrainingRun& run) { return !run.ensemble->members.front().log_sd.empty(); }

}  // namespace

bool go_together(const TrainingRun& a, const TrainingRun& b) {
  if (is_variational(a) != is_variational(b) || rules_of(a.recipe) != rules_of(b.recipe)) return false;
  const NetworkSpec &one = a.ensemble->spec, &other = b.ensemble->spec;
  if (a.recipe.train_lengthscales || a.recipe.train_amplitudes) return one == other;
  return with_unit_scales(one) == with_unit_scales(other);
}

std::vector<std::vector<std::size_t>> groups_of(std::span<const TrainingRun> runs, const std::vector<int>& kinds) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (kinds[i] < 0) continue;
    const auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return kinds[group.front()] == kinds[i] && go_together(runs[group.front()], runs[i]);
    });
    if (found != groups.end()) {
      found->push_back(i);
    } else {
      groups.push_back({i});
    }
  }
  return groups;
}

}  // namespace drift::cuda
