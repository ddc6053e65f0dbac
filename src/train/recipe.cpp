#include "drift/recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drift/error.h"

namespace drift {
namespace {

constexpr std::size_t kMostBatch = std::size_t{1} << 30;  // engines count a batch's rows in 32 bits

// Refuses NaN too.
void require(bool in_range, const char* field, double value, const char* range) {
  if (!in_range) throw UsageError(fmt::format("recipe: {} is {} but must be {}", field, value, range));
}

void require_positive(const char* field, double value) {
  require(value > 0.0 && std::isfinite(value), field, value, "a finite number greater than 0");
}

void require_at_least_zero(const char* field, double value) {
  require(value >= 0.0 && std::isfinite(value), field, value, "a finite number, at least 0");
}

void require_fraction(const char* field, double value) {
  require(value >= 0.0 && value < 1.0, field, value, "at least 0 and less than 1");
}

}  // namespace

Recipe default_recipe() {
  Recipe recipe;
  recipe.epochs = 4.0;  // on a million observations: a CRPS of 0.019 where one epoch reaches 0.027 (docs/notes/defaults.md)
  return recipe;
}

Recipe paper_recipe() {
  Recipe recipe;
  recipe.optimiser = Optimiser::adam;
  recipe.rate = 1e-3;
  recipe.schedule = Schedule::constant;
  recipe.warmup_steps = 0;
  return recipe;
}

void check(const Recipe& recipe) {
  require_positive("huber_delta", recipe.huber_delta);
  require_at_least_zero("noise_sd", recipe.noise_sd);
  if (recipe.beta) require_at_least_zero("beta", *recipe.beta);
  require_positive("rate", recipe.rate);
  require_positive("muon_rate", recipe.muon_rate);
  require_fraction("adam_beta1", recipe.adam_beta1);
  require_fraction("adam_beta2", recipe.adam_beta2);
  require_positive("adam_epsilon", recipe.adam_epsilon);
  require_fraction("muon_momentum", recipe.muon_momentum);
  require(recipe.muon_iterations >= 1, "muon_iterations", recipe.muon_iterations, "at least 1");
  require_positive("epochs", recipe.epochs);
  if (recipe.batch < 1 || recipe.batch > kMostBatch) {
    throw UsageError(
        fmt::format("recipe: batch is {} but must be from 1 to {}; one larger than the observations takes all of them",
                    recipe.batch, kMostBatch));
  }
  require_positive("hyper_rate", recipe.hyper_rate);
  require_fraction("dropout", recipe.dropout);
  require_at_least_zero("value_noise", recipe.value_noise);
}

std::uint64_t total_steps(const Recipe& recipe, std::size_t observations) {
  if (observations == 0) throw UsageError("recipe: there are no observations to train on");
  check(recipe);
  const std::uint64_t steps_per_epoch = (observations - 1) / recipe.batch + 1;
  const double steps = std::round(recipe.epochs * static_cast<double>(steps_per_epoch));
  constexpr double kMost = 9007199254740992.0;  // 2^53: beyond it a double does not count single steps
  if (steps > kMost) {
    throw UsageError(
        fmt::format("recipe: {} epochs of {} steps are too many to count; use fewer epochs", recipe.epochs, steps_per_epoch));
  }
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(steps));
}

double weight_decay(const Recipe& recipe, std::size_t observations) {
  if (recipe.beta) return *recipe.beta;
  return recipe.noise_sd * recipe.noise_sd / static_cast<double>(observations);
}

}  // namespace drift
