#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/cpu/pass_parts.h"
#include "math/gemm.h"

namespace drift::cpu {

// One forward pass; holds what its steps share.
template <class Real>
class ForwardPass {
 public:
  ForwardPass(const Network<Real>& network, Workspace<Real>& ws, std::size_t rows, const PassNoise* noise)
      : network_(network), plan_(network.plan), ws_(ws), rows_(rows), noise_(noise) {
    ws_.dropped_ = noise != nullptr && noise->dropout > 0.0;
    ws_.drawn_ = noise != nullptr && network.variances != nullptr;
  }

  void run() {
    const std::size_t coordinates = at(plan_.coordinates);
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t i = 0; i < coordinates; ++i) {
        ws_.scaled_[row * coordinates + i] =
            ws_.coordinates_[row * coordinates + i] * static_cast<Real>(network_.scales.inverse_lengthscale[i]);
      }
    }
    for (std::size_t index = 0; index < plan_.layers.size(); ++index) {
      const LayerPlan& layer = plan_.layers[index];
      if (layer.activation()) {
        activate(index);
      } else if (layer.kind == FeatureKind::random) {
        features(index);
      }
      apply(matrix_of(network_, index, ws_.features(index, rows_), ws_.folded(layer)), ws_.destination(layer, rows_));
    }
    if (plan_.layers.back().bias) add_last_bias();
    if (!plan_.has_head) return;
    if (ws_.folds_head_) return add_shares();
    const MatrixView<Real> seen = ws_.head_seen(rows_);
    if (ws_.dropped_) std::copy_n(ws_.head_input_.data(), rows_ * seen.cols, seen.data);
    apply(head_of(network_, seen), ws_.output(rows_));
  }

 private:
  void features(std::size_t index) {
    const LayerPlan& layer = plan_.layers[index];
    Real* feature = ws_.feature(index);
    if (layer.structured) {
      hadamard_phase(hadamard_block(network_, layer, rows_, ws_.stride_), ws_.layers_[index].input.data(), ws_.slope(index));
    } else if (layer.hidden > 0) {
      gemm(Gemm<Real>{.m = rows_,
                      .n = at(layer.features),
                      .k = at(layer.hidden),
                      .a = ws_.layers_[index].input.data(),
                      .lda = at(layer.hidden),
                      .b = network_.fixed + layer.hidden_frequencies,
                      .ldb = at(layer.features),
                      .c = ws_.slope(index),
                      .ldc = ws_.stride_});
    }
    if (layer.planar()) {
      const bool keep_slope = ws_.wanted_.backward && ws_.wants_feature_gradient(layer);
      cosine_features(CosineBlock<Real>{.rows = rows_,
                                        .features = at(layer.features),
                                        .hidden_phase = layer.hidden > 0 ? ws_.slope(index) : nullptr,
                                        .coordinates = ws_.scaled_.data() + layer.first_coordinate,
                                        .coordinate_stride = at(plan_.coordinates),
                                        .coordinate_count = at(layer.coordinates),
                                        .coordinate_frequencies = network_.fixed + layer.coordinate_frequencies,
                                        .phases = network_.fixed + layer.phases,
                                        .amplitude = static_cast<Real>(network_.scales.layers[index].amplitude),
                                        .feature = feature,
                                        .slope = keep_slope ? ws_.slope(index) : nullptr,
                                        .stride = ws_.stride_});
    }
    if (layer.sphere) {
      legendre_features(legendre_block(network_, index, ws_.coordinates_.data(), rows_, ws_.stride_), feature, layer.planar());
    }
  }

  // The bias of the layer's matrix, which is added to its output.
  const Real* bias_of(const LayerPlan& layer) const {
    return layer.bias ? network_.parameters + layer.bottleneck + at(layer.features) * at(layer.outputs) : nullptr;
  }

  void activate(std::size_t index) {
    const LayerPlan& layer = plan_.layers[index];
    const ActivationBlock<Real> block{.rows = rows_,
                                      .cols = at(layer.features),
                                      .stride = ws_.stride_,
                                      .bias = bias_of(plan_.layers[index - 1]),
                                      .feature = ws_.feature(index)};
    if (layer.kind == FeatureKind::relu) return relu(block);
    sine(block, static_cast<Real>(layer.omega), ws_.wanted_.backward ? ws_.slope(index) : nullptr);
  }

  void add_last_bias() {
    const MatrixView<Real> out = ws_.output(rows_);
    const Real* bias = bias_of(plan_.layers.back());
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t col = 0; col < out.cols; ++col) out(row, col) += bias[col];
    }
  }

  // A folded head: the sum of the chains' shares, in their order.
  void add_shares() {
    const MatrixView<Real> out = ws_.output(rows_);
    for (std::size_t row = 0; row < rows_; ++row) {
      const Real* share = ws_.head_input_.data() + row * ws_.head_columns_;
      for (std::size_t col = 0; col < out.cols; ++col) {
        out(row, col) = 0;
        for (std::size_t i = col; i < ws_.head_columns_; i += out.cols) out(row, col) += share[i];
      }
    }
  }

  void apply(const TrainedMatrix<Real>& matrix, MatrixView<Real> out) {
    if (ws_.dropped_ && matrix.may_drop) drop(matrix);
    gemm(Gemm<Real>{.m = rows_,
                    .n = out.cols,
                    .k = matrix.input.cols,
                    .alpha = matrix.scale,
                    .a = matrix.input.data,
                    .lda = matrix.input.stride,
                    .b = matrix.weights,
                    .ldb = out.cols,
                    .c = out.data,
                    .ldc = out.stride});
    if (ws_.drawn_) add_noise(matrix, out);
  }

  void drop(const TrainedMatrix<Real>& matrix) {
    Real* mask = ws_.matrices_[matrix.index].mask.data();
    const MatrixView<Real> input = matrix.input;
    noise_->numbers.template mask<Real>(matrix.index, noise_->first_row, noise_->dropout,
                                        {mask, rows_, input.cols, input.stride});
    multiply(rows_, input.cols, input.stride, mask, input.data);
  }

  // out += scale sd eps, sd^2 = input^2 . S^2 (+ the bias's own, whose scale is 1 as its matrix's); keeps d out / d sd^2 = scale
  // eps / (2 sd).
  void add_noise(const TrainedMatrix<Real>& matrix, MatrixView<Real> out) {
    const MatrixView<Real> input = matrix.input;
    square(input, ws_.squares_.data());
    Real* variance = ws_.variance_.data();
    gemm(Gemm<Real>{.m = rows_,
                    .n = out.cols,
                    .k = input.cols,
                    .a = ws_.squares_.data(),
                    .lda = input.stride,
                    .b = network_.variances + matrix.offset,
                    .ldb = out.cols,
                    .c = variance,
                    .ldc = out.cols});
    if (matrix.bias) {
      const Real* own = network_.variances + matrix.bias_offset(out.cols);
      for (std::size_t row = 0; row < rows_; ++row) {
        for (std::size_t col = 0; col < out.cols; ++col) variance[row * out.cols + col] += own[col];
      }
    }
    const MatrixView<Real> spread(ws_.matrices_[matrix.index].spread.data(), rows_, out.cols);
    noise_->numbers.template normal<Real>(matrix.index, noise_->first_row, spread);
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t col = 0; col < out.cols; ++col) {
        // Features may all be zero at once by chance; their sum of squares then counts as the least normal number.
        const Real sd = std::sqrt(std::max(variance[row * out.cols + col], std::numeric_limits<Real>::min()));
        const Real eps = spread(row, col);
        out(row, col) += matrix.scale * sd * eps;
        spread(row, col) = matrix.scale * eps / (2 * sd);
      }
    }
  }

  const Network<Real>& network_;
  const Plan& plan_;
  Workspace<Real>& ws_;
  std::size_t rows_;
  const PassNoise* noise_;
};

template <class Real>
void forward(const Network<Real>& network, Workspace<Real>& ws, std::size_t rows, const PassNoise* noise) {
  ForwardPass<Real>(network, ws, rows, noise).run();
}

template void forward(const Network<float>&, Workspace<float>&, std::size_t, const PassNoise*);
template void forward(const Network<double>&, Workspace<double>&, std::size_t, const PassNoise*);

}  // namespace drift::cpu
