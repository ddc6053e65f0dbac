#include <numbers>

#include "engine/cuda/fused_passes.h"

namespace drift::cuda {

void FusedPasses::train(int rows, const LossTarget& target, const GradientPlace& gradient, const FusedAdam* adam,
                        const Update& update, const std::function<void(cudaStream_t)>& beside, cudaStream_t stream) {
  forward(rows, stream);
  fused_head(head(rows, target), stream);
  backward_folded(gradient, adam, update, stream);
  if (beside) beside(side_.get());
  backward(gradient, adam, update, stream);
  if (beside) {
    // The head and the folded layers are new, and the way back has done with what they were.
    for (const std::size_t i : sides_) {
      const cudaStream_t own = layers_[i].beside->get();
      fork_.order(side_.get(), own);
      fold_head(i, own);
    }
  }
  for (Layer& layer : layers_) join_.order(layer.beside->get(), stream);
  join_.order(side_.get(), stream);
}

// Gradients and updates of the weights go beside the way back to the first layers, each layer's on its own: one alone does not
// fill the device. They come after something short, the transposition, so that the next layer's way back is there first and finds
// multiprocessors free. The head's gradient is known in side_.
void FusedPasses::backward_folded(const GradientPlace& gradient, const FusedAdam* adam, const Update& update,
                                  cudaStream_t stream) {
  cudaStream_t after = stream;
  for (const std::size_t i : sides_) {
    if (layers_[i].feeder != kNone) after = way_back(i, stream);
  }
  for (const std::size_t i : sides_) {
    const cudaStream_t own = layers_[i].beside->get();
    fork_.order(after, own);
    folded_weight_gradient(i, gradient, adam, own);
    fork_.order(own, side_.get());
    if (update) update(plan_.layers[i].bottleneck, own);
  }
  if (!plan_.has_head) return;
  sum_head_partials(head_partial_.data(), network_.members(), tiles_, plan_.head_inputs, gradient.data + plan_.head,
                    gradient.stride, side_.get());
}

void FusedPasses::backward(const GradientPlace& gradient, const FusedAdam* adam, const Update& update, cudaStream_t stream) {
  for (std::size_t i = layers_.size(); i-- > 0;) {
    if (is_folded(i)) continue;
    const cudaStream_t own = layers_[i].beside->get();
    const bool first = layers_[i].feeder == kNone;
    // The old weights are wanted on the way back.
    if (first || adam == nullptr) weight_gradient(i, gradient, adam, own);
    if (!first) {
      fork_.order(way_back(i, stream), own);
      if (adam != nullptr) weight_gradient(i, gradient, adam, own);
    }
    if (update) update(plan_.layers[i].bottleneck, own);
  }
}

// To the output of the layer before; its transposition is under way in the stream that is returned.
cudaStream_t FusedPasses::way_back(std::size_t i, cudaStream_t stream) {
  backward_layer(i, stream);
  Layer& feeder = layers_[static_cast<std::size_t>(layers_[i].feeder)];
  const cudaStream_t aside = feeder.beside->get();
  fork_.order(stream, aside);
  transpose_fragments(feeder.gradient, precision_, network_.members(), row_blocks_, feeder.transposed.data(), aside);
  return aside;
}

void FusedPasses::backward_layer(std::size_t i, cudaStream_t stream) {
  Layer& layer = layers_[i];
  Layer& feeder = layers_[static_cast<std::size_t>(layer.feeder)];
  const Division division = divide();
  fused_backward({.precision = precision_,
                  .members = network_.members(),
                  .row_blocks = row_blocks_,
                  .division = division,
                  .output_gradient = layer.gradient,
                  .bottleneck = layer.bottleneck_rows.data(),
                  .folded = {.q = layer.q.data(), .slopes = slopes_.data(), .capacity = capacity_},
                  .frequencies = layer.frequencies_columns.data(),
                  .phases = layer.phases.data(),
                  .input_gradient = feeder.output_gradient.data()},
                 stream);
  // The slope is -2 pi amplitude sin(2 pi phase), and the sine kept has the other sign.
  feeder.gradient = {.data = feeder.output_gradient.data(), .division = division, .factor = factor(i)};
  feeder.gradient.factor.constant *= static_cast<float>(2.0 * std::numbers::pi);
}

void FusedPasses::weight_gradient(std::size_t i, const GradientPlace& gradient, const FusedAdam* adam, cudaStream_t stream) {
  FusedWeightGradient weights = {.precision = precision_,
                                 .layers = 1,
                                 .members = network_.members(),
                                 .row_blocks = row_blocks_,
                                 .tiles = tiles_,
                                 .gradient_stride = gradient.stride,
                                 .accumulate = gradient.accumulate,
                                 .adam = adam == nullptr ? FusedAdam{} : *adam,
                                 .layer = {}};
  weights.layer[0] = {.phases = layers_[i].phases.data(),
                      .added = layers_[i].added.data(),
                      .output_gradient = layers_[i].transposed.data(),
                      .factor = factor(i),
                      .gradient = gradient.data + plan_.layers[i].bottleneck,
                      .features = plan_.layers[i].features,
                      .offset = plan_.layers[i].bottleneck,
                      .rows_image = layers_[i].bottleneck_rows.data(),
                      .columns_image = layers_[i].bottleneck_columns.data()};
  fused_weight_gradient(weights, stream);
}

void FusedPasses::folded_weight_gradient(std::size_t i, const GradientPlace& gradient, const FusedAdam* adam,
                                         cudaStream_t stream) {
  const LayerPlan& plan = plan_.layers[i];
  Layer& layer = layers_[i];
  feature_sums({.members = network_.members(),
                .row_blocks = row_blocks_,
                .tiles = tiles_,
                .phases = layer.phases.data(),
                .added = layer.added.data(),
                .slopes = slopes_.data(),
                .capacity = capacity_,
                .sums = layer.feature_sums.data(),
                .accumulate = gradient.accumulate},
               stream);
  folded_gradient({.members = network_.members(),
                   .features = plan.features,
                   .tiles = tiles_,
                   .sums = layer.feature_sums.data(),
                   .factor = factor(i),
                   .bottleneck = network_.matrix(plan.bottleneck, plan.outputs),
                   .head = head_of(i),
                   .gradient = gradient.data + plan.bottleneck,
                   .gradient_stride = gradient.stride,
                   .adam = adam == nullptr ? FusedAdam{} : *adam,
                   .offset = plan.bottleneck,
                   .head_partial = plan_.has_head ? head_partial_.data() + plan.next_column : nullptr,
                   .partial_width = plan_.head_inputs},
                  stream);
}

}  // namespace drift::cuda
