// Draws of whole networks. Dropout: Gal & Ghahramani 2016; one mask for all points, as they do for whole functions. Variational
// weights: train/variational.h has the mathematics.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "core/threads.h"
#include "drift/error.h"
#include "drift/uncertainty.h"
#include "network/plan.h"
#include "train/variational.h"

namespace drift {
namespace {

void check_draws(const Ensemble& ensemble, const Plan& plan, std::size_t draws) {
  if (ensemble.members.empty()) throw UsageError("draws: the ensemble has no members");
  if (draws < 1) throw UsageError("draws: request at least one per member");
  for (const Member& member : ensemble.members) {
    if (member.parameters.size() == plan.parameter_size) continue;
    throw UsageError(fmt::format("draws: member {} has {} parameters but its spec {}", member.index, member.parameters.size(),
                                 plan.parameter_size));
  }
}

// Calls change(member copied, stream) for every trained matrix of every draw.
template <class Change>
Ensemble make_draws(const Ensemble& ensemble, std::size_t draws, std::uint64_t seed, std::size_t first_draw, int threads,
                    const Change& change) {
  const Plan plan = make_plan(ensemble.spec);
  check_draws(ensemble, plan, draws);
  const std::vector<MatrixPlace> places = trained_matrices(plan);
  Ensemble result{ensemble.spec, ensemble.seed, std::vector<Member>(ensemble.members.size() * draws)};
  const std::size_t used = std::min(result.members.size(), static_cast<std::size_t>(threads_or_all(threads)));
  run_on_threads(static_cast<int>(used), [&](int thread) {
    for (std::size_t i = static_cast<std::size_t>(thread); i < result.members.size(); i += used) {
      const Member& from = ensemble.members[i / draws];
      Member& to = result.members[i];
      to.index = from.index;
      to.fixed = from.fixed;
      to.parameters = from.parameters;
      for (std::size_t matrix = 0; matrix < places.size(); ++matrix) {
        RandomStream random(
            {.seed = seed, .member = from.index, .layer = static_cast<std::uint16_t>(matrix), .purpose = Purpose::draws},
            static_cast<std::uint32_t>(first_draw + i % draws));
        change(from, places[matrix], random, to.parameters);
      }
    }
  });
  return result;
}

}  // namespace

Ensemble dropout_draws(const Ensemble& ensemble, double rate, std::size_t draws_a_member, std::uint64_t seed,
                       std::size_t first_draw, int threads) {
  if (!(rate >= 0.0 && rate < 1.0)) throw UsageError(fmt::format("dropout is {} but must be at least 0 and less than 1", rate));
  const auto kept = static_cast<float>(1.0 / (1.0 - rate));
  return make_draws(ensemble, draws_a_member, seed, first_draw, threads,
                    [&](const Member&, const MatrixPlace& place, RandomStream& random, std::vector<float>& parameters) {
                      for (std::size_t row = 0; row < place.droppable; ++row) {
                        const float factor = random.uniform() < rate ? 0.0F : kept;
                        float* weights = parameters.data() + place.offset + row * place.cols;
                        for (std::size_t col = 0; col < place.cols; ++col) weights[col] *= factor;
                      }
                    });
}

void make_variational(Ensemble& ensemble, double initial_sd) {
  if (!(initial_sd > 0.0 && initial_sd <= 1.0)) {
    throw UsageError(fmt::format("the weights' initial standard deviation is {} but must be above 0 and at most 1", initial_sd));
  }
  const Plan plan = make_plan(ensemble.spec);
  for (Member& member : ensemble.members) {
    member.log_sd.assign(plan.parameter_size, 0.0F);
    for (const MatrixPlace& place : trained_matrices(plan)) {
      std::fill_n(member.log_sd.data() + place.offset, place.size(), static_cast<float>(std::log(initial_sd)));
    }
  }
}

bool is_variational(const Ensemble& ensemble) { return !ensemble.members.empty() && !ensemble.members.front().log_sd.empty(); }

Ensemble variational_draws(const Ensemble& ensemble, std::size_t draws_a_member, std::uint64_t seed, std::size_t first_draw,
                           int threads) {
  for (const Member& member : ensemble.members) {
    if (member.log_sd.size() == member.parameters.size()) continue;
    throw UsageError(fmt::format("draws: member {} has no variational weights; train it with them", member.index));
  }
  return make_draws(ensemble, draws_a_member, seed, first_draw, threads,
                    [](const Member& from, const MatrixPlace& place, RandomStream& random, std::vector<float>& parameters) {
                      for (std::size_t i = place.offset; i < place.offset + place.size(); ++i) {
                        parameters[i] += static_cast<float>(std::exp(static_cast<double>(from.log_sd[i])) * random.normal());
                      }
                    });
}

}  // namespace drift
