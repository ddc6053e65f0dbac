// Where there are more pairs of row blocks than multiprocessors, as in prediction and with many members, a block of threads takes
// several, one after the other. All pairs are given the same numbers here, so that all must come out alike, to the bit.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>

#include "engine/cuda/cuda_testing.h"
#include "engine/cuda/fused_testing.h"

namespace drift::cuda {
namespace {

constexpr int kRounds = 3, kMembers = 3, kRepeats = 3;
const int kTiles = static_cast<int>(up_to(16));  // few under the sanitizers, which follow every one
constexpr std::size_t kPairRows = 2 * kFusedRows;

template <class T>
DeviceArray<T> repeated(const std::vector<T>& numbers, int times, const Stream& stream) {
  DeviceArray<T> all(numbers.size() * size(times));
  for (std::size_t i = 0; i < size(times); ++i) all.upload(numbers.data(), numbers.size(), i * numbers.size(), stream);
  return all;
}

// Of a pair: every word two halves, or two phases.
std::vector<uint4> words(std::uint64_t seed) {
  RandomStream stream({.seed = seed});
  std::vector<uint4> all(2 * size(kTiles) * 512);
  const auto two = [&] { return half_bits((1 + std::floor(120 * stream.uniform())) / 64) | half_bits(-0.5) << 16; };
  for (uint4& four : all) four = {two(), two(), two(), two()};
  return all;
}

// What a layer is made of, the same for every member, and its inputs, the same for every pair.
struct Layer {
  Precision precision;
  int coordinate_count, pairs_of_member, pairs;
  Stream stream;
  DeviceArray<float> input, coordinates, slopes;
  DeviceArray<uint4> words_of_pairs;
  DeviceArray<float> coefficients, q;
  DeviceArray<ImageWord> frequencies, bottleneck;

  Layer(Precision of_products, int coordinate_number)
      : precision(of_products),
        coordinate_count(coordinate_number),
        pairs_of_member(kRounds * multiprocessors() / kMembers),
        pairs(kMembers * pairs_of_member),
        input(repeated(normals(kPairRows * kWidth, 1), pairs, stream)),
        coordinates(repeated(normals(kPairRows * size(coordinate_count), 2), pairs, stream)),
        slopes(repeated(normals(kPairRows, 3), pairs, stream)),
        words_of_pairs(repeated(words(4), pairs, stream)),
        coefficients(repeated(normals(size(kTiles) * size(coordinate_count + 1) * 64, 5), kMembers, stream)),
        q(repeated(normals(size(kTiles) * 64, 8), kMembers, stream)),
        frequencies(repeated(image_of_normals(kTiles, precision, 6), kMembers, stream)),
        bottleneck(repeated(image_of_normals(kTiles, precision, 7), kMembers, stream)) {}

