#include <gtest/gtest.h>

#include <cmath>

#include "engine/cuda/cuda_testing.h"
#include "engine/cuda/fused_testing.h"

namespace drift::cuda {
namespace {

constexpr double kRounded = 1e-5;  // everything is in float32

constexpr int kMembers = 3, kFeatures = 130, kTiles = 3;
constexpr std::size_t kPadded = kTiles * kFusedTile, kMatrix = kFeatures * kWidth;

TEST(FusedFold, MultipliesEveryBottleneckWithItsHead) {
  DRIFT_NEEDS_GPU();
  const Stream stream;
  const std::vector<float> weights = normals(kMembers * kMatrix, 1), heads = normals(kMembers * kWidth, 2);
  const DeviceArray<float> bottleneck = on_device(weights, stream), head = on_device(heads, stream);
  DeviceArray<float> q = on_device(normals(kMembers * kPadded, 3), stream);
  fold({kMembers, kFeatures, kTiles, {bottleneck.data(), kWidth, kMatrix}, {head.data(), 1, kWidth}, q.data()}, stream.get());
  const std::vector<float> here = to_host(q, stream);
  std::vector<float> there(here.size(), 0.0F);
  for (std::size_t i = 0; i < kMembers * kMatrix; ++i) {
    const std::size_t member = i / kMatrix, h = i % kMatrix / kWidth;
    there[member * kPadded + h] += weights[i] * heads[member * kWidth + i % kWidth];
  }
  EXPECT_LT(distance(here, there), kRounded);
  for (std::size_t h = kFeatures; h < kPadded; ++h) EXPECT_EQ(here[h], 0.0F);
}

TEST(FusedFold, WithoutAHeadIsTheColumnItself) {
  DRIFT_NEEDS_GPU();
  const Stream stream;
  const std::vector<float> weights = normals(kMembers * kFeatures, 1);
  const DeviceArray<float> bottleneck = on_device(weights, stream);
  DeviceArray<float> q = on_device(normals(kMembers * kPadded, 3), stream);
  fold({kMembers, kFeatures, kTiles, {bottleneck.data(), 1, kFeatures}, {}, q.data()}, stream.get());
  const std::vector<float> here = to_host(q, stream);
  for (std::size_t i = 0; i < here.size(); ++i) {
    const std::size_t h = i % kPadded;
    EXPECT_EQ(here[i], h < kFeatures ? weights[i / kPadded * kFeatures + h] : 0.0F) << i;
  }
}

TEST(FusedFold, SumsFeaturesTimesSlopes) {
  DRIFT_NEEDS_GPU();
  const Stream stream;
  for (const Kept kept : {Kept::phases, Kept::halves, Kept::both}) {
    const Problem p(1, kMembers, kFeatures, kept);
    const std::size_t rows = size(p.row_blocks) * 64, capacity = rows + 128;
    const std::vector<float> slopes = normals(kMembers * capacity, 4), before = normals(kMembers * kPadded, 5);
    const DeviceArray<uint4> phases = on_device(p.phases, stream), halves = on_device(p.halves, stream);
    const DeviceArray<float> slope = on_device(slopes, stream);
    for (const bool accumulate : {false, true}) {
      DeviceArray<float> sums = on_device(before, stream);
      feature_sums({.members = kMembers,
                    .row_blocks = p.row_blocks,
                    .tiles = p.tiles,
                    .phases = kept == Kept::halves ? nullptr : phases.data(),
                    .added = kept == Kept::phases ? nullptr : halves.data(),
                    .slopes = slope.data(),
                    .capacity = capacity,
                    .sums = sums.data(),
                    .accumulate = accumulate},
                   stream.get());
      std::vector<float> there(before.size());
      for (std::size_t i = 0; i < there.size(); ++i) {
        const std::size_t member = i / kPadded;
        double sum = accumulate ? before[i] : 0.0;
        for (std::size_t row = 0; row < rows; ++row) {
          sum += p.feature[(member * rows + row) * kPadded + i % kPadded] * slopes[member * capacity + row];
        }
        there[i] = static_cast<float>(sum);
      }
      EXPECT_LT(distance(to_host(sums, stream), there), kRounded);
    }
  }
}

// Gradients of a bottleneck [kFeatures, 128] and of its half of a head of 256, and Adam, in double.
TEST(FusedFold, GivesTheGradientsOfBottleneckAndHead) {
  DRIFT_NEEDS_GPU();
  const Stream stream;
  constexpr std::size_t kStride = kMatrix + 16, kOffset = 16, kHeads = 2 * kWidth;
  const std::vector<float> weights = normals(kMembers * kStride, 1), heads = normals(kMembers * kWidth, 2),
                           g = normals(kMembers * kPadded, 3), moments = normals(kMembers * kStride, 4);
  std::vector<float> squares = normals(kMembers * kStride, 5);
  for (float& x : squares) x = 0.5F + x * x;
  std::vector<StepNumbers> all_numbers;
  for (int z = 0; z < kMembers; ++z) all_numbers.push_back(numbers_of(z));
  const DeviceArray<StepNumbers> numbers = on_device(all_numbers, stream);
  const DeviceArray<float> head = on_device(heads, stream), sums = on_device(g, stream);
  const DeviceArray<float> factors = on_device(std::vector<float>(kMembers, kFactor), stream);
  for (const bool adam : {false, true}) {
    DeviceArray<float> bottleneck = on_device(weights, stream), moment1 = on_device(moments, stream),
                       moment2 = on_device(squares, stream), gradient = on_device(weights, stream),
                       partial(kMembers * kTiles * kHeads), head_gradient(kMembers * kHeads);
    partial.clear(stream);
    FoldedGradient f = {.members = kMembers,
                        .features = kFeatures,
                        .tiles = kTiles,
                        .sums = sums.data(),
                        .factor = {.first = {factors.data(), 0, 1}, .constant = 2.0F},
                        .bottleneck = {bottleneck.data() + kOffset, kWidth, kStride},
                        .head = {head.data(), 1, kWidth},
                        .gradient = gradient.data() + kOffset,
                        .gradient_stride = kStride,
                        .adam = {},
                        .offset = kOffset,
                        .head_partial = partial.data() + kWidth,
                        .partial_width = static_cast<int>(kHeads)};
    if (adam) {
      f.adam = {.numbers = numbers.data(),
                .beta1 = static_cast<float>(kBeta1),
                .beta2 = static_cast<float>(kBeta2),
                .epsilon = static_cast<float>(kEpsilon),
                .weights = bottleneck.data(),
                .weights_stride = kStride,
                .moment1 = moment1.data(),
                .moment2 = moment2.data(),
                .gradient_stride = kStride};
    }
    folded_gradient(f, stream.get());
    sum_head_partials(partial.data(), kMembers, kTiles, static_cast<int>(kHeads), head_gradient.data(), kHeads, stream.get());
    std::vector<float> wanted = weights, wanted1 = moments, wanted2 = squares, wanted_head(kMembers * kHeads, 0.0F);
    for (std::size_t i = 0; i < kMembers * kMatrix; ++i) {
      const std::size_t member = i / kMatrix, h = i % kMatrix / kWidth, j = i % kWidth,
                        at = member * kStride + kOffset + i % kMatrix;
      const double sum = 2.0 * kFactor * g[member * kPadded + h], product = sum * heads[member * kWidth + j];
      wanted_head[member * kHeads + kWidth + j] += static_cast<float>(sum * weights[at]);
      wanted[at] = static_cast<float>(product);
      if (!adam) continue;
      const StepNumbers& n = all_numbers[member];
      const double slope = product + kDecay * weights[at];
      const double m = kBeta1 * moments[at] + (1 - kBeta1) * slope, v = kBeta2 * squares[at] + (1 - kBeta2) * slope * slope;
      wanted[at] = static_cast<float>(weights[at] - n.adam_rate / n.correction1 * m / (std::sqrt(v / n.correction2) + kEpsilon));
      wanted1[at] = static_cast<float>(m);
      wanted2[at] = static_cast<float>(v);
    }
    EXPECT_LT(distance(to_host(head_gradient, stream), wanted_head), kRounded);
    EXPECT_LT(distance(to_host(adam ? bottleneck : gradient, stream), wanted), kRounded) << adam;
    EXPECT_LT(distance(to_host(moment1, stream), wanted1), kRounded);
    EXPECT_LT(distance(to_host(moment2, stream), wanted2), kRounded);
    EXPECT_EQ(to_host(adam ? gradient : bottleneck, stream), weights);
  }
}

// Two layers' sums of the rows, the second one's in parts; rows beyond the last must not count.
TEST(FusedFold, HeadAddsTheLayersAndTakesTheLoss) {
  DRIFT_NEEDS_GPU();
  const Stream stream;
  constexpr int kRowBlocks = 4, kRows = 150;
  constexpr std::size_t kAll = kMembers * kRowBlocks * 64, kCapacity = kRowBlocks * 64;
  const Division division = {.pairs = 6, .tiles = kTiles, .blocks = 4, .rounds = 1, .tail = 4};
  const std::vector<float> first = normals(kAll, 1), second = normals(kMaxParts * kAll, 2), values = normals(kAll, 3);
  std::vector<float> weights = normals(kAll, 4);
  for (float& w : weights) w = w * w;
  const DeviceArray<float> a = on_device(first, stream), b = on_device(second, stream), y = on_device(values, stream),
                           w = on_device(weights, stream);
  for (const LossKind loss : {LossKind::squared, LossKind::huber}) {
    DeviceArray<float> output(kAll), slopes = on_device(values, stream);
    DeviceArray<double> partial(kMembers * kRowBlocks);
    fused_head({.members = kMembers,
                .row_blocks = kRowBlocks,
                .rows = kRows,
                .sides = 2,
                .input = {{a.data(), {}, {.constant = 0.5F}}, {b.data(), division, {.constant = 2.0F}}},
                .output = output.data(),
                .capacity = kCapacity,
                .target = {.values = y.data(),
                           .weights = w.data(),
                           .kind = loss,
                           .delta = 0.7F,
                           .scale = 0.01F,
                           .partial = partial.data(),
                           .partial_stride = kRowBlocks},
                .slopes = slopes.data()},
               stream.get());
    const std::vector<float> found = to_host(output, stream), found_slopes = to_host(slopes, stream);
    std::vector<double> losses(kMembers * kRowBlocks), wanted(losses.size(), 0.0);
    partial.download(losses.data(), losses.size(), 0, stream);
    for (std::size_t i = 0; i < kAll; ++i) {
      const std::size_t pair = i / 128;
      if (i % kCapacity >= kRows) {
        EXPECT_EQ(found_slopes[i], 0.0F);
        continue;
      }
      // Pairs 0 to 3 are whole; of 4 and 5 four blocks took three tiles in two parts each.
      double out = 0.5 * first[i] + 2.0 * second[i];
      if (pair >= 4) out += 2.0 * second[kAll + i];
      const double residual = out - values[i], size = std::abs(residual), delta = 0.7F;
      const bool square = loss == LossKind::squared, inside = size <= delta;
      const double slope = square ? 2 * residual : inside ? residual : std::copysign(delta, residual);
      wanted[i / 64] += weights[i] * (square ? size * size : inside ? size * size / 2 : delta * (size - delta / 2));
      EXPECT_NEAR(found[i], out, 1e-5);
      EXPECT_NEAR(found_slopes[i], 0.01 * weights[i] * slope, 1e-6);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(losses[i], wanted[i], 1e-5 * (1 + wanted[i]));
  }
}

}  // namespace
}  // namespace drift::cuda
