#include "engine/cpu/passes.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/gemm.h"
#include "engine/cpu/kernels.h"
#include "features/structured.h"

namespace drift::cpu {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

template <class Real>
std::size_t odd_line_stride(std::size_t features) {
  const std::size_t a_line = kCacheLine / sizeof(Real);
  std::size_t lines = (features + a_line - 1) / a_line;
  if (lines % 2 == 0) ++lines;
  return lines * a_line;
}

template <class Real>
double dot(MatrixView<const Real> a, MatrixView<const Real> b) {
  double sum = 0;
  for (std::size_t row = 0; row < a.rows; ++row) {
    for (std::size_t col = 0; col < a.cols; ++col) sum += static_cast<double>(a(row, col)) * static_cast<double>(b(row, col));
  }
  return sum;
}

template <class Real>
LegendreBlock<Real> legendre_block(const Network<Real>& network, std::size_t index, const Real* points, std::size_t rows,
                                   std::size_t stride) {
  const LayerPlan& layer = network.plan.layers[index];
  return {.rows = rows,
          .features = at(layer.features),
          .points = points,
          .point_stride = at(network.plan.coordinates),
          .poles = network.fixed + layer.poles,
          .degrees = network.fixed + layer.degrees,
          .scales = network.sphere_scales[index].data(),
          .stride = stride};
}

template <class Real>
HadamardBlock<Real> hadamard_block(const Network<Real>& network, const LayerPlan& layer, std::size_t rows, std::size_t stride) {
  return {.rows = rows,
          .hidden = at(layer.hidden),
          .features = at(layer.features),
          .n = hadamard_size(at(layer.hidden)),
          .signs = network.fixed + layer.hidden_signs,
          .lengths = network.fixed + layer.hidden_lengths,
          .stride = stride};
}

}  // namespace

template <class Real>
Network<Real>::Network(const ScaleResolver& resolver, const Real* member_fixed, const Real* member_parameters)
    : plan(resolver.plan()), fixed(member_fixed), parameters(member_parameters), scales(resolver.resolve(fixed, parameters)) {
  for (const LayerScales& layer : scales.layers) sphere_scales.emplace_back(layer.sphere.begin(), layer.sphere.end());
}

template <class Real>
Workspace<Real>::Workspace(const Plan& plan, std::size_t max_rows, Wanted wanted)
    : plan_(plan), max_rows_(max_rows), wanted_(wanted), outputs_(at(plan.spec.outputs)) {
  std::size_t features = 0;
  for (const LayerPlan& layer : plan.layers) features = std::max(features, at(layer.features));
  stride_ = odd_line_stride<Real>(features);
  layers_.resize(plan.layers.size());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerPlan& layer = plan.layers[i];
    layers_[i].input.resize(max_rows * at(layer.hidden));
    if (wanted.backward) layers_[i].input_gradient.resize(max_rows * at(layer.hidden));
    if (i == 0 || wanted.backward) layers_[i].feature.resize(max_rows * stride_);
    const bool needs_slope = layer.planar() && wants_feature_gradient(layer);
    if (wanted.backward ? needs_slope : i == 0) layers_[i].slope.resize(max_rows * stride_);
  }
  coordinates_.resize(max_rows * coordinate_count());
  scaled_.resize(coordinates_.size());
  head_input_.resize(plan.has_head ? max_rows * at(plan.head_inputs) : 0);
  output_.resize(max_rows * outputs_);
  if (!wanted.backward) return;
  scaled_gradient_.resize(coordinates_.size());
  coordinate_gradient_.resize(coordinates_.size());
  head_gradient_.resize(head_input_.size());
  output_gradient_.resize(output_.size());
  feature_gradient_.resize(max_rows * stride_);
  const bool any_sphere =
      std::any_of(plan.layers.begin(), plan.layers.end(), [](const LayerPlan& layer) { return layer.sphere; });
  if (any_sphere && wanted.hyper) sphere_feature_.resize(max_rows * stride_);
}

template <class Real>
MatrixView<Real> Workspace<Real>::destination(const LayerPlan& layer, std::size_t rows) {
  if (layer.next == kOutput) return output(rows);
  AlignedVector<Real>& memory = layer.next == kHead ? head_input_ : layers_[at(layer.next)].input;
  return {memory.data() + layer.next_column, rows, at(layer.outputs), at(plan_.inputs_of(layer.next))};
}

