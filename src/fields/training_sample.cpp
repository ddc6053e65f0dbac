#include "fields/training_sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "drift/error.h"
#include "fields/base64.h"

namespace drift {
namespace {

constexpr std::size_t kFewest = 3;  // observations to judge by

// The finaliser of splitmix64 (Steele, Lea & Flood 2014) after each word. Files hold its results: it never changes.
std::uint64_t mixed(std::uint64_t state, std::uint64_t word) {
  state = (state ^ word) + 0x9E3779B97F4A7C15U;
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9U;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBU;
  return state ^ (state >> 31);
}

std::uint64_t hash_of(const Observations& o, std::size_t row) {
  const auto bits = [](double number) { return std::bit_cast<std::uint64_t>(number + 0.0); };  // -0 is 0
  std::uint64_t hash = mixed(0, bits(o.lon_deg[row]));
  hash = mixed(hash, bits(o.lat_deg[row]));
  if (!o.time_days.empty()) hash = mixed(hash, bits(o.time_days[row]));
  return mixed(hash, bits(static_cast<double>(o.value[row])));
}

}  // namespace

std::vector<std::uint64_t> training_sample(const Observations& observations, const Rows& rows) {
  const std::size_t count = rows ? rows->size() : observations.size();
  std::vector<std::uint64_t> hashes(count);
  for (std::size_t i = 0; i < count; ++i) hashes[i] = hash_of(observations, rows ? (*rows)[i] : i);
  const std::size_t kept = std::min(count, kTrainingSample);
  std::partial_sort(hashes.begin(), hashes.begin() + static_cast<std::ptrdiff_t>(kept), hashes.end());
  hashes.resize(kept);
  return hashes;
}

std::optional<double> share_that_trained(const std::vector<std::uint64_t>& sample, const Observations& observations) {
  if (sample.empty()) return std::nullopt;
  // A sample that is not full holds all observations that trained: any hash can be looked up.
  const std::uint64_t last = sample.size() < kTrainingSample ? UINT64_MAX : sample.back();
  std::size_t known = 0, trained = 0;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    const std::uint64_t hash = hash_of(observations, i);
    if (hash > last) continue;
    ++known;
    trained += std::binary_search(sample.begin(), sample.end(), hash) ? 1 : 0;
  }
  if (known < std::min(kFewest, observations.size())) return std::nullopt;
  return static_cast<double>(trained) / static_cast<double>(known);
}

std::string sample_text(const std::vector<std::uint64_t>& sample) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(8 * sample.size());
  for (const std::uint64_t hash : sample) {
    for (int byte = 0; byte < 8; ++byte) bytes.push_back(static_cast<std::uint8_t>(hash >> (8 * byte)));
  }
  return to_base64(bytes);
}

std::vector<std::uint64_t> sample_from_text(const std::string& text) {
  const std::vector<std::uint8_t> bytes = from_base64(text);
  if (bytes.size() % 8 != 0 || bytes.size() > 8 * kTrainingSample) {
    throw Error(fmt::format("the sample of training observations has {} bytes", bytes.size()));
  }
  std::vector<std::uint64_t> sample(bytes.size() / 8);
  for (std::size_t i = 0; i < bytes.size(); ++i) sample[i / 8] |= static_cast<std::uint64_t>(bytes[i]) << (8 * (i % 8));
  if (!std::is_sorted(sample.begin(), sample.end())) throw Error("the sample of training observations is not sorted");
  return sample;
}

}  // namespace drift
