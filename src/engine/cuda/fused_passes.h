#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "drift/engine.h"
#include "engine/cuda/fused.h"
#include "engine/cuda/network.h"
#include "engine/cuda/passes.h"

namespace drift::cuda {

// Passes (passes.h) by the fused kernels, where they fit.
class FusedPasses {
 public:
  static bool fit(const Plan& plan, Wanted wanted, Precision precision);
  static inline bool allowed = true;  // tests compare with the plain passes NOLINT(*-non-const-global-variables)

  // `capacity` is rounded up to whole pairs of row blocks.
  FusedPasses(const Network& network, std::size_t capacity, bool training, Precision precision, const Stream& stream);
  static std::size_t bytes_per_row(const Plan& plan, std::size_t members, bool training);

  std::size_t capacity() const { return capacity_; }
  float* coordinates() { return coordinates_.data(); }  // [members, capacity, coordinates]
  float* scaled() { return scaled_.data(); }            // the same over their lengthscales
  float* output() { return output_.data(); }            // [members, capacity]

  // The bottlenecks have changed.
  void refresh(cudaStream_t stream);
  int tiles() const { return tiles_; }
  // The images, rows' and columns', of the bottleneck at an offset among a member's parameters.
  std::pair<ImageWord*, ImageWord*> images_at(std::size_t bottleneck);
  void predict(int rows, cudaStream_t stream);

  static int loss_partials(int rows);  // entries of a target's `partial` that a pass fills
  // `adam`, where given, is applied to the bottlenecks as soon as nothing else wants the old ones; `update` is called then, for
  // each of them, with its offset among a member's parameters: its gradient is known in that stream, and its images are to
  // follow.
  using Update = std::function<void(std::size_t bottleneck, cudaStream_t stream)>;
  // `beside`: called for what may run beside the way back; losses and the head's gradient are known to it.
  void train(int rows, const LossTarget& target, const GradientPlace& gradient, const FusedAdam* adam, const Update& update,
             const std::function<void(cudaStream_t)>& beside, cudaStream_t stream);

 private:
  struct Layer {
    int feeder;                                                    // the layer that feeds it, or kNone
    DeviceArray<ImageWord> frequencies_rows, frequencies_columns;  // images of W^T
    DeviceArray<float> coefficients;
    DeviceArray<uint4> phases;
    DeviceArray<SphericalFeature> spherical;  // where the layer has such features
    DeviceArray<uint4> added;                 // these at the rows, over the cosines' amplitude
    Division output_division = {};            // of the output or, folded, of the row sums
    std::unique_ptr<Stream> beside;           // what is not on the way to the next layer
    // Of a layer that feeds another:
    DeviceArray<ImageWord> bottleneck_rows, bottleneck_columns;
    DeviceArray<float> output;           // fragments
    DeviceArray<float> output_gradient;  // fragments
    DeviceArray<ImageWord> transposed;   // the same, as images
    Fragments gradient = {};             // of the output
    // Of a folded one:
    DeviceArray<float> q, feature_sums, row_sums;
  };

  // `i` is the number of a layer.
  void forward(int rows, cudaStream_t stream);
  void prepare_layer(std::size_t i, const Stream& stream);
  void prepare_features(std::size_t i, const Stream& stream);
  void sphere(std::size_t i, cudaStream_t stream);
  void forward_layer(std::size_t i, cudaStream_t stream);
  void backward(const GradientPlace& gradient, const FusedAdam* adam, const Update& update, cudaStream_t stream);
  void backward_folded(const GradientPlace& gradient, const FusedAdam* adam, const Update& update, cudaStream_t stream);
  cudaStream_t way_back(std::size_t i, cudaStream_t stream);
  void backward_layer(std::size_t i, cudaStream_t stream);
  void weight_gradient(std::size_t i, const GradientPlace& gradient, const FusedAdam* adam, cudaStream_t stream);
  void folded_weight_gradient(std::size_t i, const GradientPlace& gradient, const FusedAdam* adam, cudaStream_t stream);
  void fold_head(std::size_t i, cudaStream_t stream);
  FusedHead head(int rows, const LossTarget& target);
  // The part of the head that belongs to a folded layer.
  ConstMatrices head_of(std::size_t layer) const;
  Fragments output_of(std::size_t layer);
  MemberFactor factor(std::size_t layer) const;  // of its output, with the head's scale where it is folded
  ConstMatrices amplitude(std::size_t layer) const;
  bool is_folded(std::size_t layer) const { return plan_.layers[layer].next < 0; }
  Division divide() const;
  Division divide_evenly() const;
  std::size_t images() const;  // words of a matrix's image, of all members

  const Network& network_;
  const Plan& plan_;
  bool training_;
  Precision precision_;
  int tiles_, multiprocessors_;
  std::size_t capacity_;
  int row_blocks_ = 0;  // of the pass under way
  std::vector<Layer> layers_;
  std::vector<std::size_t> sides_;  // folded layers
  DeviceArray<float> coordinates_, scaled_, output_, slopes_, head_partial_;
  Stream side_{false};  // the temporal chain; the head's gradient
  Event fork_, join_;
};

}  // namespace drift::cuda
