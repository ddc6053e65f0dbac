#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/random.h"
#include "engine/cuda/cuda_testing.h"
#include "engine/cuda/fused.h"

namespace drift::cuda {
namespace {

constexpr double kTf32 = 1e-3;  // both factors have 11 bits
constexpr std::size_t kWidth = kFusedWidth;

enum class Kept { phases, halves, both };

std::size_t size(int count) { return static_cast<std::size_t>(count); }

// Bits of an IEEE half that is +-k / 64, 0 < k < 128.
std::uint32_t half_bits(double value) {
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);  // [1/2, 1)
  const auto mantissa = static_cast<std::uint32_t>(std::lround((2 * fraction - 1) * 1024));
  return (value < 0 ? 0x8000U : 0U) | static_cast<std::uint32_t>(exponent - 1 + 15) << 10 | mantissa;
}

// Of some layers: what was kept of random features, and random gradients of their outputs, in the kernels' layouts.
struct Problem {
  int layers, members, row_blocks, features, tiles;
  Kept kept;
  std::size_t stride;                                    // of a member's parameters
  std::vector<double> feature;                           // [layers, members, row blocks * 64, tiles * 64]
  std::vector<float> gradient;                           // [layers, members, row blocks * 64, 128]
  std::vector<uint4> phases, halves;                     // [layers, members, row blocks, tiles, 512]
  std::vector<float> fragments;                          // [layers, members, row blocks, kTileFloats]
  std::vector<float> before, weights, moment1, moment2;  // [members, stride]

  Problem(int layer_count, int member_count, int feature_count, Kept what)
      : layers(layer_count),
        members(member_count),
        row_blocks(4),
        features(feature_count),
        tiles((feature_count + kFusedTile - 1) / kFusedTile),
        kept(what),
        stride(size(layers) * size(features) * kWidth + 6) {
    RandomStream stream({.seed = 3});
    const std::size_t blocks = size(layers) * size(members) * size(row_blocks), rows = blocks * 64, width = size(tiles) * 64;
    feature.resize(rows * width);
    gradient.resize(rows * kWidth);
    fragments.resize(rows * kWidth);
    phases.resize(rows * width / 8);
    halves.resize(phases.size());
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t j = 0; j < width; ++j) set_feature(row, j, stream);
      for (std::size_t j = 0; j < kWidth; ++j) set_gradient(row, j, static_cast<float>(stream.normal()));
    }
    for (auto* list : {&before, &weights, &moment1, &moment2}) {
      list->resize(size(members) * stride);
      for (float& x : *list) x = static_cast<float>(stream.normal());
    }
    for (float& x : moment2) x = 0.5F + x * x;  // else entries with hardly any would be all that is compared
  }

  // fused.h: thread 32 w + 4 g + c holds rows 16 w + g and 8 further, columns 2 c and 2 c + 1 of each group of 8.
  void set_gradient(std::size_t row, std::size_t j, float value) {
    gradient[row * kWidth + j] = value;
    const std::size_t r = row % 64, thread = r / 16 * 32 + r % 8 * 4 + j % 8 / 2;
    fragments[row / 64 * kTileFloats + (j / 8 * 128 + thread) * 4 + r % 16 / 8 * 2 + j % 2] = value;
  }
  void set_feature(std::size_t row, std::size_t j, RandomStream& stream) {
    const double turn = std::floor(65536 * stream.uniform()), step = std::floor(126 * stream.uniform()) + 1;
    const double half = (stream.uniform() < 0.5 ? -step : step) / 64;
    const std::size_t r = row % 64, block = (row / 64 * size(tiles) + j / 64) * 512;
    const std::size_t thread = r / 16 * 32 + r % 8 * 4 + j % 8 / 2, word = j % 16 / 8 * 2 + r % 16 / 8;
    const auto put = [&](std::vector<uint4>& to, std::uint32_t bits) {
      uint4& four = to[block + j % 64 / 16 * 128 + thread];
      std::uint32_t* const words[] = {&four.x, &four.y, &four.z, &four.w};
      *words[word] |= j % 2 == 0 ? bits : bits << 16;
    };
    put(phases, static_cast<std::uint32_t>(turn));
    put(halves, half_bits(half));
    const double cosine = std::cos(2 * std::numbers::pi * turn / 65536);
    feature[row * size(tiles) * 64 + j] = kept == Kept::phases ? cosine : kept == Kept::halves ? half : cosine + half;
  }
  std::size_t offset(int layer) const { return 4 + size(layer) * size(features) * kWidth; }
  // factor features^T . gradient
  std::vector<double> products(int layer, int member, double factor) const {
    std::vector<double> sum(size(features) * kWidth, 0.0);
    const std::size_t rows = size(row_blocks) * 64, first = (size(layer) * size(members) + size(member)) * rows;
    for (std::size_t row = first; row < first + rows; ++row) {
      for (std::size_t h = 0; h < size(features); ++h) {
        const double x = factor * feature[row * size(tiles) * 64 + h];
        for (std::size_t j = 0; j < kWidth; ++j) sum[h * kWidth + j] += x * gradient[row * kWidth + j];
      }
    }
    return sum;
  }
};

