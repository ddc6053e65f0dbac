// Training holds members, moments and each thread's workspace; what the spread comes from is made after it, beside the trained
// members: draws, or posteriors of last layers.

#include "fitting/foresee_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/memory_limit.h"
#include "core/threads.h"
#include "drift/error.h"
#include "engine/training_memory.h"
#include "fitting/plan_split.h"
#include "uncertainty/spread_memory.h"

namespace drift {
namespace {

constexpr double kProcessBytes = 300.0;  // of an observation: its keys and order in the cells, its place, its share of the tree
constexpr double kProgramMib = 40.0;     // libraries and what does not grow with the data
constexpr double kMib = 1048576.0;

double network_bytes(const FitPlan& plan) {
  if (!has_networks(plan)) return 0.0;
  const UncertaintySettings& spread = plan.settings.uncertainty;
  const std::size_t rows = plan.split.training.size();
  const int threads = threads_or_all(plan.settings.threads);
  const double training =
      training_bytes(plan.spec, plan.recipe, plan.members, rows, threads, spread.method == UncertaintyMethod::variational);
  switch (spread.method) {
    case UncertaintyMethod::last_layer:
      return std::max(training, last_layer_bytes(plan.spec, plan.members, rows, threads));
    case UncertaintyMethod::variational:
    case UncertaintyMethod::dropout:
      return std::max(training, draws_bytes(plan.spec, plan.members, spread.draws));
    case UncertaintyMethod::ensemble:
      break;
  }
  return training;
}

}  // namespace

void foresee_memory(FitPlan& plan, std::size_t observations) {
  if (plan.method == FitMethod::other) return;
  const auto n = static_cast<double>(observations);
  // The observations as they are and as the engine's rows.
  const double rows = n * (41.0 + 4.0 * (plan.spec.coordinates() + 3.0));
  const double process = plan.method == FitMethod::network ? 0.0 : kProcessBytes * n;
  plan.memory_mib = (network_bytes(plan) + process + rows) / kMib + kProgramMib;
  const double there_mib = memory_limit_bytes() / kMib;
  if (plan.memory_mib <= there_mib) return;
  throw Error(
      fmt::format("training needs {:.0f} MiB but this process may use {:.0f}; ask for fewer members, draws, features or "
                  "--threads, or keep fewer observations (--bbox, --from, --to)",
                  plan.memory_mib, there_mib));
}

std::optional<double> foresee_gpu_mib(const FitPlan& plan) {
  if (!has_networks(plan) || plan.settings.backend == Backend::cpu) return std::nullopt;
  const bool variational = plan.settings.uncertainty.method == UncertaintyMethod::variational;
  const auto bytes =
      gpu_training_bytes(plan.spec, plan.recipe, plan.members, plan.split.training.size(), variational, plan.settings.precision);
  return bytes ? std::optional(*bytes / kMib) : std::nullopt;
}

}  // namespace drift
