#pragma once

#include "engine/cuda/kernels.h"

namespace drift::cuda {

// Loss and slope of one residual; not a number stays that.
__device__ __forceinline__ float2 loss_of(const LossTarget& target, float residual) {
  const float size = fabsf(residual);
  if (target.kind == LossKind::squared) return {residual * residual, 2 * residual};
  if (size <= target.delta) return {residual * residual / 2, residual};
  return {target.delta * (size - target.delta / 2), isnan(residual) ? residual : copysignf(target.delta, residual)};
}

}  // namespace drift::cuda
