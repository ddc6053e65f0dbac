#include "drift/text.h"

#include <fmt/format.h>

#include <cstddef>

namespace drift {
namespace {

// Bytes of the UTF-8 character at the text's beginning; 0: there is none. RFC 3629: no overlong forms, no surrogates, at most
// U+10FFFF.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t count = first >= 0xC2 && first < 0xE0   ? 2
                            : first >= 0xE0 && first < 0xF0 ? 3
                            : first >= 0xF0 && first < 0xF5 ? 4
                                                            : 0;
  if (count == 0 || text.size() < count) return 0;
  for (std::size_t i = 1; i < count; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned second = byte(1);
  const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
  const bool beyond = (first == 0xED && second >= 0xA0) || (first == 0xF4 && second >= 0x90);
  return overlong || beyond ? 0 : count;
}

// Calls take(character, whether it is UTF-8) for one after the other; of what is not UTF-8, byte by byte.
template <class Take>
void each_character(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t count = character_bytes(text);
    take(text.substr(0, count == 0 ? 1 : count), count > 0);
    text.remove_prefix(count == 0 ? 1 : count);
  }
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return (first < 0x20 && first != '\n' && first != '\t') || first == 0x7F;
  return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;  // U+0080 to U+009F
}

}  // namespace

bool is_utf8(std::string_view text) {
  bool all = true;
  each_character(text, [&](std::string_view, bool good) { all = all && good; });
  return all;
}

std::string to_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) out += static_cast<char>(0xC0 | (byte >> 6U));
    out += byte >= 0x80 ? static_cast<char>(0x80 | (byte & 0x3FU)) : c;
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  each_character(text, [&](std::string_view character, bool good) {
    if (good && !is_control(character)) {
      out += character;
      return;
    }
    for (const char c : character) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  });
  return out;
}

}  // namespace drift
