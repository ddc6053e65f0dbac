#include "train/value_noise.h"

#include <cmath>
#include <numbers>

#include "core/random.h"

namespace drift {
namespace {

const double kToUnitVariance = std::sqrt(ValueNoise::kTogether / (ValueNoise::kTogether - 1.0));

double uniform(std::uint32_t bits) { return (static_cast<double>(bits >> 9) + 0.5) * 0x1p-23; }

}  // namespace

double ValueNoise::eps(std::uint64_t observation, std::size_t output) const {
  const std::uint32_t own = member_ % kTogether;
  const auto high = static_cast<std::uint32_t>(observation >> 32) << 2;
  double sum = 0.0, mine = 0.0;
  for (std::uint32_t block = 0; 4 * block < kTogether; ++block) {
    const std::array<std::uint32_t, 4> words =
        philox({static_cast<std::uint32_t>(observation), high | block, member_ / kTogether,
                static_cast<std::uint32_t>(output) << 16 | static_cast<std::uint32_t>(Purpose::value_noise)},
               {static_cast<std::uint32_t>(seed_), static_cast<std::uint32_t>(seed_ >> 32)});
    for (std::uint32_t pair = 0; pair < 2 && 4 * block + 2 * pair < kTogether; ++pair) {
      const std::size_t word = std::size_t{2} * pair;
      const double radius = std::sqrt(-2.0 * std::log(uniform(words[word])));
      const double angle = 2.0 * std::numbers::pi * uniform(words[word + 1]);
      const double z[2] = {radius * std::cos(angle), radius * std::sin(angle)};
      const std::uint32_t first = 4 * block + 2 * pair;
      sum += first + 1 < kTogether ? z[0] + z[1] : z[0];
      if (own / 2 * 2 == first) mine = z[own - first];
    }
  }
  return kToUnitVariance * (mine - sum / kTogether);
}

void ValueNoise::add(std::uint64_t observation, double weight, std::span<float> values) const {
  if (!(sd_ > 0.0) || !(weight > 0.0)) return;
  const double sd = sd_ / std::sqrt(weight);
  for (std::size_t output = 0; output < values.size(); ++output) {
    values[output] += static_cast<float>(sd * eps(observation, output));
  }
}

}  // namespace drift
