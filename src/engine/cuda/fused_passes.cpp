#include "engine/cuda/fused_passes.h"

#include <algorithm>

namespace drift::cuda {
namespace {

std::size_t size(int count) { return static_cast<std::size_t>(count); }
int tiles_of(int features) { return (features + kFusedTile - 1) / kFusedTile; }
int row_blocks_of(int rows) { return (rows + 2 * kFusedRows - 1) / (2 * kFusedRows) * 2; }

// Halves end at 65504 and lose digits below 6e-5. A spherical feature is at most sqrt(2 n + 1) of its amplitude.
bool fits_halves(const LayerPlan& layer, const Plan& plan) {
  constexpr double kLargest = 128.0;
  const auto value = [&](int index) { return index == kNone ? 1.0 : plan.hyperparameters[size(index)].value; };
  const double ratio = value(layer.sphere_amplitude) / value(layer.amplitude);
  return layer.coordinates == 0 && ratio <= kLargest && ratio >= 1.0 / kLargest;
}

bool fits(const LayerPlan& layer, const Plan& plan) {
  return layer.kind == FeatureKind::random && (layer.planar() || layer.sphere) && !layer.bias &&
         layer.outputs == (layer.next == kOutput ? 1 : kFusedWidth) && (layer.hidden == 0 || layer.hidden == kFusedWidth) &&
         layer.coordinates <= kMaxFusedCoordinates && (!layer.sphere || fits_halves(layer, plan)) &&
         layer.features == plan.layers.front().features;
}

}  // namespace

bool FusedPasses::fit(const Plan& plan, Wanted wanted, Precision precision) {
  if (!allowed || precision == Precision::float32 || wanted.hyper || wanted.coordinates || wanted.dropout || wanted.variational)
    return false;
  if (plan.spec.outputs != 1 || (plan.has_head && plan.head_inputs > kMaxFolded * kFusedWidth)) return false;
  if (plan.layers.size() > size(kMaxFusedLayers) || !is_hopper()) return false;
  return std::all_of(plan.layers.begin(), plan.layers.end(), [&](const LayerPlan& layer) { return fits(layer, plan); });
}

std::size_t FusedPasses::bytes_per_row(const Plan& plan, std::size_t members, bool training) {
  const std::size_t fragments = size(kFusedWidth) * sizeof(float);
  const std::size_t kept = size(tiles_of(plan.layers.front().features)) * size(kFusedTile) * 2;  // of phases or of halves
  std::size_t bytes = 64;
  for (const LayerPlan& layer : plan.layers) {
    bytes +=
        layer.next < 0 ? size(kMaxParts) * sizeof(float) : (training ? 2 * size(kMaxParts) + 1 : size(kMaxParts)) * fragments;
    if (training && layer.planar()) bytes += kept;
    if (layer.sphere) bytes += kept;
  }
  return members * bytes;
}

int FusedPasses::loss_partials(int rows) { return row_blocks_of(rows); }

FusedPasses::FusedPasses(const Network& network, std::size_t capacity, bool training, Precision precision, const Stream& stream)
    : network_(network),
      plan_(network.plan()),
      training_(training),
      precision_(precision),
      tiles_(tiles_of(plan_.layers.front().features)),
      multiprocessors_(multiprocessors()),
      capacity_(size(row_blocks_of(static_cast<int>(capacity))) * size(kFusedRows)),
      layers_(plan_.layers.size()) {
  const auto members = size(network.members());
  for (std::size_t i = 0; i < layers_.size(); ++i) prepare_layer(i, stream);
  coordinates_ = DeviceArray<float>(members * capacity_ * size(plan_.coordinates));
  scaled_ = DeviceArray<float>(coordinates_.size());
  output_ = DeviceArray<float>(members * capacity_);
  if (training) {
    slopes_ = DeviceArray<float>(members * capacity_);
    head_partial_ = DeviceArray<float>(plan_.has_head ? members * size(tiles_) * size(plan_.head_inputs) : 0);
  }
  // Rows that fill up the last block are computed too; they only need to be finite.
  coordinates_.clear(stream);
  scaled_.clear(stream);
  refresh(stream.get());
}

std::size_t FusedPasses::images() const { return size(network_.members()) * size(tiles_) * size(image_words(precision_)); }

void FusedPasses::prepare_layer(std::size_t i, const Stream& stream) {
  const LayerPlan& plan = plan_.layers[i];
  Layer& layer = layers_[i];
  const auto members = size(network_.members());
  const std::size_t fragments = members * capacity_ * size(kFusedWidth);
  const std::size_t kept = members * capacity_ / size(kFusedRows) * size(tiles_) * 512;
  layer.beside = std::make_unique<Stream>(false);
  layer.feeder = kNone;
  for (std::size_t j = 0; j < i; ++j) {
    if (plan_.layers[j].next == static_cast<int>(i)) layer.feeder = static_cast<int>(j);
  }
  if (is_folded(i)) {
    sides_.push_back(i);
    layer.q = DeviceArray<float>(members * size(tiles_) * size(kFusedTile));
    layer.row_sums = DeviceArray<float>(size(kMaxParts) * members * capacity_);
    if (training_) layer.feature_sums = DeviceArray<float>(layer.q.size());
  } else {
    layer.bottleneck_columns = DeviceArray<ImageWord>(images());
    layer.output = DeviceArray<float>(size(kMaxParts) * fragments);
    if (training_) {
      layer.bottleneck_rows = DeviceArray<ImageWord>(images());
      layer.output_gradient = DeviceArray<float>(size(kMaxParts) * fragments);
      layer.transposed = DeviceArray<ImageWord>(members * capacity_ / size(kFusedRows) * size(image_words(precision_)));
    }
  }
  if (training_ && plan.planar()) layer.phases = DeviceArray<uint4>(kept);
  if (plan.sphere) layer.added = DeviceArray<uint4>(kept);
  prepare_features(i, stream);
}

// Ingredients of features, in the kernels' order.
void FusedPasses::prepare_features(std::size_t i, const Stream& stream) {
  const LayerPlan& plan = plan_.layers[i];
  Layer& layer = layers_[i];
  const int count = network_.members();
  const auto members = size(count);
  if (plan.planar()) {
    layer.coefficients = DeviceArray<float>(members * size(tiles_) * size(plan.coordinates + 1) * 64);
    make_coefficients(count, plan.features, tiles_, plan.coordinates, network_.fixed(plan.phases, plan.features),
                      network_.fixed(plan.coordinate_frequencies, plan.features), layer.coefficients.data(), stream.get());
  }
  if (plan.sphere) {
    layer.spherical = DeviceArray<SphericalFeature>(members * size(tiles_) * size(kFusedTile));
    make_spherical(count, plan.features, tiles_, network_.fixed(plan.poles, plan.features),
                   network_.fixed(plan.degrees, plan.features), network_.scales().sphere(i), amplitude(i), layer.spherical.data(),
                   stream.get());
  }
  if (plan.hidden == 0) return;
  layer.frequencies_rows = DeviceArray<ImageWord>(images());
  if (training_) layer.frequencies_columns = DeviceArray<ImageWord>(images());
  const ConstMatrices frequencies = network_.frequencies(i);
  make_images({.precision = precision_,
               .members = count,
               .features = plan.features,
               .tiles = tiles_,
               .data = frequencies.data,
               .row = 1,
               .column = frequencies.stride,
               .member_stride = frequencies.member_stride,
               .rows_image = layer.frequencies_rows.data(),
               .columns_image = layer.frequencies_columns.data()},
              stream.get());
}

void FusedPasses::refresh(cudaStream_t stream) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (is_folded(i)) {
      fold_head(i, stream);
      continue;
    }
    const ConstMatrices matrix = network_.matrix(plan_.layers[i].bottleneck, kFusedWidth);
    make_images({.precision = precision_,
                 .members = network_.members(),
                 .features = plan_.layers[i].features,
                 .tiles = tiles_,
                 .data = matrix.data,
                 .row = matrix.stride,
                 .column = 1,
                 .member_stride = matrix.member_stride,
                 .rows_image = layers_[i].bottleneck_rows.data(),
                 .columns_image = layers_[i].bottleneck_columns.data()},
                stream);
  }
}

