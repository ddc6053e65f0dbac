#include "engine/cpu/muon.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "core/random.h"
#include "engine/cuda/cuda_testing.h"
#include "engine/cuda/fused.h"
#include "engine/cuda/muon.h"

namespace drift::cuda {
namespace {

constexpr std::size_t kCols = 128;
constexpr float kMu = 0.9F, kRate = 0.01F, kDecay = 0.02F;
constexpr int kIterations = 5;

// Members of two bottlenecks each, with other parameters between and behind them.
struct Problem {
  std::size_t rows, members, stride;
  std::vector<std::size_t> offsets;
  std::vector<float> factors = {1.0F, 0.5F};
  std::vector<float> weights, gradient, momentum;

  Problem(std::size_t row_count, std::size_t member_count) : rows(row_count), members(member_count) {
    offsets = {6, rows * kCols + 10};
    stride = 2 * rows * kCols + 14;
    RandomStream stream({.seed = 7});
    for (auto* list : {&weights, &gradient, &momentum}) {
      list->resize(members * stride);
      for (float& x : *list) x = static_cast<float>(stream.normal());
    }
  }
};

std::vector<StepNumbers> numbers_of(const Problem& p) {
  std::vector<StepNumbers> numbers(p.members);
  for (std::size_t z = 0; z < p.members; ++z) {
    numbers[z].decay = kDecay * static_cast<float>(z + 1);
    numbers[z].muon_rate = kRate * static_cast<float>(z + 1);
  }
  return numbers;
}

struct Images {
  std::vector<ImageWord> rows, columns;
};

// `steps` steps with the same gradient; the images of both bottlenecks too, where asked for.
void step_on_gpu(Problem& p, std::uint64_t steps, bool fused, Precision precision = Precision::tf32, Images* images = nullptr,
                 bool one_by_one = false) {
  const Stream stream;
  DeviceArray<float> weights(p.weights.size()), gradient(p.gradient.size()), momentum(p.momentum.size());
  DeviceArray<StepNumbers> numbers(p.members);
  weights.upload(p.weights, stream);
  gradient.upload(p.gradient, stream);
  momentum.upload(p.momentum, stream);
  numbers.upload(numbers_of(p), stream);
  const MuonArrays arrays = {.members = static_cast<int>(p.members),
                             .layers = 0,
                             .size = 0,
                             .offsets = nullptr,
                             .factors = nullptr,
                             .mu = kMu,
                             .weights = weights.data(),
                             .weights_stride = p.stride,
                             .gradient = gradient.data(),
                             .gradient_stride = p.stride,
                             .momentum = momentum.data(),
                             .moment_stride = p.stride,
                             .x = nullptr,
                             .partial = nullptr};
  Muon::fusing_allowed = fused;
  Muon muon(arrays, static_cast<int>(p.rows), static_cast<int>(kCols), p.offsets, p.factors, kIterations, precision, stream);
  Muon::fusing_allowed = true;
  const int tiles = static_cast<int>((p.rows + kFusedTile - 1) / kFusedTile);
  const std::size_t size = p.members * static_cast<std::size_t>(tiles * image_words(precision));
  DeviceArray<ImageWord> rows_images(2 * size), columns_images(2 * size);
  if (images != nullptr) {
    muon.write_images(
        tiles,
        [&](std::size_t offset) {
          const std::size_t at = offset == p.offsets[0] ? 0 : size;
          return MuonImages{rows_images.data() + at, columns_images.data() + at};
        },
        stream);
  }
  for (std::uint64_t i = 0; i < up_to(steps); ++i) {
    if (fused && one_by_one) {
      for (const std::size_t offset : p.offsets) muon.enqueue_one(offset, numbers.data(), stream.get());
    } else {
      muon.enqueue(numbers.data(), stream.get());
    }
  }
  weights.download(p.weights.data(), p.weights.size(), 0, stream);
  momentum.download(p.momentum.data(), p.momentum.size(), 0, stream);
  if (images == nullptr) return;
  images->rows.resize(2 * size);
  images->columns.resize(2 * size);
  rows_images.download(images->rows.data(), 2 * size, 0, stream);
  columns_images.download(images->columns.data(), 2 * size, 0, stream);
}

void step_on_cpu(Problem& p, std::uint64_t steps) {
  const std::size_t size = p.rows * kCols;
  cpu::Muon muon(p.rows, kCols);
  const std::vector<StepNumbers> numbers = numbers_of(p);
  for (std::uint64_t i = 0; i < up_to(steps); ++i) {
    for (std::size_t z = 0; z < p.members; ++z) {
      for (std::size_t layer = 0; layer < 2; ++layer) {
        const std::size_t at = z * p.stride + p.offsets[layer];
        std::vector<float> g(size);
        for (std::size_t n = 0; n < size; ++n) g[n] = p.gradient[at + n] + numbers[z].decay * p.weights[at + n];
        muon.step({.rate = numbers[z].muon_rate * p.factors[layer], .momentum = kMu, .iterations = kIterations}, g,
                  {p.weights.data() + at, size}, {p.momentum.data() + at, size});
      }
    }
  }
}

std::vector<float> difference(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) result[i] = a[i] - b[i];
  return result;
}

// Factors of 11 bits in fifteen products one after the other; singular values that are still growing carry the rounding of the
// large ones. What the same products cost one by one, in the same precision, says what may be lost.
TEST(FusedMuon, MovesWeightsAsTheCpuDoes) {
  DRIFT_NEEDS_HOPPER();
  for (const std::size_t rows : {128, 130, 256, 300, 512, 1000, 1024}) {
    const Problem start(rows, 3);
    Problem here = start, apart = start, there = start;
    step_on_gpu(here, 2, true);
    step_on_gpu(apart, 2, false);
    step_on_cpu(there, 2);
    const std::vector<float> moved = difference(there.weights, start.weights);
    const double by_products = distance(difference(apart.weights, start.weights), moved);
    EXPECT_LT(by_products, 0.02) << rows;
    EXPECT_LT(distance(difference(here.weights, start.weights), moved), 1.6 * by_products + 1e-3) << rows;
    EXPECT_LT(distance(here.momentum, there.momentum), 1e-4) << rows;
    for (std::size_t i = 0; i < here.stride; ++i) {
      const bool between = i < 6 || (i >= rows * kCols + 6 && i < rows * kCols + 10) || i >= 2 * rows * kCols + 10;
      if (between) {
        ASSERT_EQ(here.weights[i], start.weights[i]) << i;
        ASSERT_EQ(here.momentum[i], start.momentum[i]) << i;
      }
    }
  }
}

TEST(FusedMuon, IsTheSameToTheBitInEveryRun) {
  DRIFT_NEEDS_HOPPER();
  const Problem start(1000, 10);
  Problem first = start, second = start, apart = start;
  step_on_gpu(first, 3, true);
  step_on_gpu(second, 3, true, Precision::tf32, nullptr, true);  // and one bottleneck at a time
  EXPECT_EQ(first.weights, second.weights);
  EXPECT_EQ(first.momentum, second.momentum);
  step_on_gpu(apart, 3, false);
  EXPECT_NE(first.weights, apart.weights);  // else the fused kernel was not run
}

TEST(FusedMuon, LeavesFloat32AsItIs) {
  DRIFT_NEEDS_GPU();
  const Problem start(256, 2);
  Problem allowed = start, not_allowed = start;
  step_on_gpu(allowed, 2, true, Precision::float32);
  step_on_gpu(not_allowed, 2, false, Precision::float32);
  EXPECT_EQ(allowed.weights, not_allowed.weights);
}

TEST(FusedMuon, StaysWithoutGradientsAndShowsWhatIsNotANumber) {
  DRIFT_NEEDS_HOPPER();
  Problem p(300, 3);
  for (auto* list : {&p.weights, &p.gradient, &p.momentum}) std::fill_n(list->begin(), p.stride, 0.0F);  // member 0
  p.gradient[2 * p.stride + p.offsets[1] + 77] = std::numeric_limits<float>::quiet_NaN();
  step_on_gpu(p, 1, true);
  for (std::size_t i = 0; i < p.stride; ++i) {
    ASSERT_EQ(p.weights[i], 0.0F) << i;
    ASSERT_FALSE(std::isnan(p.weights[p.stride + i])) << i;
  }
  EXPECT_FALSE(std::isnan(p.weights[2 * p.stride + p.offsets[0]]));
  EXPECT_TRUE(std::isnan(p.weights[2 * p.stride + p.offsets[1]]));
  EXPECT_TRUE(std::isnan(p.weights[2 * p.stride + p.offsets[1] + 300 * kCols - 1]));
}

class FusedMuonImages : public testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Cuda, FusedMuonImages, fused_precisions(), name_of_precision);

