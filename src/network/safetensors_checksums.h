#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace drift {

// Checksums in a safetensors header: two entries of its metadata,
//   crc32.header   of the header's text, these eight digits counted as zeros
//   crc32.tensors  of each tensor's bytes, in the order in which they lie in the file: "1f2e3d4c 00000000 ..."
// CRC-32 as in zip, gzip and PNG (Python: zlib.crc32), eight hexadecimal digits each. They find accidents: every single error of
// up to 32 bits in a row, and all but one in 4 * 10^9 of others. They are no signature: whoever means to can compute them anew.

// `before`: of the bytes that go before.
std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before = 0);

// The metadata with the two entries in place; the header's own is zero until seal_header.
std::map<std::string, std::string> with_checksums(std::map<std::string, std::string> metadata,
                                                  std::span<const std::uint32_t> tensors);
// `header`: the whole text, as it is written.
void seal_header(std::string& header);

// Throws Error unless the header has its own checksum, or none. Comes before parsing: a damaged header is called damaged.
void check_header_crc32(const std::string& header);

// Takes both entries out of parsed metadata. None where the file has no checksums, as those of earlier versions and of other
// programs. Throws Error where one of the two is missing, the header's was not where check_header_crc32 looks, or the other's
// list does not have one checksum per tensor.
std::optional<std::vector<std::uint32_t>> take_checksums(std::map<std::string, std::string>& metadata, const std::string& header,
                                                         std::size_t tensors);

}  // namespace drift
