#pragma once

#include <cstddef>
#include <vector>

#include "core/aligned_vector.h"
#include "drift/matrix_view.h"
#include "engine/cpu/step_noise.h"
#include "engine/scales.h"
#include "network/plan.h"

namespace drift::cpu {

// The forward and backward passes of one network over one block of rows, written out. In float they are what trains and
// predicts; in double the same code is checked by finite differences.
//
// Forward, for every layer (network/plan.h has the formula), u being the hidden input already divided by its lengthscale:
//   feature = features(u, x~, s)                        [rows, H]
//   u_next  = scale feature . bottleneck                 [rows, outputs]
// Backward, with du_next = dL/du_next given:
//   d bottleneck = scale feature^T . du_next
//   d feature    = scale du_next . bottleneck^T          (only where something below wants it)
//   d phase      = d feature * slope
//   du           = d phase . hidden_frequencies^T,   dx~ += d phase . coordinate_frequencies^T
//
// Dense layers are the same with simpler features: the coordinates, or an activation of the hidden input z = u_next + b, the bias
// b being added where the activation is taken, in one pass over the block. z becomes the feature in place, and d feature becomes
// dz:
//   d b = sum over rows of du_next,   dz = d feature * activation'(z)
//
// The head is one more matrix, with the chains' outputs for features; where it can be, it is folded into those before it
// (folded_head.h). Training may be random in one of two ways:
//   dropout      feature is multiplied by a mask of 0 and 1 / (1 - rate) before the matrix, d feature by the same mask after it
//   variational  the weights are N(M, S^2), each on its own (train/variational.h): given the features, the output's entries
//                are independent and Gaussian, and are drawn instead of the weights

// A member as the passes see it.
template <class Real>
struct Network {
  const Plan& plan;
  const Real* fixed;
  const Real* parameters;           // of variational weights, the means
  const Real* variances = nullptr;  // [parameters] S^2 of variational weights; nullptr: the weights are certain
  Scales scales;
  std::vector<std::vector<Real>> sphere_scales;  // [layer][features], scales.layers[].sphere in Real
  std::vector<AlignedVector<Real>> folded;  // [layer][features, outputs] Q_c of those that feed a folded head (folded_head.h)

  Network(const ScaleResolver& resolver, const Real* fixed, const Real* parameters);
  void fold_head();  // when the parameters have changed
};

// Rows of a dense matrix that are copied at a time for the product with its transpose. Its rows lie 2^k bytes apart, which slows
// that product by a third; a copy takes 2 % of it.
inline constexpr std::size_t kPanelRows = 128;

// Results of the backward pass besides the bottlenecks' gradients.
struct Wanted {
  bool backward = false;     // keep what the backward pass needs
  bool hyper = false;        // gradients of the hyperparameters' logarithms
  bool coordinates = false;  // gradients with respect to the coordinates
  bool dropout = false;      // passes with dropout
  bool variational = false;  // passes with variational weights
  bool head_inputs = false;  // last_input() of a network with a head
};

// Memory for one block; one for each thread.
template <class Real>
class Workspace {
 public:
  Workspace(const Plan& plan, std::size_t max_rows, Wanted wanted);

  std::size_t max_rows() const { return max_rows_; }
  const Wanted& wanted() const { return wanted_; }
  // Fill the first `rows` rows before forward(): an observation's coordinates as they are, [rows, coordinates].
  MatrixView<Real> coordinates(std::size_t rows) { return {coordinates_.data(), rows, coordinate_count()}; }
  MatrixView<Real> output(std::size_t rows) { return {output_.data(), rows, outputs_}; }
  // Fill before backward(): dL / d output.
  MatrixView<Real> output_gradient(std::size_t rows) { return {output_gradient_.data(), rows, outputs_}; }
  // After backward() with wanted.coordinates: dL / d coordinates, on the sphere along it.
  MatrixView<Real> coordinate_gradient(std::size_t rows) { return {coordinate_gradient_.data(), rows, coordinate_count()}; }
  // After forward(), of a network with a head where wanted.head_inputs: what the last trained matrix is multiplied by, before its
  // scale. [rows, inputs]
  MatrixView<Real> last_input(std::size_t rows);

 private:
  template <class R>
  friend class ForwardPass;
  template <class R>
  friend class BackwardPass;

