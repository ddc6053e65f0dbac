#include <algorithm>
#include <cmath>

#include "engine/cuda/gemm.h"
#include "engine/cuda/passes.h"

namespace drift::cuda {
namespace {

std::size_t size(int count) { return static_cast<std::size_t>(count); }

}  // namespace

void Passes::backward(int rows, const GradientPlace& gradient, const PassNoise* noise, cudaStream_t stream) {
  if (wanted_.coordinates || wanted_.hyper) {
    for (DeviceArray<float>* array : {&scaled_gradient_, &coordinate_gradient_}) {
      check_cuda(cudaMemsetAsync(array->data(), 0, array->size() * sizeof(float), stream), "clearing gradients");
    }
  }
  if (plan_.has_head) {
    const TrainedMatrix matrix = head();
    const Matrices out_gradient = packed(output_gradient_, outputs_);
    matrix_gradient(matrix, out_gradient, rows, gradient, stream);
    input_gradient(matrix, out_gradient, rows, noise, packed(head_gradient_, size(plan_.head_inputs)), stream);
  }
  for (std::size_t i = plan_.layers.size(); i-- > 0;) layer_backward(i, rows, gradient, noise, stream);
  if (wanted_.coordinates || wanted_.hyper) coordinates_backward(rows, gradient, stream);
}

void Passes::layer_backward(std::size_t index, int rows, const GradientPlace& gradient, const PassNoise* noise,
                            cudaStream_t stream) {
  const LayerPlan& layer = plan_.layers[index];
  const int members = network_.members();
  const Matrices out_gradient = destination_gradient(layer);
  const TrainedMatrix matrix = matrix_of(index);
  matrix_gradient(matrix, out_gradient, rows, gradient, stream);
  if (!wants_feature_gradient(layer)) return;
  if (layer.kind == FeatureKind::coordinates) {
    return input_gradient(matrix, out_gradient, rows, noise, packed(scaled_gradient_, columns_), stream);
  }
  if (layer.activation()) {
    const Matrices z_gradient = packed(input_gradient_[index], feature(index).stride);
    input_gradient(matrix, out_gradient, rows, noise, z_gradient, stream);
    if (layer.kind == FeatureKind::relu)
      return relu_gradient(members, rows, layer.features, constant(feature(index)), z_gradient, stream);
    return multiply(members, rows, layer.features, constant(slope(index)), z_gradient, stream);
  }
  const Matrices feature_gradient = packed(feature_gradient_, feature(index).stride);
  input_gradient(matrix, out_gradient, rows, noise, feature_gradient, stream);
  if (layer.sphere) sphere_backward(index, rows, gradient, stream);
  if (wanted_.hyper && layer.chain == ChainId::dense) {
    // Features and their gradients both carry dropout's 1 / (1 - rate); one of them counts.
    const double kept = dropped_ ? 65536.0 / (65536.0 - std::clamp(std::lround(noise->dropout * 65536.0), 0L, 65535L)) : 1.0;
    dot(rows, layer.features, feature(index), feature_gradient, {}, 1.0 / kept, layer.amplitude, gradient, stream);
  } else if (wanted_.hyper && layer.planar()) {
    dot(rows, layer.outputs, destination(layer), out_gradient, {}, 1.0, layer.amplitude, gradient, stream);
  }
  if (layer.planar()) planar_backward(index, rows, gradient, stream);
}

// dL / d matrix, and dL / d S^2 where it is variational; leaves dL / d (the output's variance) in variance_.
void Passes::matrix_gradient(const TrainedMatrix& matrix, const Matrices& out_gradient, int rows, const GradientPlace& gradient,
                             cudaStream_t stream) {
  const int members = network_.members();
  if (drawn_) {
    spread_gradient(members, rows, matrix.cols, spread_[matrix.index].data(), constant(out_gradient), variance_.data(), stream);
  }
  if (gradient.data == nullptr) return;
  const auto cols = size(matrix.cols);
  Gemm product = {.precision = matrix.precision,
                  .transpose_a = true,
                  .members = members,
                  .m = matrix.rows,
                  .n = matrix.cols,
                  .k = rows,
                  .scale = matrix.scale,
                  .a = constant(matrix.input),
                  .b = constant(out_gradient),
                  .beta = gradient.accumulate ? 1.0F : 0.0F,
                  .c = {gradient.data + matrix.offset, cols, gradient.stride}};
  gemm(product, stream);
  if (!drawn_) return;
  product.scale = {};
  product.square_a = true;
  product.b = {variance_.data(), cols, size(rows) * cols};
  product.c.data = gradient.data + plan_.parameter_size + matrix.offset;
  gemm(product, stream);
}

// dL / d input, the input being as it was before dropout. Follows matrix_gradient.
void Passes::input_gradient(const TrainedMatrix& matrix, const Matrices& out_gradient, int rows, const PassNoise* noise,
                            const Matrices& result, cudaStream_t stream) {
  const int members = network_.members();
  const int inputs = matrix.index < plan_.layers.size() ? plan_.layers[matrix.index].features : matrix.rows;
  const auto cols = size(matrix.cols);
  Gemm product = {.precision = matrix.precision,
                  .transpose_b = true,
                  .members = members,
                  .m = rows,
                  .n = inputs,
                  .k = matrix.cols,
                  .scale = matrix.scale,
                  .a = constant(out_gradient),
                  .b = network_.matrix(matrix.offset, matrix.cols),
                  .c = result};
  gemm(product, stream);
  if (drawn_) {
    const Matrices share = packed(square_gradient_, size(inputs));
    product.scale = {};
    product.a = {variance_.data(), cols, size(rows) * cols};
    product.b = network_.variance_matrix(matrix.offset, matrix.cols);
    product.c = share;
    gemm(product, stream);
    add_square_gradient(members, rows, inputs, constant(matrix.input), constant(share), result, stream);
  }
  if (dropped_ && matrix.droppable > 0) {
    drop(noise_place(matrix, *noise), noise->dropout, members, rows, matrix.droppable, result, stream);
  }
}

// NOLINTNEXTLINE(readability-function-size): as many as the kernel has
void Passes::dot(int rows, int cols, const Matrices& a, const Matrices& b, ConstMatrices weight, double sign, int index,
                 const GradientPlace& gradient, cudaStream_t stream) const {
  add_dot({.members = network_.members(),
           .rows = rows,
           .cols = cols,
           .a = constant(a),
           .b = constant(b),
           .weight = weight,
           .sign = sign,
           .sums = gradient.hyper,
           .sums_stride = static_cast<int>(plan_.hyperparameters.size()),
           .index = index},
          stream);
}

void Passes::sphere_backward(std::size_t index, int rows, const GradientPlace& gradient, cudaStream_t stream) {
  const LayerPlan& layer = plan_.layers[index];
  const Legendre block = legendre(index, rows);
  const Matrices feature_gradient = packed(feature_gradient_, feature(index).stride);
  if (wanted_.coordinates) {
    legendre_gradient(block, constant(feature_gradient), packed(coordinate_gradient_, columns_), stream);
  }
  if (!wanted_.hyper) return;
  const Matrices alone = packed(sphere_feature_, feature(index).stride);
  legendre_features(block, alone, false, stream);
  dot(rows, layer.features, alone, feature_gradient, network_.scales().sphere_slope(index), 1.0, layer.sphere_lengthscale,
      gradient, stream);
  dot(rows, layer.features, alone, feature_gradient, {}, 1.0, layer.sphere_amplitude, gradient, stream);
  if (layer.planar()) dot(rows, layer.features, alone, feature_gradient, {}, -1.0, layer.amplitude, gradient, stream);
}

void Passes::planar_backward(std::size_t index, int rows, const GradientPlace& gradient, cudaStream_t stream) {
  const LayerPlan& layer = plan_.layers[index];
  const int members = network_.members();
  const Matrices phase_gradient = packed(feature_gradient_, feature(index).stride);
  multiply(members, rows, layer.features, constant(slope(index)), phase_gradient, stream);
  if (layer.hidden > 0) {
    const Matrices input_gradient = packed(input_gradient_[index], size(layer.hidden));
    gemm({.precision = precision_,
          .transpose_b = true,
          .members = members,
          .m = rows,
          .n = layer.hidden,
          .k = layer.features,
          .a = constant(phase_gradient),
          .b = network_.frequencies(index),
          .c = input_gradient},
         stream);
    if (wanted_.hyper) {
      dot(rows, layer.hidden, packed(input_[index], size(layer.hidden)), input_gradient, {}, -1.0, layer.hidden_lengthscale,
          gradient, stream);
    }
  }
  if (layer.coordinates > 0 && (wanted_.coordinates || wanted_.hyper)) {
    cuda::coordinate_gradient(members, rows, layer.features, layer.coordinates, constant(phase_gradient),
                              network_.fixed(layer.coordinate_frequencies, layer.features),
                              packed(scaled_gradient_, columns_, size(layer.first_coordinate)), stream);
  }
}

void Passes::coordinates_backward(int rows, const GradientPlace& gradient, cudaStream_t stream) {
  add_scaled_gradient(scaled_gradient_.data(), rows, plan_.coordinates, network_.members(), capacity_,
                      network_.scales().inverse_lengthscale(), coordinate_gradient_.data(), stream);
  if (plan_.unit_vector) {
    make_tangent(coordinates_.data(), rows, plan_.coordinates, network_.members(), capacity_, coordinate_gradient_.data(),
                 stream);
  }
  if (!wanted_.hyper) return;
  for (int i = 0; i < plan_.coordinates; ++i) {
    const int lengthscale = plan_.coordinate_lengthscale[size(i)];
    if (lengthscale == kNone) continue;
    dot(rows, 1, packed(scaled_, columns_, size(i)), packed(scaled_gradient_, columns_, size(i)), {}, -1.0, lengthscale, gradient,
        stream);
  }
}

}  // namespace drift::cuda
