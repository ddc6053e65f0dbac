#include "engine/cpu/step_noise.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/random.h"

namespace drift::cpu {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The row is still to be filled in.
NoiseRow noise_of(std::uint64_t seed, std::uint32_t member, std::uint64_t step, std::size_t matrix, Purpose purpose) {
  const Words words = philox({static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32), member,
                              static_cast<std::uint32_t>(matrix) << 16 | static_cast<std::uint32_t>(purpose)},
                             {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
  return {.key = {words[0], words[1]}, .tail = {words[2], words[3]}, .row = 0};
}

Words words_of(const NoiseRow& row, std::size_t counter) {
  return philox({static_cast<std::uint32_t>(counter), row.row, row.tail[0], row.tail[1]}, row.key);
}

double uniform(std::uint32_t bits) { return (static_cast<double>(bits >> 9) + 0.5) * 0x1p-23; }

}  // namespace

template <class Real>
void StepNoise::mask(std::size_t matrix, std::size_t first_row, double rate, MatrixView<Real> mask) const {
  NoiseRow noise = noise_of(seed_, member_, step_, matrix, Purpose::dropout);
  const auto dropped = static_cast<std::uint32_t>(std::clamp(std::lround(rate * 65536.0), 0L, 65535L));
  const auto kept = static_cast<Real>(65536.0 / (65536.0 - dropped));
  for (std::size_t row = 0; row < mask.rows; ++row) {
    noise.row = static_cast<std::uint32_t>(first_row + row);
    mask_row(noise, dropped, kept, std::span(mask.row(row), mask.cols));
  }
}

template <class Real>
void StepNoise::normal(std::size_t matrix, std::size_t first_row, MatrixView<Real> numbers) const {
  NoiseRow noise = noise_of(seed_, member_, step_, matrix, Purpose::weight_noise);
  for (std::size_t row = 0; row < numbers.rows; ++row) {
    noise.row = static_cast<std::uint32_t>(first_row + row);
    normal_row(noise, std::span(numbers.row(row), numbers.cols));
  }
}

template void StepNoise::mask(std::size_t, std::size_t, double, MatrixView<float>) const;
template void StepNoise::mask(std::size_t, std::size_t, double, MatrixView<double>) const;
template void StepNoise::normal(std::size_t, std::size_t, MatrixView<float>) const;
template void StepNoise::normal(std::size_t, std::size_t, MatrixView<double>) const;

// The order of the columns is that of noise_kernels.cpp.
void mask_row(const NoiseRow& row, std::uint32_t dropped, double kept, std::span<double> mask) {
  constexpr std::size_t kColumns = 8 * kCountersAGroup;
  for (std::size_t column = 0; column < mask.size(); ++column) {
    const std::size_t group = column / kColumns, within = column % kColumns;
    const Words words = words_of(row, group * kCountersAGroup + within % kCountersAGroup);
    const std::size_t half = within / kCountersAGroup;
    const std::uint32_t bits = words[half / 2] >> (16 * (half % 2)) & 0xFFFF;
    mask[column] = bits < dropped ? 0.0 : kept;
  }
}

void normal_row(const NoiseRow& row, std::span<double> numbers) {
  constexpr std::size_t kColumns = 4 * kCountersAGroup;
  for (std::size_t column = 0; column < numbers.size(); ++column) {
    const std::size_t group = column / kColumns, within = column % kColumns;
    const Words words = words_of(row, group * kCountersAGroup + within % kCountersAGroup);
    const std::size_t part = within / kCountersAGroup, pair = part / 2 * 2;
    const double radius = std::sqrt(-2.0 * std::log(uniform(words[pair])));
    const double angle = 2.0 * std::numbers::pi * uniform(words[pair + 1]);
    numbers[column] = radius * (part % 2 == 0 ? std::cos(angle) : std::sin(angle));
  }
}

}  // namespace drift::cpu
