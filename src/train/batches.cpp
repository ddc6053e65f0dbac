#include "train/batches.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "core/random.h"

namespace drift {
namespace {

// A hash of `value` under a key, in [0, range): two odd multipliers with a shift between, then the product's high bits.
std::uint32_t hash(std::uint32_t value, std::uint32_t key, std::uint32_t range) {
  value = (value + key) * 0x9E3779B1U;  // a prime next to 2^32 over the golden ratio
  value ^= value >> 15;
  value *= 0x7FEB352DU;
  return static_cast<std::uint32_t>((std::uint64_t{value} * range) >> 32);
}

// (a + b) modulo `modulus`, both below it, without a branch: of sum and sum - modulus the lesser, the latter wrapping round when
// it would be negative.
std::uint32_t add_modulo(std::uint32_t a, std::uint32_t b, std::uint32_t modulus) {
  const std::uint32_t sum = a + b;  // sides are at most 2^31: no overflow
  return std::min(sum, sum - modulus);
}

}  // namespace

Shuffle::Shuffle(std::uint64_t size, std::uint64_t seed, std::uint32_t member, std::uint64_t epoch) : size_(size) {
  assert(size >= 1 && size <= std::uint64_t{1} << 62);
  rows_ = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(size))));
  cols_ = static_cast<std::uint32_t>((size - 1) / rows_ + 1);
  RandomStream stream({.seed = seed, .member = member, .layer = 0, .purpose = Purpose::batches},
                      static_cast<std::uint32_t>(epoch));
  const int rounds = size < kSmall ? kRoundsWhenSmall : kRounds;
  std::generate_n(keys_.begin(), rounds, [&] { return stream.bits(); });
}

template <int rounds>
std::uint64_t Shuffle::walk(std::uint64_t position) const {
  auto row = static_cast<std::uint32_t>(position / cols_);
  auto col = static_cast<std::uint32_t>(position % cols_);
  do {
    for (std::size_t round = 0; round < rounds; round += 2) {
      row = add_modulo(row, hash(col, keys_[round], rows_), rows_);
      col = add_modulo(col, hash(row, keys_[round + 1], cols_), cols_);
    }
    position = std::uint64_t{row} * cols_ + col;
  } while (position >= size_);
  return position;
}

std::uint64_t Shuffle::operator()(std::uint64_t position) const {
  assert(position < size_);
  return size_ < kSmall ? walk<kRoundsWhenSmall>(position) : walk<kRounds>(position);
}

BatchOrder::BatchOrder(std::uint64_t observations, std::size_t batch, std::uint64_t seed, std::uint32_t member)
    : observations_(observations), batch_(batch), seed_(seed), member_(member) {
  assert(observations >= 1 && batch >= 1);
  steps_per_epoch_ = (observations - 1) / batch + 1;
}

std::size_t BatchOrder::size_of(std::uint64_t step) const {
  const std::uint64_t begin = step % steps_per_epoch_ * batch_;
  return static_cast<std::size_t>(std::min<std::uint64_t>(batch_, observations_ - begin));
}

void BatchOrder::indices(std::uint64_t step, std::size_t first, std::span<std::uint64_t> out) const {
  assert(first + out.size() <= size_of(step));
  const Shuffle shuffle(observations_, seed_, member_, step / steps_per_epoch_);
  std::uint64_t position = step % steps_per_epoch_ * batch_ + first;
  for (std::uint64_t& index : out) index = shuffle(position++);
}

}  // namespace drift
