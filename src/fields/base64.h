#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drift {

// Bytes as text, RFC 4648 with padding. Reading throws Error on anything else.
std::string to_base64(std::span<const std::uint8_t> bytes);
std::vector<std::uint8_t> from_base64(std::string_view text);

}  // namespace drift
