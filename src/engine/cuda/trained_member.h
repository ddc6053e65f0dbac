#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "drift/engine.h"
#include "engine/cuda/passes.h"
#include "engine/scales.h"

namespace drift::cuda {

inline constexpr std::size_t kMaxPassRows = 32768;  // in training; what is beyond is added up over passes

// A member of a run, and what is its run's own.
struct TrainedMember {
  Member* member;
  MemberProgress* progress;  // without moments: those are not wanted
  const ScaleResolver* resolver;
  const Recipe* recipe;
  std::uint64_t seed;
  std::size_t run;  // for the caller
};

// Tasks of its passes.
Wanted wanted_of(const TrainedMember& member);
Wanted wanted_of(const Recipe& recipe, bool variational);
// True if the fused kernels are used on the present device.
bool is_fused(const TrainedMember& member, Precision precision);

// As many of these members, of runs that go together (run_groups.h), as the present device has memory for at once, whole batches
// in one pass.
std::size_t members_at_once(std::span<const TrainedMember> members, std::size_t observations, std::uint64_t steps,
                            Precision precision);

}  // namespace drift::cuda