TEST_P(FusedMuonImages, AreOfTheNewWeights) {
  DRIFT_NEEDS_HOPPER();
  for (const std::size_t rows : {130, 1000}) {
    Problem p(rows, 2);
    Images images;
    step_on_gpu(p, 1, true, GetParam(), &images);
    const Stream stream;
    const int tiles = static_cast<int>((rows + kFusedTile - 1) / kFusedTile);
    const std::size_t size = p.members * static_cast<std::size_t>(tiles * image_words(GetParam()));
    DeviceArray<float> weights(p.weights.size());
    DeviceArray<ImageWord> rows_images(size), columns_images(size);
    weights.upload(p.weights, stream);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      make_images({.precision = GetParam(),
                   .members = static_cast<int>(p.members),
                   .features = static_cast<int>(rows),
                   .tiles = tiles,
                   .data = weights.data() + p.offsets[layer],
                   .row = kCols,
                   .column = 1,
                   .member_stride = p.stride,
                   .rows_image = rows_images.data(),
                   .columns_image = columns_images.data()},
                  stream.get());
      Images want{std::vector<ImageWord>(size), std::vector<ImageWord>(size)};
      rows_images.download(want.rows.data(), size, 0, stream);
      columns_images.download(want.columns.data(), size, 0, stream);
      const auto part = [&](const std::vector<ImageWord>& all) {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(layer * size);
        return std::vector<ImageWord>(begin, begin + static_cast<std::ptrdiff_t>(size));
      };
      EXPECT_EQ(part(images.rows), want.rows);
      EXPECT_EQ(part(images.columns), want.columns);
    }
  }
}

}  // namespace
}  // namespace drift::cuda
