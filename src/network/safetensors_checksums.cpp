#include "network/safetensors_checksums.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "drift/error.h"

namespace drift {
namespace {

constexpr const char* kHeaderKey = "crc32.header";
constexpr const char* kTensorsKey = "crc32.tensors";
constexpr std::size_t kDigits = 8;
constexpr std::string_view kZeros = "00000000";
// As write_safetensors writes the entry. Within a text of the metadata its quotes would be escaped, so it is found here alone.
constexpr std::string_view kHeaderEntry = "\"crc32.header\":\"";

// Lower case alone, as they are written: a flipped bit may make capitals.
std::optional<std::uint32_t> parse_digits(std::string_view text) {
  if (text.find_first_of("ABCDEF") != std::string_view::npos) return std::nullopt;
  std::uint32_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value, 16);
  if (text.size() != kDigits || error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

// Start of the eight digits of the header's own checksum, or npos.
std::size_t place_of_digits(std::string_view header) {
  const std::size_t found = header.find(kHeaderEntry);
  if (found == std::string_view::npos || header.size() - found < kHeaderEntry.size() + kDigits) return std::string_view::npos;
  return found + kHeaderEntry.size();
}

std::uint32_t header_crc32(std::string_view header, std::size_t digits) {
  const auto crc32 = [](std::string_view text, std::uint32_t before) { return crc32_of(std::as_bytes(std::span(text)), before); };
  return crc32(header.substr(digits + kDigits), crc32(kZeros, crc32(header.substr(0, digits), 0)));
}

}  // namespace

std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before) {
  return bytes.empty() ? before : libdeflate_crc32(before, bytes.data(), bytes.size());  // a null pointer would mean "begin anew"
}

std::map<std::string, std::string> with_checksums(std::map<std::string, std::string> metadata,
                                                  std::span<const std::uint32_t> tensors) {
  std::string list;
  for (const std::uint32_t checksum : tensors) list += fmt::format("{}{:08x}", list.empty() ? "" : " ", checksum);
  metadata.insert_or_assign(kTensorsKey, std::move(list));
  metadata.insert_or_assign(kHeaderKey, std::string(kZeros));
  return metadata;
}

void seal_header(std::string& header) {
  const std::size_t digits = place_of_digits(header);
  header.replace(digits, kDigits, fmt::format("{:08x}", header_crc32(header, digits)));
}

void check_header_crc32(const std::string& header) {
  const std::size_t digits = place_of_digits(header);
  if (digits == std::string::npos) return;
  if (parse_digits(std::string_view(header).substr(digits, kDigits)) != header_crc32(header, digits)) {
    throw Error("is damaged: its header does not match its checksum; fetch or copy the file again");
  }
}

std::optional<std::vector<std::uint32_t>> take_checksums(std::map<std::string, std::string>& metadata, const std::string& header,
                                                         std::size_t tensors) {
  const auto own = metadata.extract(kHeaderKey), list = metadata.extract(kTensorsKey);
  if (own.empty() && list.empty()) return std::nullopt;
  if (own.empty() || list.empty()) {
    throw Error(fmt::format("is damaged: its metadata have only one of \"{}\" and \"{}\"", kHeaderKey, kTensorsKey));
  }
  if (place_of_digits(header) == std::string::npos) {
    throw Error(
        fmt::format("its header has been rewritten by another program, so its checksums tell nothing; without \"{}\" and "
                    "\"{}\" in its metadata it is read unchecked",
                    kHeaderKey, kTensorsKey));
  }
  std::vector<std::uint32_t> checksums;
  for (std::string_view rest = list.mapped(); !rest.empty(); rest.remove_prefix(std::min(rest.size(), kDigits + 1))) {
    const auto checksum = parse_digits(rest.substr(0, rest.find(' ')));
    if (!checksum) break;
    checksums.push_back(*checksum);
  }
  if (checksums.size() != tensors) {
    throw Error(fmt::format("is damaged: its {} tensors have {} checksums", tensors, checksums.size()));
  }
  return checksums;
}

}  // namespace drift