constexpr float kFactor = 0.25F;  // of every member
constexpr double kBeta1 = 0.9, kBeta2 = 0.99, kEpsilon = 1e-6, kRate = 0.05, kDecay = 0.03;

StepNumbers numbers_of(int member) {
  StepNumbers numbers = {};
  numbers.decay = static_cast<float>(kDecay);
  numbers.adam_rate = static_cast<float>(kRate * (member + 1));
  numbers.correction1 = 0.5F;
  numbers.correction2 = 0.25F;
  return numbers;
}

struct Result {
  std::vector<float> gradient, weights, moment1, moment2;  // [members, stride]
  std::vector<float> rows_images, columns_images, wanted_rows, wanted_columns;
};

Result run(const Problem& p, bool accumulate, bool adam) {
  const Stream stream;
  const auto on_device = [&]<class T>(const std::vector<T>& from) {
    DeviceArray<T> array(from.size());
    array.upload(from, stream);
    return array;
  };
  DeviceArray<uint4> phases = on_device(p.phases), halves = on_device(p.halves);
  DeviceArray<float> fragments = on_device(p.fragments), gradient = on_device(p.before), weights = on_device(p.weights),
                     moment1 = on_device(p.moment1), moment2 = on_device(p.moment2), images(p.fragments.size());
  DeviceArray<float> factors = on_device(std::vector<float>(size(p.members), kFactor));
  std::vector<StepNumbers> all_numbers;
  for (int z = 0; z < p.members; ++z) all_numbers.push_back(numbers_of(z));
  DeviceArray<StepNumbers> numbers = on_device(all_numbers);
  const std::size_t of_layer = size(p.members) * size(p.row_blocks), image = size(p.members) * size(p.tiles) * kTileFloats;
  DeviceArray<float> rows_images(size(p.layers) * image), columns_images(rows_images.size());
  FusedWeightGradient f = {.layers = p.layers,
                           .members = p.members,
                           .row_blocks = p.row_blocks,
                           .tiles = p.tiles,
                           .gradient_stride = p.stride,
                           .accumulate = accumulate,
                           .adam = {},
                           .layer = {}};
  if (adam) {
    f.adam = {.numbers = numbers.data(),
              .beta1 = static_cast<float>(kBeta1),
              .beta2 = static_cast<float>(kBeta2),
              .epsilon = static_cast<float>(kEpsilon),
              .weights = weights.data(),
              .weights_stride = p.stride,
              .moment1 = moment1.data(),
              .moment2 = moment2.data(),
              .gradient_stride = p.stride};
  }
  for (int i = 0; i < p.layers; ++i) {
    const std::size_t block = size(i) * of_layer;
    transpose_fragments(
        {.data = fragments.data() + block * kTileFloats, .division = {}, .factor1 = {}, .factor2 = {}, .constant = 1.0F},
        p.members, p.row_blocks, images.data() + block * kTileFloats, stream.get());
    f.layer[i] = {.phases = p.kept == Kept::halves ? nullptr : phases.data() + block * size(p.tiles) * 512,
                  .added = p.kept == Kept::phases ? nullptr : halves.data() + block * size(p.tiles) * 512,
                  .output_gradient = images.data() + block * kTileFloats,
                  .factor1 = {factors.data(), 0, 1},
                  .factor2 = {},
                  .gradient = gradient.data() + p.offset(i),
                  .features = p.features,
                  .offset = p.offset(i),
                  .rows_image = rows_images.data() + size(i) * image,
                  .columns_image = columns_images.data() + size(i) * image};
  }
  fused_weight_gradient(f, stream.get());
  Result r;
  const auto to_host = [&](const DeviceArray<float>& from, std::vector<float>& to) {
    const std::size_t had = to.size();
    to.resize(had + from.size());
    from.download(to.data() + had, from.size(), 0, stream);
  };
  to_host(gradient, r.gradient);
  to_host(weights, r.weights);
  to_host(moment1, r.moment1);
  to_host(moment2, r.moment2);
  if (!adam) return r;
  to_host(rows_images, r.rows_images);
  to_host(columns_images, r.columns_images);
  for (int i = 0; i < p.layers; ++i) {
    DeviceArray<float> rows(image), columns(image);
    make_images({.members = p.members,
                 .features = p.features,
                 .tiles = p.tiles,
                 .data = weights.data() + p.offset(i),
                 .row = kWidth,
                 .column = 1,
                 .member_stride = p.stride,
                 .rows_image = rows.data(),
                 .columns_image = columns.data()},
                stream.get());
    to_host(rows, r.wanted_rows);
    to_host(columns, r.wanted_columns);
  }
  return r;
}

