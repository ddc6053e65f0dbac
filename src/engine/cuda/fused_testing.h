#pragma once

#include <bit>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/random.h"
#include "engine/cuda/fused.h"

namespace drift::cuda {

// What tests of the fused kernels share: numbers in the kernels' layouts, and the same numbers plainly.

inline constexpr double kRoundedFactors = 1e-3;  // both factors have 11 bits
inline constexpr std::size_t kWidth = kFusedWidth;

inline std::vector<float> normals(std::size_t count, std::uint64_t seed) {
  RandomStream stream({.seed = seed});
  std::vector<float> all(count);
  for (float& x : all) x = static_cast<float>(stream.normal());
  return all;
}

template <class T>
DeviceArray<T> on_device(const std::vector<T>& from, const Stream& stream) {
  DeviceArray<T> array(from.size());
  array.upload(from, stream);
  return array;
}
template <class T>
std::vector<T> to_host(const DeviceArray<T>& from, const Stream& stream) {
  std::vector<T> to(from.size());
  from.download(to.data(), to.size(), 0, stream);
  return to;
}

// Random numbers as an image has them, for `tiles` tiles.
inline std::vector<ImageWord> image_of_normals(int tiles, Precision precision, std::uint64_t seed) {
  const std::vector<float> numbers = normals(static_cast<std::size_t>(tiles) * kTileEntries, seed);
  std::vector<ImageWord> words;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(numbers[i]);
    if (precision == Precision::tf32) {
      words.push_back(bits);
    } else if (i % 2 == 0) {
      words.push_back(bits >> 16);
    } else {
      words.back() |= bits & 0xFFFF0000U;
    }
  }
  return words;
}

enum class Kept { phases, halves, both };

inline std::size_t size(int count) { return static_cast<std::size_t>(count); }

// Bits of an IEEE half that is +-k / 64, 0 < k < 128.
inline std::uint32_t half_bits(double value) {
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
  std::vector<float> fragments;                          // [layers, members, row blocks, kTileEntries]
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
    fragments[row / 64 * kTileEntries + (j / 8 * 128 + thread) * 4 + r % 16 / 8 * 2 + j % 2] = value;
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

inline constexpr float kFactor = 0.25F;  // of every member
inline constexpr double kBeta1 = 0.9, kBeta2 = 0.99, kEpsilon = 1e-6, kRate = 0.05, kDecay = 0.03;

inline StepNumbers numbers_of(int member) {
  StepNumbers numbers = {};
  numbers.decay = static_cast<float>(kDecay);
  numbers.adam_rate = static_cast<float>(kRate * (member + 1));
  numbers.correction1 = 0.5F;
  numbers.correction2 = 0.25F;
  return numbers;
}

}  // namespace drift::cuda
