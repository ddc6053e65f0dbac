#include <gtest/gtest.h>

#include <cmath>

#include "engine/cuda/cuda_testing.h"
#include "engine/cuda/fused_testing.h"

namespace drift::cuda {
namespace {

struct Result {
  std::vector<float> gradient, weights, moment1, moment2;  // [members, stride]
  std::vector<ImageWord> rows_images, columns_images, wanted_rows, wanted_columns;
};

Result run(const Problem& p, Precision precision, bool accumulate, bool adam) {
  const Stream stream;
  const auto on_device = [&]<class T>(const std::vector<T>& from) {
    DeviceArray<T> array(from.size());
    array.upload(from, stream);
    return array;
  };
  DeviceArray<uint4> phases = on_device(p.phases), halves = on_device(p.halves);
  DeviceArray<float> fragments = on_device(p.fragments), gradient = on_device(p.before), weights = on_device(p.weights),
                     moment1 = on_device(p.moment1), moment2 = on_device(p.moment2);
  DeviceArray<float> factors = on_device(std::vector<float>(size(p.members), kFactor));
  std::vector<StepNumbers> all_numbers;
  for (int z = 0; z < p.members; ++z) all_numbers.push_back(numbers_of(z));
  DeviceArray<StepNumbers> numbers = on_device(all_numbers);
  const std::size_t of_layer = size(p.members) * size(p.row_blocks), words = size(image_words(precision));
  const std::size_t image = size(p.members) * size(p.tiles) * words;
  DeviceArray<ImageWord> images(size(p.layers) * of_layer * words), rows_images(size(p.layers) * image),
      columns_images(rows_images.size());
  FusedWeightGradient f = {.precision = precision,
                           .layers = p.layers,
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
    transpose_fragments({.data = fragments.data() + block * kTileEntries}, precision, p.members, p.row_blocks,
                        images.data() + block * words, stream.get());
    f.layer[i] = {.phases = p.kept == Kept::halves ? nullptr : phases.data() + block * size(p.tiles) * 512,
                  .added = p.kept == Kept::phases ? nullptr : halves.data() + block * size(p.tiles) * 512,
                  .output_gradient = images.data() + block * words,
                  .factor = {.first = {factors.data(), 0, 1}},
                  .gradient = gradient.data() + p.offset(i),
                  .features = p.features,
                  .offset = p.offset(i),
                  .rows_image = rows_images.data() + size(i) * image,
                  .columns_image = columns_images.data() + size(i) * image};
  }
  fused_weight_gradient(f, stream.get());
  Result r;
  const auto to_host = [&]<class T>(const DeviceArray<T>& from, std::vector<T>& to) {
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
    DeviceArray<ImageWord> rows(image), columns(image);
    make_images({.precision = precision,
                 .members = p.members,
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

class FusedWeights : public testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Cuda, FusedWeights, fused_precisions(), name_of_precision);

TEST_P(FusedWeights, MultiplyWhatWasKeptWithTheGradients) {
  DRIFT_NEEDS_HOPPER();
  const double tolerance = coarser(kRoundedFactors, GetParam());
  for (const Problem& p : problems()) {
    for (const bool accumulate : {false, true}) {
      const Result r = run(p, GetParam(), accumulate, false);
      EXPECT_EQ(run(p, GetParam(), accumulate, false).gradient, r.gradient);
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
          EXPECT_LT(distance(here, there), tolerance) << p.features << " layer " << layer << " member " << member;
        }
        for (const std::size_t at : {first + 3, first + p.stride - 1}) EXPECT_EQ(r.gradient[at], p.before[at]);
      }
    }
  }
}

TEST_P(FusedWeights, FollowAdamAndLeaveTheirImages) {
  DRIFT_NEEDS_HOPPER();
  const double tolerance = coarser(kRoundedFactors, GetParam());
  for (const Problem& p : problems()) {
    const Result r = run(p, GetParam(), true, true), again = run(p, GetParam(), true, true);
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
      EXPECT_LT(distance(here, there), tolerance) << p.features << " member " << member;
      EXPECT_LT(distance(moments_here, moments_there), tolerance) << p.features << " member " << member;
    }
  }
}

}  // namespace
}  // namespace drift::cuda