// Few and many blocks of threads; the features fill the last tile, or the last pair of tiles, only in part.
std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (const Kept kept : {Kept::phases, Kept::halves, Kept::both}) {
    all.emplace_back(2, 2, 100, kept);
    all.emplace_back(2, 3, 130, kept);
    all.emplace_back(3, 60, 130, kept);
  }
  return all;
}

TEST(FusedWeights, MultiplyWhatWasKeptWithTheGradients) {
  DRIFT_NEEDS_GPU();
  if (!is_hopper()) GTEST_SKIP() << "not a Hopper";
  for (const Problem& p : problems()) {
    for (const bool accumulate : {false, true}) {
      const Result r = run(p, accumulate, false);
      EXPECT_EQ(run(p, accumulate, false).gradient, r.gradient);
      EXPECT_EQ(r.weights, p.weights);
      for (const int member : {0, p.members - 1}) {
        const std::size_t first = size(member) * p.stride;
        for (int layer = 0; layer < p.layers; ++layer) {
          const std::vector<double> sum = p.products(layer, member, kFactor);
          std::vector<float> here, there;
          for (std::size_t i = 0; i < sum.size(); ++i) {
            const std::size_t at = first + p.offset(layer) + i;
            here.push_back(r.gradient[at] - (accumulate ? p.before[at] : 0.0F));
            there.push_back(static_cast<float>(sum[i]));
          }
          EXPECT_LT(distance(here, there), kTf32) << p.features << " layer " << layer << " member " << member;
        }
        for (const std::size_t at : {first + 3, first + p.stride - 1}) EXPECT_EQ(r.gradient[at], p.before[at]);
      }
    }
  }
}

TEST(FusedWeights, FollowAdamAndLeaveTheirImages) {
  DRIFT_NEEDS_GPU();
  if (!is_hopper()) GTEST_SKIP() << "not a Hopper";
  for (const Problem& p : problems()) {
    const Result r = run(p, true, true), again = run(p, true, true);
    EXPECT_EQ(again.weights, r.weights);
    EXPECT_EQ(r.rows_images, r.wanted_rows);
    EXPECT_EQ(r.columns_images, r.wanted_columns);
    for (const int member : {0, p.members - 1}) {
      const int layer = p.layers - 1;
      const StepNumbers numbers = numbers_of(member);
      const std::vector<double> sum = p.products(layer, member, kFactor);
      std::vector<float> here, there, moments_here, moments_there;
      for (std::size_t i = 0; i < sum.size(); ++i) {
        const std::size_t at = size(member) * p.stride + p.offset(layer) + i;
        const double g = sum[i] + p.before[at] + kDecay * p.weights[at];
        const double m = kBeta1 * p.moment1[at] + (1 - kBeta1) * g, v = kBeta2 * p.moment2[at] + (1 - kBeta2) * g * g;
        const double step = numbers.adam_rate / numbers.correction1 * m / (std::sqrt(v / numbers.correction2) + kEpsilon);
        here.push_back(p.weights[at] - r.weights[at]);
        there.push_back(static_cast<float>(step));
        moments_here.push_back(r.moment1[at]);
        moments_there.push_back(static_cast<float>(m));
        moments_here.push_back(r.moment2[at]);
        moments_there.push_back(static_cast<float>(v));
      }
      EXPECT_LT(distance(here, there), kTf32) << p.features << " member " << member;
      EXPECT_LT(distance(moments_here, moments_there), kTf32) << p.features << " member " << member;
    }
  }
}

}  // namespace
}  // namespace drift::cuda
