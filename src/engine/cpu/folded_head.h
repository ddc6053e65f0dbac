#pragma once

#include <vector>

#include "core/aligned_vector.h"
#include "engine/cpu/passes.h"

namespace drift::cpu {

// The head folded into the bottlenecks that feed it. Nothing lies between the two but numbers, so a chain's last features give
// its share of the output by one thin matrix. With T_c [features, B] the bottleneck of chain c, O_c [B, outputs] its rows of the
// head, s_c = scale_c head_scale and D = dL / d output [rows, outputs],
//   Q_c = s_c T_c . O_c                                     [features, outputs], once for all rows
//   output = sum over c of feature_c . Q_c
//   d feature_c = D . Q_c^T
//   G_c = feature_c^T . D                                   [features, outputs], summed over all rows, and then once
//   d T_c = s_c G_c . O_c^T,   d O_c = s_c T_c^T . G_c
// Products of rows x features x B become ones of rows x features x outputs. To the passes it is a network whose chains end in Q_c
// and whose head is a sum.

// Where the head is folded: there is one, its inputs are neither asked for nor random, and it has few outputs. On R rows the
// products take outputs (R + B) operations where they took R B; a quarter of B gains from R = B / 3 on, one output always.
bool folds_head(const Plan& plan, const Wanted& wanted);

// Turns what folded passes leave in `gradient` [parameters], G_c at the head of the bottlenecks' places, into gradients of the
// bottlenecks and of the head.
template <class Real>
void unfold_gradient(const Network<Real>& network, Real* gradient);

}  // namespace drift::cpu
