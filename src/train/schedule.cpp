#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace drift {

double rate_multiplier(const Recipe& recipe, std::uint64_t step, std::uint64_t total_steps) {
  if (recipe.schedule == Schedule::constant) return 1.0;
  const std::uint64_t warmup = std::min<std::uint64_t>(recipe.warmup_steps, total_steps / 4);
  if (step < warmup) return static_cast<double>(step + 1) / static_cast<double>(warmup + 1);
  if (step >= total_steps) return 0.0;
  const double done = static_cast<double>(step - warmup) / static_cast<double>(total_steps - warmup);
  return 0.5 * (1.0 + std::cos(std::numbers::pi * done));
}

}  // namespace drift
