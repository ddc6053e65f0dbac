#include "engine/cpu/step_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace drift::cpu {
namespace {

using Words = std::array<std::uint32_t, 4>;

// The numbers of one matrix in one step.
class MatrixNoise {
 public:
  MatrixNoise(std::uint64_t seed, std::uint32_t member, std::uint64_t step, std::size_t matrix, Purpose purpose)
      : state_(philox({static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(step >> 32), member,
                       static_cast<std::uint32_t>(matrix) << 16 | static_cast<std::uint32_t>(purpose)},
                      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)})) {}

  Words operator()(std::size_t row, std::size_t block) const {
    return philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(row), state_[2], state_[3]},
                  {state_[0], state_[1]});
  }

 private:
  Words state_;
};

constexpr std::size_t kMaskBlock = 8;  // columns that share 128 bits, 16 for each
constexpr std::size_t kNormalBlock = 4;

}  // namespace

template <class Real>
void StepNoise::mask(std::size_t matrix, std::size_t first_row, double rate, MatrixView<Real> mask) const {
  const MatrixNoise noise(seed_, member_, step_, matrix, Purpose::dropout);
  const auto dropped = static_cast<std::uint32_t>(std::clamp(std::lround(rate * 65536.0), 0L, 65535L));
  const auto kept = static_cast<Real>(65536.0 / (65536.0 - dropped));
  for (std::size_t row = 0; row < mask.rows; ++row) {
    Real* out = mask.row(row);
    for (std::size_t col = 0; col < mask.cols; col += kMaskBlock) {
      const Words words = noise(first_row + row, col / kMaskBlock);
      const std::size_t count = std::min(kMaskBlock, mask.cols - col);
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t bits = words[i / 2] >> (16 * (i % 2)) & 0xFFFF;
        out[col + i] = bits < dropped ? Real(0) : kept;
      }
    }
  }
}

template <class Real>
void StepNoise::normal(std::size_t matrix, std::size_t first_row, MatrixView<Real> numbers) const {
  const MatrixNoise noise(seed_, member_, step_, matrix, Purpose::weight_noise);
  const auto uniform = [](std::uint32_t bits) { return (static_cast<float>(bits >> 8) + 0.5F) * 0x1p-24F; };
  for (std::size_t row = 0; row < numbers.rows; ++row) {
    Real* out = numbers.row(row);
    for (std::size_t col = 0; col < numbers.cols; col += kNormalBlock) {
      const Words words = noise(first_row + row, col / kNormalBlock);
      std::array<float, kNormalBlock> normal;
      for (std::size_t i = 0; i < kNormalBlock; i += 2) {
        const float radius = std::sqrt(-2.0F * std::log(uniform(words[i])));
        const float angle = 2.0F * std::numbers::pi_v<float> * uniform(words[i + 1]);
        normal[i] = radius * std::cos(angle);
        normal[i + 1] = radius * std::sin(angle);
      }
      std::copy_n(normal.begin(), std::min(kNormalBlock, numbers.cols - col), out + col);
    }
  }
}

template void StepNoise::mask(std::size_t, std::size_t, double, MatrixView<float>) const;
template void StepNoise::mask(std::size_t, std::size_t, double, MatrixView<double>) const;
template void StepNoise::normal(std::size_t, std::size_t, MatrixView<float>) const;
template void StepNoise::normal(std::size_t, std::size_t, MatrixView<double>) const;

}  // namespace drift::cpu
