#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace drift {

// Random numbers by counter: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011).
// Every number is a function of its key and its place in the stream alone, so results do not depend on threads or order.

// Ten rounds of Philox on a 128-bit counter with a 64-bit key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

// Purpose of the numbers. Part of the key: the values are fixed for good, since saved results depend on them.
enum class Purpose : std::uint16_t {
  frequencies = 1,
  spectrum = 2,  // chi-squared divisors of the frequencies
  phases = 3,
  degrees = 4,
  poles = 5,
  bottleneck = 6,
  batches = 7,
  simulation = 8,
  split = 9,
  signs = 10,  // of structured frequencies
  tuning = 11,
  dropout = 12,       // which features a training step leaves out
  weight_noise = 13,  // of variational training
  draws = 14,         // from a posterior, for prediction
  value_noise = 15,   // that a member is trained with
};

struct RandomKey {
  std::uint64_t seed = 0;
  std::uint32_t member = 0;
  std::uint16_t layer = 0;
  Purpose purpose = Purpose::frequencies;
};

// A stream of numbers for one key and substream (a feature's index, say): Philox of the counters
//   [block, substream, member, layer << 16 | purpose],  block = 0, 1, ...,  under the key [seed mod 2^32, seed / 2^32].
class RandomStream {
 public:
  explicit RandomStream(const RandomKey& key, std::uint32_t substream = 0);

  std::uint32_t bits();
  double uniform();            // in (0, 1): an odd multiple of 2^-53
  double normal();             // N(0, 1), Box-Muller
  double gamma(double shape);  // Gamma(shape, 1), shape > 0, Marsaglia & Tsang 2000

 private:
  std::array<std::uint32_t, 4> counter_;  // [block, substream, member, layer and purpose]
  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> block_ = {};
  int used_ = 4;  // entries of block_ already given out
  bool has_spare_normal_ = false;
  double spare_normal_ = 0.0;
};

// The key's stream for another purpose.
inline RandomStream stream_for(RandomKey key, Purpose purpose, std::size_t substream) {
  key.purpose = purpose;
  return RandomStream(key, static_cast<std::uint32_t>(substream));
}

}  // namespace drift