template <class Real>
MatrixView<Real> Workspace<Real>::destination_gradient(const LayerPlan& layer, std::size_t rows) {
  if (layer.next == kOutput) return output_gradient(rows);
  AlignedVector<Real>& memory = layer.next == kHead ? head_gradient_ : layers_[at(layer.next)].input_gradient;
  return {memory.data() + layer.next_column, rows, at(layer.outputs), at(plan_.inputs_of(layer.next))};
}

template <class Real>
void forward(const Network<Real>& network, Workspace<Real>& ws, std::size_t rows) {
  const Plan& plan = network.plan;
  const std::size_t coordinates = at(plan.coordinates);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t i = 0; i < coordinates; ++i) {
      ws.scaled_[row * coordinates + i] =
          ws.coordinates_[row * coordinates + i] * static_cast<Real>(network.scales.inverse_lengthscale[i]);
    }
  }
  for (std::size_t index = 0; index < plan.layers.size(); ++index) {
    const LayerPlan& layer = plan.layers[index];
    const LayerScales& scales = network.scales.layers[index];
    const std::size_t features = at(layer.features);
    Real* feature = ws.feature(index);
    if (layer.structured) {
      hadamard_phase(hadamard_block(network, layer, rows, ws.stride_), ws.layers_[index].input.data(), ws.slope(index));
    } else if (layer.hidden > 0) {
      gemm(Gemm<Real>{.m = rows,
                      .n = features,
                      .k = at(layer.hidden),
                      .a = ws.layers_[index].input.data(),
                      .lda = at(layer.hidden),
                      .b = network.fixed + layer.hidden_frequencies,
                      .ldb = features,
                      .c = ws.slope(index),
                      .ldc = ws.stride_});
    }
    if (layer.planar()) {
      const bool keep_slope = ws.wanted_.backward && ws.wants_feature_gradient(layer);
      cosine_features(CosineBlock<Real>{.rows = rows,
                                        .features = features,
                                        .hidden_phase = layer.hidden > 0 ? ws.slope(index) : nullptr,
                                        .coordinates = ws.scaled_.data() + layer.first_coordinate,
                                        .coordinate_stride = coordinates,
                                        .coordinate_count = at(layer.coordinates),
                                        .coordinate_frequencies = network.fixed + layer.coordinate_frequencies,
                                        .phases = network.fixed + layer.phases,
                                        .amplitude = static_cast<Real>(scales.amplitude),
                                        .feature = feature,
                                        .slope = keep_slope ? ws.slope(index) : nullptr,
                                        .stride = ws.stride_});
    }
    if (layer.sphere) {
      legendre_features(legendre_block(network, index, ws.coordinates_.data(), rows, ws.stride_), feature, layer.planar());
    }
    const MatrixView<Real> out = ws.destination(layer, rows);
    gemm(Gemm<Real>{.m = rows,
                    .n = out.cols,
                    .k = features,
                    .alpha = static_cast<Real>(scales.output),
                    .a = feature,
                    .lda = ws.stride_,
                    .b = network.parameters + layer.bottleneck,
                    .ldb = out.cols,
                    .c = out.data,
                    .ldc = out.stride});
  }
  if (plan.has_head) {
    gemm(Gemm<Real>{.m = rows,
                    .n = ws.outputs_,
                    .k = at(plan.head_inputs),
                    .alpha = static_cast<Real>(plan.head_scale),
                    .a = ws.head_input_.data(),
                    .lda = at(plan.head_inputs),
                    .b = network.parameters + plan.head,
                    .ldb = ws.outputs_,
                    .c = ws.output_.data(),
                    .ldc = ws.outputs_});
  }
}

// One backward pass; holds what its steps share.
template <class Real>
class BackwardPass {
 public:
  BackwardPass(const Network<Real>& network, Workspace<Real>& ws, std::size_t rows, Real* gradient, bool accumulate)
      : network_(network),
        plan_(network.plan),
        ws_(ws),
        rows_(rows),
        gradient_(gradient),
        beta_(accumulate ? Real(1) : Real(0)),
        hyper_(plan_.hyperparameters.size(), 0.0) {}

