#pragma once

#include "engine/cpu/kernels.h"
#include "engine/cpu/passes.h"
#include "features/structured.h"

namespace drift::cpu {

// Code shared by the forward and the backward pass.

inline std::size_t at(int index) { return static_cast<std::size_t>(index); }

// A trained matrix as a pass meets it: output = scale (input . matrix) + bias.
template <class Real>
struct TrainedMatrix {
  std::size_t index;   // of its layer; the head's comes after the layers'
  std::size_t offset;  // into the parameters
  const Real* weights;
  Real scale;
  MatrixView<Real> input;  // [rows, inputs]
  bool bias = false;       // the matrix has one row more
  bool may_drop = true;    // dropout takes features, not coordinates

  // Of the bias, into the parameters.
  std::size_t bias_offset(std::size_t outputs) const { return offset + input.cols * outputs; }
};

template <class Real>
TrainedMatrix<Real> matrix_of(const Network<Real>& network, std::size_t layer, MatrixView<Real> input, bool folded) {
  const LayerPlan& plan = network.plan.layers[layer];
  return {.index = layer,
          .offset = plan.bottleneck,
          .weights = folded ? network.folded[layer].data() : network.parameters + plan.bottleneck,
          .scale = folded ? Real(1) : static_cast<Real>(network.scales.layers[layer].output),
          .input = input,
          .bias = plan.bias,
          .may_drop = plan.kind != FeatureKind::coordinates};
}

template <class Real>
TrainedMatrix<Real> head_of(const Network<Real>& network, MatrixView<Real> input) {
  return {.index = network.plan.layers.size(),
          .offset = network.plan.head,
          .weights = network.parameters + network.plan.head,
          .scale = static_cast<Real>(network.plan.head_scale),
          .input = input};
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

// squares [rows, stride] = input^2, entry by entry.
template <class Real>
void square(MatrixView<const Real> input, Real* squares) {
  for (std::size_t row = 0; row < input.rows; ++row) {
    const Real* from = input.row(row);
    Real* to = squares + row * input.stride;
    for (std::size_t col = 0; col < input.cols; ++col) to[col] = from[col] * from[col];
  }
}
template <class Real>
void square(MatrixView<Real> input, Real* squares) {
  square(MatrixView<const Real>(input), squares);
}

}  // namespace drift::cpu
