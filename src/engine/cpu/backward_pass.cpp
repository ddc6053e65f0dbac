#include <algorithm>

#include "engine/cpu/pass_parts.h"
#include "math/gemm.h"

namespace drift::cpu {
namespace {

template <class Real>
double dot(MatrixView<const Real> a, MatrixView<const Real> b) {
  double sum = 0;
  for (std::size_t row = 0; row < a.rows; ++row) {
    for (std::size_t col = 0; col < a.cols; ++col) sum += static_cast<double>(a(row, col)) * static_cast<double>(b(row, col));
  }
  return sum;
}

}  // namespace

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
    if (plan_.has_head && !ws_.folds_head_) head();
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
    const auto matrix = head_of(network_, ws_.head_seen(rows_));
    matrix_gradient(matrix, ws_.output_gradient(rows_));
    input_gradient(matrix, ws_.output_gradient(rows_), ws_.head_gradient_.data());
  }

  void layer(std::size_t index) {
    const LayerPlan& layer = plan_.layers[index];
    const MatrixView<Real> out_gradient = ws_.destination_gradient(layer, rows_);
    const auto matrix = matrix_of(network_, index, ws_.features(index, rows_), ws_.folded(layer));
    matrix_gradient(matrix, out_gradient);
    if (!ws_.wants_feature_gradient(layer)) return;
    if (layer.kind == FeatureKind::coordinates) return input_gradient(matrix, out_gradient, ws_.scaled_gradient_.data());
    if (layer.activation()) return activation(index, matrix, out_gradient);
    input_gradient(matrix, out_gradient, ws_.feature_gradient_.data());
    double sphere_share = 0;
    if (layer.sphere) sphere_share = sphere(index);
    if (ws_.wanted_.hyper && layer.chain == ChainId::dense) {
      hyper_[at(layer.amplitude)] += feature_share(matrix);
    } else if (ws_.wanted_.hyper && layer.planar()) {
      // Outputs are proportional to the amplitudes of their features: dL / d log(sigma) = sum output * d output.
      hyper_[at(layer.amplitude)] += dot<Real>(ws_.destination(layer, rows_), out_gradient) - sphere_share;
    }
    if (layer.planar()) planar(index);
  }

  void activation(std::size_t index, const TrainedMatrix<Real>& matrix, MatrixView<const Real> out_gradient) {
    const MatrixView<Real> feature = matrix.input;
    Real* z_gradient = ws_.layers_[index].input_gradient.data();
    input_gradient(matrix, out_gradient, z_gradient);
    if (plan_.layers[index].kind == FeatureKind::relu) {
      relu_gradient(rows_, feature.cols, feature.stride, feature.data, z_gradient);
    } else {
      multiply(rows_, feature.cols, feature.stride, ws_.slope(index), z_gradient);
    }
  }

  // sum feature * d feature, the features being as they were before dropout.
  double feature_share(const TrainedMatrix<Real>& matrix) {
    const MatrixView<Real> feature = matrix.input;
    const Real* mask = ws_.dropped_ ? ws_.matrices_[matrix.index].mask.data() : nullptr;
    double sum = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      for (std::size_t i = row * feature.stride; i < row * feature.stride + feature.cols; ++i) {
        const double term = static_cast<double>(feature.data[i]) * static_cast<double>(ws_.feature_gradient_[i]);
        if (mask == nullptr) {
          sum += term;
        } else if (mask[i] != 0) {
          sum += term / static_cast<double>(mask[i]);
        }
      }
    }
    return sum;
  }

  // dL / d matrix, and dL / d S^2 where it is variational; leaves dL / d (the output's variance) in ws_.variance_.
  void matrix_gradient(const TrainedMatrix<Real>& matrix, MatrixView<const Real> out_gradient) {
    Real* variance_gradient = ws_.variance_.data();
    if (ws_.drawn_) {
      const Real* spread = ws_.matrices_[matrix.index].spread.data();
      for (std::size_t row = 0; row < rows_; ++row) {
        for (std::size_t col = 0, i = row * out_gradient.cols; col < out_gradient.cols; ++col, ++i) {
          variance_gradient[i] = spread[i] * out_gradient(row, col);
        }
      }
    }
    if (gradient_ == nullptr) return;
    product_gradient(matrix, matrix.input.data, matrix.scale, out_gradient, gradient_ + matrix.offset);
    bias_gradient(matrix, out_gradient, gradient_);
    if (!ws_.drawn_) return;
    const MatrixView<const Real> by_variance(variance_gradient, rows_, out_gradient.cols);
    square(matrix.input, ws_.squares_.data());
    product_gradient(matrix, ws_.squares_.data(), 1, by_variance, gradient_ + plan_.parameter_size + matrix.offset);
    bias_gradient(matrix, by_variance, gradient_ + plan_.parameter_size);
  }

  void bias_gradient(const TrainedMatrix<Real>& matrix, MatrixView<const Real> out_gradient, Real* gradient) {
    if (!matrix.bias) return;
    column_sums(rows_, out_gradient.cols, out_gradient.stride, out_gradient.data, beta_ != 0,
                gradient + matrix.bias_offset(out_gradient.cols));
  }

  // result [inputs, outputs] (+)= scale input^T . out_gradient
  void product_gradient(const TrainedMatrix<Real>& matrix, const Real* input, Real scale, MatrixView<const Real> out_gradient,
                        Real* result) {
    gemm(Gemm<Real>{.transpose_a = Transpose::yes,
                    .m = matrix.input.cols,
                    .n = out_gradient.cols,
                    .k = rows_,
                    .alpha = scale,
                    .a = input,
                    .lda = matrix.input.stride,
                    .b = out_gradient.data,
                    .ldb = out_gradient.stride,
                    .beta = beta_,
                    .c = result,
                    .ldc = out_gradient.cols});
  }

  // dL / d input, with the input's stride, the input being as it was before dropout. Follows matrix_gradient.
  void input_gradient(const TrainedMatrix<Real>& matrix, MatrixView<const Real> out_gradient, Real* result) {
    const std::size_t inputs = matrix.input.cols, stride = matrix.input.stride;
    const auto back = [&](MatrixView<const Real> gradient, const Real* weights, Real scale, Real* to) {
      const Gemm<Real> product{.transpose_b = Transpose::yes,
                               .m = rows_,
                               .n = inputs,
                               .k = gradient.cols,
                               .alpha = scale,
                               .a = gradient.data,
                               .lda = gradient.stride,
                               .b = weights,
                               .ldb = gradient.cols,
                               .c = to,
                               .ldc = stride};
      if (ws_.panel_.empty()) return gemm(product);
      by_panels(product);
    };
    back(out_gradient, matrix.weights, matrix.scale, result);
    if (ws_.drawn_) {
      Real* share = ws_.squares_.data();  // dL / d input^2
      back({ws_.variance_.data(), rows_, out_gradient.cols}, network_.variances + matrix.offset, 1, share);
      for (std::size_t row = 0; row < rows_; ++row) {
        for (std::size_t i = row * stride; i < row * stride + inputs; ++i) result[i] += 2 * matrix.input.data[i] * share[i];
      }
    }
    if (ws_.dropped_ && matrix.may_drop) multiply(rows_, inputs, stride, ws_.matrices_[matrix.index].mask.data(), result);
  }

  // The same product, the matrix's rows being copied a panel at a time to where they lie an odd number of cache lines apart.
  void by_panels(Gemm<Real> product) {
    const std::size_t inputs = product.n;
    const Real* weights = product.b;
    Real* out = product.c;
    product.b = ws_.panel_.data();
    product.ldb = ws_.stride_;
    for (std::size_t first = 0; first < inputs; first += kPanelRows) {
      product.n = std::min(kPanelRows, inputs - first);
      for (std::size_t row = 0; row < product.n; ++row) {
        std::copy_n(weights + (first + row) * product.k, product.k, ws_.panel_.data() + row * ws_.stride_);
      }
      product.c = out + first;
      gemm(product);
    }
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
      if (plan_.unit_vector) make_tangent(&ws_.coordinates_[row * count], &ws_.coordinate_gradient_[row * count]);
    }
  }

  // Takes out the share of the gradient along the unit vector s.
  static void make_tangent(const Real* s, Real* gradient) {
    Real radial = 0, squared_length = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      radial += s[i] * gradient[i];
      squared_length += s[i] * s[i];
    }
    for (std::size_t i = 0; i < 3; ++i) gradient[i] -= radial / squared_length * s[i];
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

template void backward(const Network<float>&, Workspace<float>&, std::size_t, float*, bool);
template void backward(const Network<double>&, Workspace<double>&, std::size_t, double*, bool);

}  // namespace drift::cpu