  void run() {
    std::fill(ws_.scaled_gradient_.begin(), ws_.scaled_gradient_.end(), Real(0));
    std::fill(ws_.coordinate_gradient_.begin(), ws_.coordinate_gradient_.end(), Real(0));
    if (plan_.has_head) head();
    for (std::size_t index = plan_.layers.size(); index-- > 0;) layer(index);
    if (ws_.wanted_.coordinates || ws_.wanted_.hyper) coordinates();
    if (gradient_ == nullptr) return;
    for (std::size_t i = 0; i < hyper_.size(); ++i) {
      Real& out = gradient_[plan_.hyper + i];
      out = static_cast<Real>(hyper_[i] + (beta_ == 0 ? 0.0 : static_cast<double>(out)));
    }
  }

 private:
  void head() {
    const std::size_t inputs = at(plan_.head_inputs);
    const std::size_t outputs = ws_.outputs_;
    const auto scale = static_cast<Real>(plan_.head_scale);
    gemm(Gemm<Real>{.transpose_b = Transpose::yes,
                    .m = rows_,
                    .n = inputs,
                    .k = outputs,
                    .alpha = scale,
                    .a = ws_.output_gradient_.data(),
                    .lda = outputs,
                    .b = network_.parameters + plan_.head,
                    .ldb = outputs,
                    .c = ws_.head_gradient_.data(),
                    .ldc = inputs});
    if (gradient_ == nullptr) return;
    gemm(Gemm<Real>{.transpose_a = Transpose::yes,
                    .m = inputs,
                    .n = outputs,
                    .k = rows_,
                    .alpha = scale,
                    .a = ws_.head_input_.data(),
                    .lda = inputs,
                    .b = ws_.output_gradient_.data(),
                    .ldb = outputs,
                    .beta = beta_,
                    .c = gradient_ + plan_.head,
                    .ldc = outputs});
  }

  void layer(std::size_t index) {
    const LayerPlan& layer = plan_.layers[index];
    const MatrixView<const Real> out_gradient = ws_.destination_gradient(layer, rows_);
    const auto scale = static_cast<Real>(network_.scales.layers[index].output);
    if (gradient_ != nullptr) {
      gemm(Gemm<Real>{.transpose_a = Transpose::yes,
                      .m = at(layer.features),
                      .n = out_gradient.cols,
                      .k = rows_,
                      .alpha = scale,
                      .a = ws_.feature(index),
                      .lda = ws_.stride_,
                      .b = out_gradient.data,
                      .ldb = out_gradient.stride,
                      .beta = beta_,
                      .c = gradient_ + layer.bottleneck,
                      .ldc = out_gradient.cols});
    }
    if (!ws_.wants_feature_gradient(layer)) return;
    Real* feature_gradient = ws_.feature_gradient_.data();
    gemm(Gemm<Real>{.transpose_b = Transpose::yes,
                    .m = rows_,
                    .n = at(layer.features),
                    .k = out_gradient.cols,
                    .alpha = scale,
                    .a = out_gradient.data,
                    .lda = out_gradient.stride,
                    .b = network_.parameters + layer.bottleneck,
                    .ldb = out_gradient.cols,
                    .c = feature_gradient,
                    .ldc = ws_.stride_});
    double sphere_share = 0;
    if (layer.sphere) sphere_share = sphere(index);
    if (ws_.wanted_.hyper && layer.planar()) {
      // Outputs are proportional to the amplitudes of their features: dL / d log(sigma) = sum output * d output.
      hyper_[at(layer.amplitude)] += dot<Real>(ws_.destination(layer, rows_), out_gradient) - sphere_share;
    }
    if (layer.planar()) planar(index);
  }

