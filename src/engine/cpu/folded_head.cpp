#include "engine/cpu/folded_head.h"

#include <algorithm>

#include "engine/cpu/pass_parts.h"
#include "math/gemm.h"

namespace drift::cpu {
namespace {

template <class Real>
Real folded_scale(const Network<Real>& network, std::size_t layer) {
  return static_cast<Real>(network.scales.layers[layer].output * network.plan.head_scale);
}

// Offset of O_c.
std::size_t head_rows(const Plan& plan, const LayerPlan& layer) {
  return plan.head + at(layer.next_column) * at(plan.spec.outputs);
}

bool few_outputs(const Plan& plan) { return plan.has_head && 4 * plan.spec.outputs <= plan.spec.bottleneck; }

}  // namespace

bool folds_head(const Plan& plan, const Wanted& wanted) {
  return few_outputs(plan) && !wanted.head_inputs && !wanted.dropout && !wanted.variational;
}

template <class Real>
void Network<Real>::fold_head() {
  if (!few_outputs(plan)) return;
  const std::size_t outputs = at(plan.spec.outputs);
  folded.resize(plan.layers.size());
  for (std::size_t index = 0; index < plan.layers.size(); ++index) {
    const LayerPlan& layer = plan.layers[index];
    if (layer.next != kHead) continue;
    folded[index].resize(at(layer.features) * outputs);
    gemm(Gemm<Real>{.m = at(layer.features),
                    .n = outputs,
                    .k = at(layer.outputs),
                    .alpha = folded_scale(*this, index),
                    .a = parameters + layer.bottleneck,
                    .lda = at(layer.outputs),
                    .b = parameters + head_rows(plan, layer),
                    .ldb = outputs,
                    .c = folded[index].data(),
                    .ldc = outputs});
  }
}

template <class Real>
void unfold_gradient(const Network<Real>& network, Real* gradient) {
  const std::size_t outputs = at(network.plan.spec.outputs);
  AlignedVector<Real> factor;  // G_c, whose place d T_c takes
  for (std::size_t index = 0; index < network.plan.layers.size(); ++index) {
    const LayerPlan& layer = network.plan.layers[index];
    if (layer.next != kHead) continue;
    const std::size_t features = at(layer.features), entries = at(layer.outputs), head = head_rows(network.plan, layer);
    const Real scale = folded_scale(network, index);
    Real* own = gradient + layer.bottleneck;
    factor.assign(own, own + features * outputs);
    gemm(Gemm<Real>{.transpose_a = Transpose::yes,
                    .m = entries,
                    .n = outputs,
                    .k = features,
                    .alpha = scale,
                    .a = network.parameters + layer.bottleneck,
                    .lda = entries,
                    .b = factor.data(),
                    .ldb = outputs,
                    .c = gradient + head,
                    .ldc = outputs});
    gemm(Gemm<Real>{.transpose_b = Transpose::yes,
                    .m = features,
                    .n = entries,
                    .k = outputs,
                    .alpha = scale,
                    .a = factor.data(),
                    .lda = outputs,
                    .b = network.parameters + head,
                    .ldb = outputs,
                    .c = own,
                    .ldc = entries});
  }
}

template void Network<float>::fold_head();
template void Network<double>::fold_head();
template void unfold_gradient(const Network<float>&, float*);
template void unfold_gradient(const Network<double>&, double*);

}  // namespace drift::cpu
