#include "fields/base64.h"

#include "drift/error.h"

namespace drift {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::uint32_t six_bits(char letter) {
  const std::size_t place = kLetters.find(letter);
  if (place == std::string_view::npos) throw Error("the text is not base64");
  return static_cast<std::uint32_t>(place);
}

}  // namespace

std::string to_base64(std::span<const std::uint8_t> bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? kLetters[group >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

std::vector<std::uint8_t> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) throw Error("the text is not base64");
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::vector<std::uint8_t> bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::size_t letters = i + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 4; ++k) group = group << 6 | (k < letters ? six_bits(text[i + k]) : 0U);
    for (std::size_t k = 0; k + 1 < letters; ++k) bytes.push_back(static_cast<std::uint8_t>(group >> (16 - 8 * k)));
  }
  return bytes;
}

}  // namespace drift