  struct LayerMemory {
    AlignedVector<Real> input;           // u [rows, hidden]; an activation's is its feature
    AlignedVector<Real> input_gradient;  // du; of an activation [rows, stride]
    AlignedVector<Real> feature;         // [rows, stride]; shared by layers when there is no backward pass
    AlignedVector<Real> slope;           // [rows, stride], first the hidden share of the phase; likewise
  };
  // State that a random pass keeps of a trained matrix for the backward pass; the head's comes after the layers'.
  struct MatrixMemory {
    AlignedVector<Real> mask;    // [rows, stride] of the input
    AlignedVector<Real> spread;  // [rows, outputs] d output / d variance
  };

  std::size_t coordinate_count() const { return static_cast<std::size_t>(plan_.coordinates); }
  bool folded(const LayerPlan& layer) const { return folds_head_ && layer.next == kHead; }
  bool wants_feature_gradient(const LayerPlan& layer) const {
    return layer.hidden > 0 || wanted_.coordinates || (wanted_.hyper && layer.kind == FeatureKind::random);
  }
  // Whose memory holds a layer's features. An activation's come straight from the product with those before: two take turns.
  std::size_t feature_place(std::size_t layer) const {
    return wanted_.backward ? layer : plan_.layers[layer].chain == ChainId::dense ? layer % 2 : 0;
  }
  Real* feature(std::size_t layer) { return layers_[feature_place(layer)].feature.data(); }
  // The factor of the layer's matrix.
  MatrixView<Real> features(std::size_t layer, std::size_t rows);
  Real* slope(std::size_t layer) { return layers_[wanted_.backward ? layer : 0].slope.data(); }
  // Where a layer's output goes (u of the next layer, the head's input or the output), and its gradient comes from. The shares of
  // a folded head's sum all have the gradient of the sum.
  MatrixView<Real> destination(const LayerPlan& layer, std::size_t rows);
  MatrixView<Real> destination_gradient(const LayerPlan& layer, std::size_t rows);
  // The factor of the head: its inputs or, after dropout, the remaining ones. Hyperparameters want them whole.
  MatrixView<Real> head_seen(std::size_t rows) { return {(dropped_ ? head_dropped_ : head_input_).data(), rows, head_columns_}; }
  void allocate_noise(std::size_t max_rows);

  const Plan& plan_;
  std::size_t max_rows_;
  Wanted wanted_;
  std::size_t outputs_;
  bool folds_head_;
  std::size_t head_columns_;  // of the head's input: of each chain its bottleneck or, folded, its share of the output
  std::size_t stride_;  // of feature matrices: a whole number of cache lines, an odd one so that columns spread over cache sets
  std::vector<LayerMemory> layers_;
  std::vector<MatrixMemory> matrices_;  // [layers + 1]
  bool dropped_ = false;                // the last forward pass had dropout
  bool drawn_ = false;                  // the last forward pass drew from variational weights
  AlignedVector<Real> coordinates_;
  AlignedVector<Real> scaled_;  // coordinates over their lengthscales
  AlignedVector<Real> scaled_gradient_;
  AlignedVector<Real> coordinate_gradient_;
  AlignedVector<Real> head_input_;
  AlignedVector<Real> head_dropped_;
  AlignedVector<Real> head_gradient_;
  AlignedVector<Real> output_;
  AlignedVector<Real> output_gradient_;
  AlignedVector<Real> feature_gradient_;  // [rows, stride]
  AlignedVector<Real> panel_;             // [kPanelRows, stride] of a matrix; empty where it is used as it lies
  AlignedVector<Real> sphere_feature_;    // [rows, stride], the spherical share alone; for hyperparameters
  AlignedVector<Real> squares_;           // [rows, stride], squared inputs of a variational matrix
  AlignedVector<Real> variance_;          // [rows, outputs], of a variational matrix's output; on the way back its gradient
};

// ws.coordinates -> ws.output. Without noise there is no dropout, and variational weights are their means.
template <class Real>
void forward(const Network<Real>& network, Workspace<Real>& ws, std::size_t rows, const PassNoise* noise = nullptr);

// ws.output_gradient -> gradient [parameters] (may be nullptr), overwritten or added to; ws.coordinate_gradient where wanted.
// After a pass that drew from variational weights gradient is [2 parameters]: then come those of the variances. Where
// folds_head() says so, unfold_gradient() completes what all blocks have been added to.
template <class Real>
void backward(const Network<Real>& network, Workspace<Real>& ws, std::size_t rows, Real* gradient, bool accumulate);

}  // namespace drift::cpu
