#include "core/random.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <numbers>

#include "drift/error.h"

namespace drift {

namespace {

// Salmon et al. 2011, table 2 and section 3.3: the multipliers of the two halves of the counter, and the Weyl increments that
// change the key from round to round (the golden ratio and sqrt(3) - 1, as fractions of 2^32).
constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;

constexpr std::uint32_t high_half(std::uint64_t word) { return static_cast<std::uint32_t>(word >> 32); }
constexpr std::uint32_t low_half(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

}  // namespace

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t product0 = kMultiplier0 * counter[0];
    const std::uint64_t product1 = kMultiplier1 * counter[2];
    counter = {high_half(product1) ^ counter[1] ^ key[0], low_half(product1), high_half(product0) ^ counter[3] ^ key[1],
               low_half(product0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return counter;
}

RandomStream::RandomStream(const RandomKey& key, std::uint32_t substream)
    : counter_{0, substream, key.member, static_cast<std::uint32_t>(key.layer) << 16 | static_cast<std::uint32_t>(key.purpose)},
      key_{low_half(key.seed), high_half(key.seed)} {}

std::uint32_t RandomStream::bits() {
  if (used_ == 4) {
    block_ = philox(counter_, key_);
    used_ = 0;
    if (++counter_[0] == 0) throw Error("random: a stream ran out after 2^34 numbers; draw from more substreams");
  }
  return block_[static_cast<std::size_t>(used_++)];
}

double RandomStream::uniform() {
  const std::uint64_t high = bits();
  const std::uint64_t word = high << 32 | bits();
  // An odd multiple of 2^-53: exact in double, never 0 or 1, and symmetric about 1/2.
  return static_cast<double>(word >> 11 | 1) * 0x1p-53;
}

double RandomStream::normal() {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2.0 * std::log(uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_normal_ = true;
  return radius * std::cos(angle);
}

double RandomStream::gamma(double shape) {
  if (!(shape > 0.0)) throw UsageError(fmt::format("random: a gamma distribution needs a shape above 0, not {}", shape));
  if (shape < 1.0) {
    // X U^(1/a) is Gamma(a) when X is Gamma(a + 1). For shapes below 0.05 or so the power may underflow to 0.
    const double larger = gamma(shape + 1.0);
    return larger * std::pow(uniform(), 1.0 / shape);
  }
  // A cubed normal d (1 + x / sqrt(9d))^3, d = a - 1/3, is nearly Gamma(a); rejection makes it exact, accepting over 95 %.
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  for (;;) {
    const double x = normal();
    const double root = 1.0 + c * x;
    if (root <= 0.0) continue;
    const double v = root * root * root;
    if (std::log(uniform()) < 0.5 * x * x + d * (1.0 - v + std::log(v))) return d * v;
  }
}

}  // namespace drift
