#pragma once

#include "engine/cuda/kernels.h"
#include "math/huber.h"

namespace drift::cuda {

// Loss and slope of one residual; not a number stays that.
__device__ __forceinline__ float2 loss_of(const LossTarget& target, float residual) {
  if (target.kind == LossKind::squared) return {residual * residual, 2 * residual};
  return {huber_value(residual, target.delta), huber_slope(residual, target.delta)};
}

}  // namespace drift::cuda
