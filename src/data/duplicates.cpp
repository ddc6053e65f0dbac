// Equal observations have equal hashes. Each gets a key: the upper bits of its hash, and its index below them. Sorted, equal
// hashes are neighbours, to be compared number by number. The keys are made and sorted in parts, by their first bits, so that
// they take little memory.

#include "data/duplicates.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/threads.h"
#include "data/observation_columns.h"

namespace drift {
namespace {

constexpr unsigned kPartBits = 3;
constexpr std::size_t kParts = std::size_t{1} << kPartBits;

// The finaliser of SplitMix64: Steele, Lea and Flood 2014.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

std::uint64_t bits(double number) { return std::bit_cast<std::uint64_t>(number + 0.0); }  // -0 becomes 0

class Finder {
 public:
  explicit Finder(const Observations& observations)
      : o_(observations), index_bits_(static_cast<unsigned>(std::bit_width(observations.size()))) {}

  // Indices of those with an earlier equal, among the keys that begin with `part`.
  std::vector<std::size_t> find(std::size_t part) const {
    std::vector<std::uint64_t> keys;
    keys.reserve(o_.size() / kParts + o_.size() / 64 + 64);
    const std::uint64_t index_mask = (std::uint64_t{1} << index_bits_) - 1;
    for (std::size_t i = 0; i < o_.size(); ++i) {
      const std::uint64_t hash = hash_of(i);
      if (hash >> (64 - kPartBits) == part) keys.push_back((hash & ~index_mask) | i);
    }
    std::sort(keys.begin(), keys.end());
    std::vector<std::size_t> found;
    for (std::size_t begin = 0, end = 1; begin < keys.size(); begin = end) {
      for (end = begin + 1; end < keys.size() && (keys[end] ^ keys[begin]) <= index_mask; ++end) {
      }
      if (end - begin > 1) compare({keys.begin() + static_cast<long>(begin), keys.begin() + static_cast<long>(end)}, found);
    }
    return found;
  }

 private:
  std::uint64_t hash_of(std::size_t i) const {
    std::uint64_t hash = mixed(bits(o_.lon_deg[i]));
    hash = mixed(hash ^ bits(o_.lat_deg[i]));
    hash = mixed(hash ^ bits(o_.value[i]));
    if (!o_.time_days.empty()) hash = mixed(hash ^ bits(o_.time_days[i]));
    return o_.platform.empty() ? hash : mixed(hash ^ o_.platform[i]);
  }

  bool are_equal(std::size_t a, std::size_t b) const {
    return o_.lon_deg[a] == o_.lon_deg[b] && o_.lat_deg[a] == o_.lat_deg[b] && o_.value[a] == o_.value[b] &&
           (o_.time_days.empty() || o_.time_days[a] == o_.time_days[b]) &&
           (o_.platform.empty() || o_.platform[a] == o_.platform[b]);
  }

  void compare(const std::vector<std::uint64_t>& keys, std::vector<std::size_t>& found) const {
    std::vector<std::size_t> different;
    for (const std::uint64_t key : keys) {
      const std::size_t index = key & ((std::uint64_t{1} << index_bits_) - 1);
      const bool known = std::any_of(different.begin(), different.end(), [&](std::size_t d) { return are_equal(d, index); });
      if (known) {
        found.push_back(index);
      } else {
        different.push_back(index);
      }
    }
  }

  const Observations& o_;
  unsigned index_bits_;
};

}  // namespace

std::size_t drop_duplicates(Observations& observations, int threads) {
  const Finder finder(observations);
  std::vector<std::vector<std::size_t>> found(kParts);
  std::atomic<std::size_t> next{0};
  run_on_threads(std::min(threads, static_cast<int>(kParts)), [&](int) {
    for (std::size_t part = next++; part < kParts; part = next++) found[part] = finder.find(part);
  });
  std::vector<bool> dropped;
  std::size_t count = 0;
  for (const std::vector<std::size_t>& some : found) {
    if (!some.empty()) dropped.resize(observations.size(), false);
    for (const std::size_t index : some) dropped[index] = true;
    count += some.size();
  }
  if (count == 0) return 0;
  for_each_column(observations, [&](auto& column) {
    if (column.empty()) return;
    std::size_t to = 0;
    for (std::size_t i = 0; i < column.size(); ++i) {
      if (!dropped[i]) column[to++] = column[i];
    }
    column.resize(to);
  });
  return count;
}

}  // namespace drift