std::pair<ImageWord*, ImageWord*> FusedPasses::images_at(std::size_t bottleneck) {
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (plan_.layers[i].bottleneck == bottleneck)
      return {layers_[i].bottleneck_rows.data(), layers_[i].bottleneck_columns.data()};
  }
  return {};
}

// Whole pairs first. What is left is split only where that keeps to one round: every part is read again by all parts of the next
// layer, and dividing evenly over all multiprocessors took more time than it saved.
Division FusedPasses::divide() const {
  const int pairs = network_.members() * row_blocks_ / 2, blocks = multiprocessors_;
  const int rounds = pairs / blocks, left = pairs - rounds * blocks;
  const int parts = left == 0 ? 0 : std::clamp(blocks / left, 1, std::min(kMaxParts - 1, tiles_));
  return {.pairs = pairs, .tiles = tiles_, .blocks = blocks, .rounds = rounds, .tail = left * parts};
}

// Evenly over all multiprocessors, for row sums: reading their parts again costs next to nothing.
Division FusedPasses::divide_evenly() const {
  Division even = divide();
  const int left = even.pairs - even.rounds * even.blocks;
  even.tail = std::min({even.blocks, left * (kMaxParts - 1), left * tiles_});
  return even;
}

// Of the cosines; what is added to them is kept over it.
ConstMatrices FusedPasses::amplitude(std::size_t layer) const {
  return plan_.layers[layer].planar() ? network_.scales().amplitude(layer) : ConstMatrices{};
}