  // The spherical share of a layer: gradients along the sphere and of its own hyperparameters. Returns sum feature * d feature.
  double sphere(std::size_t index) {
    const LayerPlan& layer = plan_.layers[index];
    const auto block = legendre_block(network_, index, ws_.coordinates_.data(), rows_, ws_.stride_);
    const Real* feature_gradient = ws_.feature_gradient_.data();
    if (ws_.wanted_.coordinates) {
      legendre_gradient(block, feature_gradient, ws_.coordinate_gradient_.data(), at(plan_.coordinates));
    }
    if (!ws_.wanted_.hyper) return 0;
    Real* feature = ws_.sphere_feature_.data();
    legendre_features(block, feature, false);
    const std::vector<double>& slope = network_.scales.layers[index].sphere_slope;
    double share = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t m = 0; m < at(layer.features); ++m) {
        const double term = static_cast<double>(feature[row * ws_.stride_ + m]) * feature_gradient[row * ws_.stride_ + m];
        share += term;
        hyper_[at(layer.sphere_lengthscale)] += term * slope[m];
      }
    }
    hyper_[at(layer.sphere_amplitude)] += share;
    return share;
  }

  void planar(std::size_t index) {
    const LayerPlan& layer = plan_.layers[index];
    const std::size_t features = at(layer.features);
    Real* phase_gradient = ws_.feature_gradient_.data();
    multiply(rows_, features, ws_.stride_, ws_.slope(index), phase_gradient);
    if (layer.hidden > 0) {
      auto& memory = ws_.layers_[index];
      if (layer.structured) {
        hadamard_gradient(hadamard_block(network_, layer, rows_, ws_.stride_), phase_gradient, memory.input_gradient.data());
      } else {
        gemm(Gemm<Real>{.transpose_b = Transpose::yes,
                        .m = rows_,
                        .n = at(layer.hidden),
                        .k = features,
                        .a = phase_gradient,
                        .lda = ws_.stride_,
                        .b = network_.fixed + layer.hidden_frequencies,
                        .ldb = features,
                        .c = memory.input_gradient.data(),
                        .ldc = at(layer.hidden)});
      }
      if (ws_.wanted_.hyper) {
        // u is proportional to 1 / lengthscale: dL / d log(l) = -sum u * du.
        const MatrixView<const Real> input(memory.input.data(), rows_, at(layer.hidden));
        const MatrixView<const Real> input_gradient(memory.input_gradient.data(), rows_, at(layer.hidden));
        hyper_[at(layer.hidden_lengthscale)] -= dot<Real>(input, input_gradient);
      }
    }
    if (layer.coordinates > 0 && (ws_.wanted_.coordinates || ws_.wanted_.hyper)) {
      gemm(Gemm<Real>{.transpose_b = Transpose::yes,
                      .m = rows_,
                      .n = at(layer.coordinates),
                      .k = features,
                      .a = phase_gradient,
                      .lda = ws_.stride_,
                      .b = network_.fixed + layer.coordinate_frequencies,
                      .ldb = features,
                      .beta = 1,
                      .c = ws_.scaled_gradient_.data() + layer.first_coordinate,
                      .ldc = at(plan_.coordinates)});
    }
  }

  void coordinates() {
    const std::size_t count = at(plan_.coordinates);
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t i = 0; i < count; ++i) {
        const Real gradient = ws_.scaled_gradient_[row * count + i];
        ws_.coordinate_gradient_[row * count + i] += gradient * static_cast<Real>(network_.scales.inverse_lengthscale[i]);
        const int lengthscale = plan_.coordinate_lengthscale[i];
        if (lengthscale != kNone) hyper_[at(lengthscale)] -= static_cast<double>(ws_.scaled_[row * count + i]) * gradient;
      }
    }
  }

  const Network<Real>& network_;
  const Plan& plan_;
  Workspace<Real>& ws_;
  std::size_t rows_;
  Real* gradient_;
  Real beta_;
  std::vector<double> hyper_;
};

template <class Real>
void backward(const Network<Real>& network, Workspace<Real>& ws, std::size_t rows, Real* gradient, bool accumulate) {
  BackwardPass<Real>(network, ws, rows, gradient, accumulate).run();
}

template struct Network<float>;
template struct Network<double>;
template class Workspace<float>;
template class Workspace<double>;
template void forward(const Network<float>&, Workspace<float>&, std::size_t);
template void forward(const Network<double>&, Workspace<double>&, std::size_t);
template void backward(const Network<float>&, Workspace<float>&, std::size_t, float*, bool);
template void backward(const Network<double>&, Workspace<double>&, std::size_t, double*, bool);

}  // namespace drift::cpu
