#pragma once

#include <cstddef>
#include <vector>

#include "core/aligned_vector.h"
#include "drift/matrix_view.h"
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

// A member as the passes see it.
template <class Real>
struct Network {
  const Plan& plan;
  const Real* fixed;
  const Real* parameters;
  Scales scales;
  std::vector<std::vector<Real>> sphere_scales;  // [layer][features], scales.layers[].sphere in Real

  Network(const ScaleResolver& resolver, const Real* fixed, const Real* parameters);
};

// What the backward pass is asked for besides the bottlenecks' gradients.
struct Wanted {
  bool backward = false;     // keep what the backward pass needs
  bool hyper = false;        // gradients of the hyperparameters' logarithms
  bool coordinates = false;  // gradients with respect to the coordinates
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

 private:
  template <class R>
  friend void forward(const Network<R>&, Workspace<R>&, std::size_t);
  template <class R>
  friend void backward(const Network<R>&, Workspace<R>&, std::size_t, R*, bool);
  template <class R>
  friend class BackwardPass;

  struct LayerMemory {
    AlignedVector<Real> input;           // u [rows, hidden]
    AlignedVector<Real> input_gradient;  // du
    AlignedVector<Real> feature;         // [rows, stride]; shared by all layers when there is no backward pass
    AlignedVector<Real> slope;           // [rows, stride], first the hidden share of the phase; likewise
  };

  std::size_t coordinate_count() const { return static_cast<std::size_t>(plan_.coordinates); }
  bool wants_feature_gradient(const LayerPlan& layer) const { return layer.hidden > 0 || wanted_.coordinates || wanted_.hyper; }
  Real* feature(std::size_t layer) { return layers_[wanted_.backward ? layer : 0].feature.data(); }
  Real* slope(std::size_t layer) { return layers_[wanted_.backward ? layer : 0].slope.data(); }
  // Where a layer's output goes (u of the next layer, the head's input or the output), and its gradient comes from.
  MatrixView<Real> destination(const LayerPlan& layer, std::size_t rows);
  MatrixView<Real> destination_gradient(const LayerPlan& layer, std::size_t rows);

  const Plan& plan_;
  std::size_t max_rows_;
  Wanted wanted_;
  std::size_t outputs_;
  std::size_t stride_;  // of feature matrices: a whole number of cache lines, an odd one so that columns spread over cache sets
  std::vector<LayerMemory> layers_;
  AlignedVector<Real> coordinates_;
  AlignedVector<Real> scaled_;  // coordinates over their lengthscales
  AlignedVector<Real> scaled_gradient_;
  AlignedVector<Real> coordinate_gradient_;
  AlignedVector<Real> head_input_;
  AlignedVector<Real> head_gradient_;
  AlignedVector<Real> output_;
  AlignedVector<Real> output_gradient_;
  AlignedVector<Real> feature_gradient_;  // [rows, stride]
  AlignedVector<Real> sphere_feature_;    // [rows, stride], the spherical share alone; for hyperparameters
};

// ws.coordinates -> ws.output.
template <class Real>
void forward(const Network<Real>& network, Workspace<Real>& ws, std::size_t rows);

// ws.output_gradient -> gradient [parameters] (may be nullptr), overwritten or added to; ws.coordinate_gradient where wanted.
template <class Real>
void backward(const Network<Real>& network, Workspace<Real>& ws, std::size_t rows, Real* gradient, bool accumulate);

}  // namespace drift::cpu