MemberFactor FusedPasses::factor(std::size_t layer) const {
  const double scale = plan_.layers[layer].next == kHead ? plan_.head_scale : 1.0;
  return {.first = network_.scales().output(layer), .second = amplitude(layer), .constant = static_cast<float>(scale)};
}

Fragments FusedPasses::output_of(std::size_t layer) {
  return {.data = layers_[layer].output.data(), .division = layers_[layer].output_division, .factor = factor(layer)};
}

ConstMatrices FusedPasses::head_of(std::size_t layer) const {
  if (!plan_.has_head) return {};
  return network_.matrix(plan_.head + size(plan_.layers[layer].next_column), 1);
}

void FusedPasses::fold_head(std::size_t i, cudaStream_t stream) {
  const LayerPlan& layer = plan_.layers[i];
  fold({.members = network_.members(),
        .features = layer.features,
        .tiles = tiles_,
        .bottleneck = network_.matrix(layer.bottleneck, layer.outputs),
        .head = head_of(i),
        .q = layers_[i].q.data()},
       stream);
}

// The chains go side by side; spherical features of later layers are made beside the layers before.
void FusedPasses::forward(int rows, cudaStream_t stream) {
  row_blocks_ = row_blocks_of(rows);
  fork_.order(stream, side_.get());
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const cudaStream_t own = layers_[i].beside->get();
    if (plan_.layers[i].sphere && layers_[i].feeder != kNone) {
      fork_.order(side_.get(), own);
      sphere(i, own);
      fork_.order(own, stream);
    } else if (plan_.layers[i].sphere) {
      sphere(i, stream);
    }
    forward_layer(i, plan_.layers[i].chain == ChainId::temporal ? side_.get() : stream);
  }
  join_.order(side_.get(), stream);
}

void FusedPasses::sphere(std::size_t i, cudaStream_t stream) {
  const auto columns = size(plan_.coordinates);
  fused_sphere({.members = network_.members(),
                .row_blocks = row_blocks_,
                .tiles = tiles_,
                .points = {coordinates_.data(), columns, capacity_ * columns},
                .features = layers_[i].spherical.data(),
                .halves = layers_[i].added.data()},
               stream);
}

void FusedPasses::forward_layer(std::size_t i, cudaStream_t stream) {
  const auto columns = size(plan_.coordinates);
  Layer& layer = layers_[i];
  layer.output_division = is_folded(i) ? divide_evenly() : divide();
  fused_forward({.precision = precision_,
                 .members = network_.members(),
                 .row_blocks = row_blocks_,
                 .division = layer.output_division,
                 .input = layer.feeder == kNone ? Fragments{} : output_of(size(layer.feeder)),
                 .coordinates = {scaled_.data() + plan_.layers[i].first_coordinate, columns, capacity_ * columns},
                 .coordinate_count = plan_.layers[i].coordinates,
                 .coefficients = layer.coefficients.data(),
                 .frequencies = layer.frequencies_rows.data(),
                 .added = layer.added.data(),
                 .bottleneck = layer.bottleneck_columns.data(),
                 .output = layer.output.data(),
                 .folded = {.q = layer.q.data(), .row_sums = layer.row_sums.data()},
                 .phases = layer.phases.data()},
                stream);
}

FusedHead FusedPasses::head(int rows, const LossTarget& target) {
  FusedHead head = {.members = network_.members(),
                    .row_blocks = row_blocks_,
                    .rows = rows,
                    .sides = static_cast<int>(sides_.size()),
                    .input = {},
                    .output = output_.data(),
                    .capacity = capacity_,
                    .target = target,
                    .slopes = slopes_.data()};
  for (std::size_t side = 0; side < sides_.size(); ++side) {
    const Layer& layer = layers_[sides_[side]];
    head.input[side] = {.data = layer.row_sums.data(), .division = layer.output_division, .factor = factor(sides_[side])};
  }
  return head;
}

void FusedPasses::predict(int rows, cudaStream_t stream) {
  forward(rows, stream);
  fused_head(head(rows, {}), stream);
}

}  // namespace drift::cuda
