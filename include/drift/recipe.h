#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "drift/enum_words.h"
#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

enum class LossKind {
  squared,  // |f - y|^2
  huber,    // per output: r^2 / 2 where |r| <= delta, delta (|r| - delta / 2) beyond
};
constexpr auto enum_words(LossKind) {
  return std::to_array<EnumWord<LossKind>>({{"squared", LossKind::squared}, {"huber", LossKind::huber}});
}

enum class Optimiser {
  adam,  // Kingma & Ba 2015
  muon,  // orthogonalised momentum for the bottlenecks, Adam for head and hyperparameters (Jordan 2024)
};
constexpr auto enum_words(Optimiser) {
  return std::to_array<EnumWord<Optimiser>>({{"adam", Optimiser::adam}, {"muon", Optimiser::muon}});
}

enum class Schedule {
  constant,
  cosine,  // linear warm-up over `warmup_steps` (at most a quarter of the run), then a half cosine down to zero
};
constexpr auto enum_words(Schedule) {
  return std::to_array<EnumWord<Schedule>>({{"constant", Schedule::constant}, {"cosine", Schedule::cosine}});
}

// Training of a network, as plain data. Minimises mean(weight * loss) + beta |Theta|^2 over minibatches without replacement,
// Theta being the bottlenecks and the head; hyperparameters have no weight decay. The schedule multiplies every rate.
struct Recipe {
  LossKind loss = LossKind::squared;
  double huber_delta = 0.1;    // > 0, in units of the (standardised) values
  double noise_sd = 0.01;      // >= 0, sigma_y: gives beta = sigma_y^2 / N, the MAP estimate under Theta ~ N(0, I)
  std::optional<double> beta;  // >= 0, set directly instead
  Optimiser optimiser = Optimiser::muon;
  double rate = 1e-2;          // > 0, Adam's
  double muon_rate = 5e-3;     // > 0, a bottleneck's [H, B] update is this times sqrt(H) times a matrix of singular values near 1
  double adam_beta1 = 0.9;     // [0, 1), decay of the first moment
  double adam_beta2 = 0.999;   // [0, 1), decay of the second moment
  double adam_epsilon = 1e-8;  // > 0
  double muon_momentum = 0.95;  // [0, 1), Nesterov
  int muon_iterations = 5;      // >= 1, Newton-Schulz
  Schedule schedule = Schedule::cosine;
  std::size_t warmup_steps = 50;
  double epochs = 1.0;              // > 0, may be a fraction
  std::size_t batch = 1024;         // 1 to 2^30, observations per step
  bool train_lengthscales = false;  // lengthscales follow the loss, each member its own
  bool train_amplitudes = false;
  double hyper_rate = 1e-2;  // > 0, Adam's rate for their logarithms
  double dropout = 0.0;  // [0, 1), share of the inputs of every bottleneck and of the head left out, anew for each row and step
  double value_noise = 0.0;  // >= 0, sd of noise added to the values, each member's its own and the same in every epoch, in their
                             // units, for an observation of weight one (src/train/value_noise.h)

  bool operator==(const Recipe&) const = default;
};

// The best settings found by trials (docs/notes/defaults.md).
Recipe default_recipe();
// The paper's: Adam at 1e-3, constant, one epoch of 1024, mean squared loss, beta = sigma_y^2 / N.
Recipe paper_recipe();

// Throws UsageError naming the field that is out of range.
void check(const Recipe& recipe);

// Steps that the recipe takes on `observations`, at least one. The last batch of an epoch may be short: an epoch has
// ceil(observations / batch) steps, and a fraction of an epoch is rounded to whole steps. Throws UsageError without observations.
std::uint64_t total_steps(const Recipe& recipe, std::size_t observations);

// The beta that multiplies |Theta|^2 on `observations`: the recipe's own or noise_sd^2 / observations.
double weight_decay(const Recipe& recipe, std::size_t observations);

std::string to_json(const Recipe& recipe);
// Throws Error on unknown keys (naming the nearest known one), missing ones, wrong types and values out of range.
Recipe recipe_from_json(const std::string& text);

}  // namespace drift
