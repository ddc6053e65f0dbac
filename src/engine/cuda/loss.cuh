#pragma once

#include "engine/cuda/kernels.h"
#include "math/huber.h"

namespace drift::cuda {

// Loss and slope of one residual; not a number stays that.
__device__ __forceinline__ float2 loss_of(const LossTarget& target, float residual) {
  switch (target.kind) {
    case LossKind::squared:
      return {residual * residual, 2 * residual};
    case LossKind::huber:
      return {huber_value(residual, target.delta), huber_slope(residual, target.delta)};
  }
  return {NAN, NAN};  // there is no such loss; training ends where one is not a number
}

}  // namespace drift::cuda