  Division division() const {
    return {.pairs = pairs, .tiles = kTiles, .blocks = multiprocessors(), .rounds = kRounds, .tail = 0};
  }
  Fragments fragments() {
    return {.data = input.data(), .division = {}, .factor = {.first = {}, .second = {}, .constant = 0.03F}};
  }
};

// Every pair's share of `all` is the first one's.
template <class T>
void expect_alike(const DeviceArray<T>& all, const Layer& layer, const std::string& what) {
  std::vector<T> here(all.size());
  all.download(here.data(), here.size(), 0, layer.stream);
  const std::size_t count = here.size() / size(layer.pairs);
  std::vector<std::string> places;
  for (int pair = 1; pair < layer.pairs; ++pair) {
    const T* own = here.data() + size(pair) * count;
    if (std::memcmp(own, here.data(), count * sizeof(T)) == 0) continue;
    std::size_t i = 0;
    while (std::memcmp(own + i, here.data() + i, sizeof(T)) == 0) ++i;
    places.push_back(fmt::format("pair {} from {} of {} on", pair, i, count));
  }
  EXPECT_TRUE(places.empty()) << what << ": " << places.size() << " of " << layer.pairs << " pairs differ; " << places.front();
}

struct Form {
  bool hidden, added, kept, folded;
};

void expect_pairs_alike(Layer& layer, const Form& form) {
  DeviceArray<float> output(form.folded ? 0 : size(layer.pairs) * kPairRows * kWidth);
  DeviceArray<float> row_sums(form.folded ? size(layer.pairs) * kPairRows : 0);
  DeviceArray<uint4> phases(form.kept ? layer.words_of_pairs.size() : 0);
  const std::size_t columns = size(layer.coordinate_count);
  for (int i = 0; i < kRepeats; ++i) {
    fused_forward({.precision = layer.precision,
                   .members = kMembers,
                   .row_blocks = 2 * layer.pairs_of_member,
                   .division = layer.division(),
                   .input = form.hidden ? layer.fragments() : Fragments{},
                   .coordinates = {layer.coordinates.data(), columns, size(layer.pairs_of_member) * kPairRows * columns},
                   .coordinate_count = layer.coordinate_count,
                   .coefficients = layer.coefficients.data(),
                   .frequencies = layer.frequencies.data(),
                   .added = form.added ? layer.words_of_pairs.data() : nullptr,
                   .bottleneck = form.folded ? nullptr : layer.bottleneck.data(),
                   .output = output.data(),
                   .folded = {.q = layer.q.data(), .row_sums = row_sums.data()},
                   .phases = phases.data()},
                  layer.stream.get());
    const std::string what = fmt::format("hidden {}, {} coordinates, added {}, kept {}, folded {}", form.hidden,
                                         layer.coordinate_count, form.added, form.kept, form.folded);
    expect_alike(form.folded ? row_sums : output, layer, what);
    if (form.kept) expect_alike(phases, layer, what + ", phases");
  }
}

class FusedLayers : public testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Cuda, FusedLayers, fused_precisions(), name_of_precision);

TEST_P(FusedLayers, GiveEveryPairOfRowBlocksItsDue) {
  DRIFT_NEEDS_HOPPER();
  for (const int coordinates : {0, 1, 2, 3, 4}) {
    Layer layer(GetParam(), coordinates);
    for (const bool folded : {false, true}) {
      for (const bool kept : {false, true}) {
        for (const bool hidden : {false, true}) {
          if (hidden || coordinates > 0) expect_pairs_alike(layer, {hidden, false, kept, folded});
        }
        if (coordinates == 0) expect_pairs_alike(layer, {true, true, kept, folded});
      }
      if (coordinates == 0) expect_pairs_alike(layer, {false, true, false, folded});
    }
  }
}

TEST_P(FusedLayers, GiveEveryPairOfRowBlocksItsDueOnTheWayBack) {
  DRIFT_NEEDS_HOPPER();
  Layer layer(GetParam(), 0);
  DeviceArray<float> gradient(size(layer.pairs) * kPairRows * kWidth);
  for (const bool folded : {false, true}) {
    for (int i = 0; i < kRepeats; ++i) {
      fused_backward({.precision = GetParam(),
                      .members = kMembers,
                      .row_blocks = 2 * layer.pairs_of_member,
                      .division = layer.division(),
                      .output_gradient = layer.fragments(),
                      .bottleneck = folded ? nullptr : layer.bottleneck.data(),
                      .folded = {.q = layer.q.data(),
                                 .row_sums = nullptr,
                                 .slopes = layer.slopes.data(),
                                 .capacity = size(layer.pairs_of_member) * kPairRows},
                      .frequencies = layer.frequencies.data(),
                      .phases = layer.words_of_pairs.data(),
                      .input_gradient = gradient.data()},
                     layer.stream.get());
      expect_alike(gradient, layer, fmt::format("folded {}", folded));
    }
  }
}

}  // namespace
}  // namespace drift::cuda
