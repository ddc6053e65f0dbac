#include "engine/cpu/passes.h"

#include <algorithm>
#include <cassert>

#include "engine/cpu/folded_head.h"
#include "engine/cpu/pass_parts.h"

namespace drift::cpu {
namespace {

template <class Real>
std::size_t odd_line_stride(std::size_t features) {
  const std::size_t a_line = kCacheLine / sizeof(Real);
  std::size_t lines = (features + a_line - 1) / a_line;
  if (lines % 2 == 0) ++lines;
  return lines * a_line;
}

// A dense network whose matrices' rows lie so far apart that few cache sets hold a column.
template <class Real>
bool far_apart(const Plan& plan) {
  return plan.spec.dense && at(plan.spec.dense->width) * sizeof(Real) % 2048 == 0;
}

}  // namespace

template <class Real>
Network<Real>::Network(const ScaleResolver& resolver, const Real* member_fixed, const Real* member_parameters)
    : plan(resolver.plan()), fixed(member_fixed), parameters(member_parameters), scales(resolver.resolve(fixed, parameters)) {
  for (const LayerScales& layer : scales.layers) sphere_scales.emplace_back(layer.sphere.begin(), layer.sphere.end());
  fold_head();
}

template <class Real>
Workspace<Real>::Workspace(const Plan& plan, std::size_t max_rows, Wanted wanted)
    : plan_(plan), max_rows_(max_rows), wanted_(wanted), outputs_(at(plan.spec.outputs)), folds_head_(folds_head(plan, wanted)) {
  std::size_t features = 0;
  for (const LayerPlan& layer : plan.layers) features = std::max(features, at(layer.features));
  stride_ = odd_line_stride<Real>(features);
  head_columns_ = folds_head_ ? at(plan.head_inputs / plan.spec.bottleneck) * outputs_ : at(plan.head_inputs);
  layers_.resize(plan.layers.size());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerPlan& layer = plan.layers[i];
    layers_[i].input.resize(layer.activation() ? 0 : max_rows * at(layer.hidden));
    if (wanted.backward) layers_[i].input_gradient.resize(max_rows * (layer.activation() ? stride_ : at(layer.hidden)));
    if (layer.kind != FeatureKind::coordinates) layers_[feature_place(i)].feature.resize(max_rows * stride_);
    const bool needs_slope = (layer.planar() || layer.kind == FeatureKind::sine) && wants_feature_gradient(layer);
    if (wanted.backward ? needs_slope : i == 0) layers_[i].slope.resize(max_rows * stride_);
  }
  coordinates_.resize(max_rows * coordinate_count());
  scaled_.resize(coordinates_.size());
  head_input_.resize(plan.has_head ? max_rows * head_columns_ : 0);
  output_.resize(max_rows * outputs_);
  if (!wanted.backward) return;
  scaled_gradient_.resize(coordinates_.size());
  coordinate_gradient_.resize(coordinates_.size());
  head_gradient_.resize(folds_head_ ? 0 : head_input_.size());
  output_gradient_.resize(output_.size());
  feature_gradient_.resize(max_rows * stride_);
  if (far_apart<Real>(plan)) panel_.resize(kPanelRows * stride_);
  const bool any_sphere =
      std::any_of(plan.layers.begin(), plan.layers.end(), [](const LayerPlan& layer) { return layer.sphere; });
  if (any_sphere && wanted.hyper) sphere_feature_.resize(max_rows * stride_);
  allocate_noise(max_rows);
}

template <class Real>
void Workspace<Real>::allocate_noise(std::size_t max_rows) {
  if (!wanted_.dropout && !wanted_.variational) return;
  matrices_.resize(plan_.layers.size() + 1);
  std::size_t widest = outputs_;
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    const bool head = i == plan_.layers.size();
    if (head && !plan_.has_head) break;
    const std::size_t outputs = head ? outputs_ : at(plan_.layers[i].outputs);
    widest = std::max(widest, outputs);
    if (wanted_.dropout) matrices_[i].mask.resize(max_rows * (head ? at(plan_.head_inputs) : stride_));
    if (wanted_.variational) matrices_[i].spread.resize(max_rows * outputs);
  }
  if (wanted_.dropout) head_dropped_.resize(head_input_.size());
  if (!wanted_.variational) return;
  squares_.resize(max_rows * std::max(stride_, at(plan_.head_inputs)));
  variance_.resize(max_rows * widest);
}

template <class Real>
MatrixView<Real> Workspace<Real>::features(std::size_t layer, std::size_t rows) {
  if (plan_.layers[layer].kind == FeatureKind::coordinates) return coordinates(rows);
  return {feature(layer), rows, at(plan_.layers[layer].features), stride_};
}

template <class Real>
MatrixView<Real> Workspace<Real>::last_input(std::size_t rows) {
  assert(!folds_head_);
  if (plan_.has_head) return {head_input_.data(), rows, head_columns_};
  return features(plan_.layers.size() - 1, rows);
}

template <class Real>
MatrixView<Real> Workspace<Real>::destination(const LayerPlan& layer, std::size_t rows) {
  if (layer.next == kOutput) return output(rows);
  if (folded(layer)) {
    const std::size_t chain = at(layer.next_column / layer.outputs);
    return {head_input_.data() + chain * outputs_, rows, outputs_, head_columns_};
  }
  if (layer.chain == ChainId::dense) return {feature(at(layer.next)), rows, at(layer.outputs), stride_};
  AlignedVector<Real>& memory = layer.next == kHead ? head_input_ : layers_[at(layer.next)].input;
  return {memory.data() + layer.next_column, rows, at(layer.outputs), at(plan_.inputs_of(layer.next))};
}

template <class Real>
MatrixView<Real> Workspace<Real>::destination_gradient(const LayerPlan& layer, std::size_t rows) {
  if (layer.next == kOutput || folded(layer)) return output_gradient(rows);
  if (layer.chain == ChainId::dense) return {layers_[at(layer.next)].input_gradient.data(), rows, at(layer.outputs), stride_};
  AlignedVector<Real>& memory = layer.next == kHead ? head_gradient_ : layers_[at(layer.next)].input_gradient;
  return {memory.data() + layer.next_column, rows, at(layer.outputs), at(plan_.inputs_of(layer.next))};
}

template struct Network<float>;
template struct Network<double>;
template class Workspace<float>;
template class Workspace<double>;

}  // namespace drift::cpu
