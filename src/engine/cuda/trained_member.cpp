#include "engine/cuda/trained_member.h"

#include <fmt/format.h>

#include <algorithm>

#include "drift/error.h"
#include "engine/cuda/device.h"
#include "engine/cuda/fused_passes.h"
#include "engine/training_memory.h"
#include "network/plan.h"
#include "train/schedule.h"
#include "train/update_groups.h"

namespace drift::cuda {
namespace {

constexpr double kShareForMembers = 0.6;  // of the free memory. A pass takes 0.7 of what is left then, which is enough

constexpr std::size_t kFewestRows = 256;  // of a pass

std::size_t size(int count) { return static_cast<std::size_t>(count); }

// Memory of a member on the device besides the rows of a pass, in floats: arrays of Network, Trainer, FusedPasses and Muon.
std::size_t floats_of(const Plan& plan, const Recipe& recipe, Wanted wanted, bool fused) {
  std::size_t floats = plan.fixed_size + (wanted.variational ? 9 : 4) * plan.parameter_size;
  for (const LayerPlan& layer : plan.layers) {
    const std::size_t features = size(layer.features);
    if (layer.structured) floats += size(layer.hidden) * features;
    if (fused) floats += 4 * (features + size(kFusedTile)) * size(kFusedWidth);
  }
  for (const UpdateGroup& group : update_groups(plan, recipe, wanted.variational)) {
    const std::size_t cols = group.size / group.rows;
    if (group.rule == UpdateGroup::Rule::muon) floats += 2 * group.size + 10 * std::min(group.rows, cols) * cols;
  }
  return floats;
}

}  // namespace

Wanted wanted_of(const Recipe& recipe, bool variational) {
  return {.backward = true,
          .hyper = recipe.train_lengthscales || recipe.train_amplitudes,
          .coordinates = false,
          .dropout = recipe.dropout > 0.0,
          .variational = variational};
}

Wanted wanted_of(const TrainedMember& member) { return wanted_of(*member.recipe, !member.member->log_sd.empty()); }

bool is_fused(const TrainedMember& member, Precision precision) {
  return FusedPasses::fit(member.resolver->plan(), wanted_of(member), precision);
}

namespace {

// Of a member that is trained on the present device, whole batches in one pass.
std::size_t bytes_of(const Plan& plan, const Recipe& recipe, Wanted wanted, bool fused, std::size_t observations,
                     std::uint64_t steps) {
  const std::size_t row = fused ? FusedPasses::bytes_per_row(plan, 1, true) : Passes::bytes_per_row(plan, 1, wanted);
  const std::size_t of_member = sizeof(float) * (floats_of(plan, recipe, wanted, fused) + steps), free = free_device_bytes();
  const std::size_t most_rows = std::min({recipe.batch, observations, kMaxPassRows});
  // Passes make do with few rows at a time, but a network must be there as a whole.
  if (const std::size_t least = of_member + row * std::min(kFewestRows, most_rows); least > free) {
    throw Error(
        fmt::format("training one network needs {} MiB of the GPU's memory, of which {} are free; ask for fewer features or "
                    "choose --backend cpu",
                    (least >> 20) + 1, free >> 20));
  }
  return row * most_rows + of_member;
}

// So many of which the device has memory for at once.
std::size_t at_once(std::size_t bytes, std::size_t members) {
  const auto budget = static_cast<std::size_t>(kShareForMembers * static_cast<double>(free_device_bytes()));
  return std::clamp<std::size_t>(budget / bytes, 1, members);
}

}  // namespace

std::size_t members_at_once(std::span<const TrainedMember> members, std::size_t observations, std::uint64_t steps,
                            Precision precision) {
  const TrainedMember& first = members.front();
  const std::size_t bytes =
      bytes_of(first.resolver->plan(), *first.recipe, wanted_of(first), is_fused(first, precision), observations, steps);
  return at_once(bytes, members.size());
}

}  // namespace drift::cuda

namespace drift {

std::optional<double> gpu_training_bytes(const NetworkSpec& spec, const Recipe& recipe, std::size_t members,
                                         std::size_t observations, bool variational, Precision precision) {
  if (!cuda::why_no_gpu().empty()) return std::nullopt;
  const std::vector<int> devices = cuda::usable_devices();
  const cuda::OnDevice on(devices.front());
  const Plan plan = make_plan(spec);
  const cuda::Wanted wanted = cuda::wanted_of(recipe, variational);
  const std::size_t bytes = cuda::bytes_of(plan, recipe, wanted, cuda::FusedPasses::fit(plan, wanted, precision), observations,
                                           total_steps(recipe, observations));
  // Several devices share the members.
  const std::size_t shared = (members + devices.size() - 1) / devices.size();
  const auto rows = static_cast<double>(observations * (static_cast<std::size_t>(plan.coordinates) + 2));
  return static_cast<double>(cuda::at_once(bytes, shared) * bytes) + sizeof(float) * rows;
}

}  // namespace drift
