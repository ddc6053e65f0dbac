#include "engine/cuda/passes.h"

#include <algorithm>

#include "engine/cuda/gemm.h"

namespace drift::cuda {
namespace {

std::size_t size(int count) { return static_cast<std::size_t>(count); }

// Rows of features begin at multiples of 16 bytes.
std::size_t stride_of(const LayerPlan& layer) { return (size(layer.matrix_rows()) + 3) / 4 * 4; }

bool any_sphere(const Plan& plan) {
  return std::any_of(plan.layers.begin(), plan.layers.end(), [](const LayerPlan& layer) { return layer.sphere; });
}

Matrices shifted(Matrices m, std::size_t columns) { return {m.data + columns, m.stride, m.member_stride}; }

}  // namespace

std::size_t Passes::bytes_per_row(const Plan& plan, std::size_t members, Wanted wanted) {
  std::size_t floats = 4 * size(plan.coordinates) + 3 * size(plan.head_inputs) + 3 * size(plan.spec.outputs);
  std::size_t widest = 0, widest_output = size(plan.spec.outputs);
  for (const LayerPlan& layer : plan.layers) {
    widest = std::max(widest, stride_of(layer));
    widest_output = std::max(widest_output, size(layer.outputs));
    floats += 2 * size(layer.hidden);
    if (wanted.backward) floats += 2 * stride_of(layer);
    if (wanted.variational) floats += size(layer.outputs);
  }
  if (!wanted.backward) floats += 3 * widest;
  if (wanted.backward) floats += widest * (1 + (wanted.hyper && any_sphere(plan) ? 1 : 0));
  if (wanted.variational) floats += std::max(widest, size(plan.head_inputs)) + widest_output;
  return floats * members * sizeof(float);
}

Passes::Passes(const Network& network, std::size_t capacity, Wanted wanted, Precision precision)
    : network_(network),
      plan_(network.plan()),
      members_(size(network.members())),
      capacity_(capacity),
      wanted_(wanted),
      precision_(precision),
      columns_(size(plan_.coordinates)),
      outputs_(size(plan_.spec.outputs)),
      input_(plan_.layers.size()),
      input_gradient_(plan_.layers.size()),
      feature_(std::max<std::size_t>(plan_.layers.size(), 2)),
      slope_(plan_.layers.size()),
      spread_(plan_.layers.size() + 1) {
  const auto rows_of = [&](std::size_t cols) { return DeviceArray<float>(members_ * capacity_ * cols); };
  std::size_t widest = 0, widest_output = outputs_;
  for (const LayerPlan& layer : plan_.layers) {
    widest = std::max(widest, stride_of(layer));
    widest_output = std::max(widest_output, size(layer.outputs));
  }
  for (std::size_t i = 0; i < plan_.layers.size(); ++i) {
    const LayerPlan& layer = plan_.layers[i];
    if (!layer.activation()) input_[i] = rows_of(size(layer.hidden));
    if (wanted.backward) input_gradient_[i] = rows_of(layer.activation() ? stride_of(layer) : size(layer.hidden));
    if (wanted.backward) feature_[i] = rows_of(stride_of(layer));
    if (wanted.backward ? wants_slope(layer) : i == 0) slope_[i] = rows_of(wanted.backward ? stride_of(layer) : widest);
    if (wanted.variational) spread_[i] = rows_of(size(layer.outputs));
  }
  if (!wanted.backward) {
    feature_[0] = rows_of(widest);
    if (plan_.layers.front().chain == ChainId::dense) feature_[1] = rows_of(widest);
  }
  coordinates_ = rows_of(columns_);
  scaled_ = rows_of(columns_);
  output_ = rows_of(outputs_);
  if (plan_.has_head) head_input_ = rows_of(size(plan_.head_inputs));
  if (plan_.has_head && wanted.dropout) head_dropped_ = rows_of(size(plan_.head_inputs));
  if (wanted.variational) {
    spread_.back() = rows_of(outputs_);
    square_gradient_ = rows_of(std::max(widest, size(plan_.head_inputs)));
    variance_ = rows_of(widest_output);
  }
  if (!wanted.backward) return;
  output_gradient_ = rows_of(outputs_);
  if (plan_.has_head) head_gradient_ = rows_of(size(plan_.head_inputs));
  scaled_gradient_ = rows_of(columns_);
  coordinate_gradient_ = rows_of(columns_);
  feature_gradient_ = rows_of(widest);
  if (wanted.hyper && any_sphere(plan_)) sphere_feature_ = rows_of(widest);
}

bool Passes::wants_feature_gradient(const LayerPlan& layer) const {
  return layer.hidden > 0 || wanted_.coordinates || (wanted_.hyper && layer.kind == FeatureKind::random);
}

bool Passes::wants_slope(const LayerPlan& layer) const {
  return (layer.planar() || layer.kind == FeatureKind::sine) && wants_feature_gradient(layer);
}

// Without a way back all layers share one; an activation's come straight from the product with those before, so two take turns.
std::size_t Passes::feature_place(std::size_t layer) const {
  return wanted_.backward ? layer : plan_.layers[layer].chain == ChainId::dense ? layer % 2 : 0;
}
Matrices Passes::feature(std::size_t layer) { return packed(feature_[feature_place(layer)], stride_of(plan_.layers[layer])); }
Matrices Passes::slope(std::size_t layer) { return packed(slope_[wanted_.backward ? layer : 0], stride_of(plan_.layers[layer])); }

Matrices Passes::destination(const LayerPlan& layer) {
  if (layer.next == kOutput) return packed(output_, outputs_);
  if (layer.chain == ChainId::dense) return feature(size(layer.next));
  if (layer.next == kHead) return packed(head_input_, size(plan_.head_inputs), size(layer.next_column));
  return packed(input_[size(layer.next)], size(plan_.inputs_of(layer.next)), size(layer.next_column));
}

Matrices Passes::destination_gradient(const LayerPlan& layer) {
  if (layer.next == kOutput) return packed(output_gradient_, outputs_);
  if (layer.chain == ChainId::dense) return packed(input_gradient_[size(layer.next)], stride_of(plan_.layers[size(layer.next)]));
  if (layer.next == kHead) return packed(head_gradient_, size(plan_.head_inputs), size(layer.next_column));
  return packed(input_gradient_[size(layer.next)], size(plan_.inputs_of(layer.next)), size(layer.next_column));
}

Passes::TrainedMatrix Passes::matrix_of(std::size_t index) {
  const LayerPlan& layer = plan_.layers[index];
  const bool coordinates = layer.kind == FeatureKind::coordinates;
  return {.index = index,
          .offset = layer.bottleneck,
          .rows = layer.matrix_rows(),
          .cols = layer.outputs,
          .droppable = coordinates ? 0 : layer.features,
          .scale = network_.scales().output(index),
          .input = feature(index),
          .precision = coordinates ? Precision::float32 : precision_};
}

Passes::TrainedMatrix Passes::head() {
  return {.index = plan_.layers.size(),
          .offset = plan_.head,
          .rows = plan_.head_inputs,
          .cols = plan_.spec.outputs,
          .droppable = plan_.head_inputs,
          .scale = network_.scales().head(),
          .input = packed(dropped_ ? head_dropped_ : head_input_, size(plan_.head_inputs)),
          .precision = precision_};
}

NoisePlace Passes::noise_place(const TrainedMatrix& matrix, const PassNoise& noise) const {
  return {.numbers = noise.numbers,
          .members = noise.members,
          .matrix = static_cast<std::uint32_t>(matrix.index),
          .first_row = noise.first_row};
}

ConstMatrices Passes::last_input() const {
  if (plan_.has_head) return {head_input_.data(), size(plan_.head_inputs), capacity_ * size(plan_.head_inputs)};
  const std::size_t last = plan_.layers.size() - 1, stride = stride_of(plan_.layers[last]);
  return {feature_[feature_place(last)].data(), stride, capacity_ * stride};
}

void Passes::forward(int rows, const PassNoise* noise, cudaStream_t stream) {
  dropped_ = noise != nullptr && noise->dropout > 0.0;
  drawn_ = noise != nullptr && wanted_.variational;
  for (std::size_t i = 0; i < plan_.layers.size(); ++i) {
    make_features(i, rows, stream);
    apply(matrix_of(i), destination(plan_.layers[i]), rows, noise, stream);
  }
  if (!plan_.has_head) return;
  const TrainedMatrix matrix = head();
  if (dropped_) {
    copy_matrices(network_.members(), rows, plan_.head_inputs, constant(packed(head_input_, size(plan_.head_inputs))),
                  matrix.input, stream);
  }
  apply(matrix, packed(output_, outputs_), rows, noise, stream);
}

void Passes::make_features(std::size_t index, int rows, cudaStream_t stream) {
  const LayerPlan& layer = plan_.layers[index];
  const int members = network_.members();
  if (layer.kind == FeatureKind::coordinates) {
    copy_matrices(members, rows, layer.features, constant(packed(coordinates_, columns_)), feature(index), stream);
  } else if (layer.activation()) {
    activate({.members = members,
              .rows = rows,
              .features = layer.features,
              .sine = layer.kind == FeatureKind::sine,
              .omega = static_cast<float>(layer.omega),
              .feature = feature(index),
              .slope = wanted_.backward && layer.kind == FeatureKind::sine ? slope(index) : Matrices{}},
             stream);
  } else {
    random_features(index, rows, stream);
  }
  if (layer.bias) fill_column(members, rows, shifted(feature(index), size(layer.features)), 1.0F, stream);
}

void Passes::random_features(std::size_t index, int rows, cudaStream_t stream) {
  const LayerPlan& layer = plan_.layers[index];
  const int members = network_.members();
  if (layer.hidden > 0) {
    gemm({.precision = precision_,
          .members = members,
          .m = rows,
          .n = layer.features,
          .k = layer.hidden,
          .a = constant(packed(input_[index], size(layer.hidden))),
          .b = network_.frequencies(index),
          .c = slope(index)},
         stream);
  }
  if (layer.planar()) {
    const bool keep_slope = wanted_.backward && wants_feature_gradient(layer);
    cosine_features({.members = members,
                     .rows = rows,
                     .features = layer.features,
                     .hidden_phase = layer.hidden > 0 ? constant(slope(index)) : ConstMatrices{},
                     .coordinates = constant(packed(scaled_, columns_, size(layer.first_coordinate))),
                     .coordinate_count = layer.coordinates,
                     .frequencies = network_.fixed(layer.coordinate_frequencies, layer.features),
                     .phases = network_.fixed(layer.phases, layer.features),
                     .amplitude = network_.scales().amplitude(index),
                     .feature = feature(index),
                     .slope = keep_slope ? slope(index) : Matrices{}},
                    stream);
  }
  if (layer.sphere) legendre_features(legendre(index, rows), feature(index), layer.planar(), stream);
}

Legendre Passes::legendre(std::size_t index, int rows) {
  const LayerPlan& layer = plan_.layers[index];
  return {.members = network_.members(),
          .rows = rows,
          .features = layer.features,
          .points = constant(packed(coordinates_, columns_)),
          .poles = network_.fixed(layer.poles, layer.features),
          .degrees = network_.fixed(layer.degrees, layer.features),
          .scales = network_.scales().sphere(index)};
}

void Passes::apply(const TrainedMatrix& matrix, const Matrices& out, int rows, const PassNoise* noise, cudaStream_t stream) {
  const int members = network_.members();
  if (dropped_ && matrix.droppable > 0) {
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): nothing is dropped without noise
    drop(noise_place(matrix, *noise), noise->dropout, members, rows, matrix.droppable, matrix.input, stream);
  }
  gemm({.precision = matrix.precision,
        .members = members,
        .m = rows,
        .n = matrix.cols,
        .k = matrix.rows,
        .scale = matrix.scale,
        .a = constant(matrix.input),
        .b = network_.matrix(matrix.offset, matrix.cols),
        .c = out},
       stream);
  if (!drawn_) return;
  const auto cols = size(matrix.cols);
  gemm({.precision = matrix.precision,
        .members = members,
        .m = rows,
        .n = matrix.cols,
        .k = matrix.rows,
        .a = constant(matrix.input),
        .square_a = true,
        .b = network_.variance_matrix(matrix.offset, matrix.cols),
        .c = {variance_.data(), cols, size(rows) * cols}},
       stream);
  // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): nor drawn
  add_weight_noise(noise_place(matrix, *noise), members, rows, matrix.cols, variance_.data(), spread_[matrix.index].data(),
                   matrix.scale, out, stream);
}

}  // namespace drift::cuda
