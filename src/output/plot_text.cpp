#include "output/plot_text.h"

#include <fmt/format.h>

#include <cctype>
#include <sstream>

namespace drift {
namespace {

constexpr unsigned char kDegreeSign = 0260;  // in ISO Latin 1

std::string octal(unsigned char letter) { return fmt::format("\\{:03o}", letter); }

bool is_continuation(unsigned char byte) { return (byte & 0xC0u) == 0x80u; }

// "s-1", "m2", "m**2", "m^-2": letters, then an exponent.
std::string with_exponent(const std::string& word) {
  std::size_t letters = 0;
  while (letters < word.size() && std::isalpha(static_cast<unsigned char>(word[letters])) != 0) ++letters;
  std::size_t number = letters;
  while (number < word.size() && (word[number] == '*' || word[number] == '^')) ++number;
  std::size_t digits = number;
  if (digits < word.size() && (word[digits] == '-' || word[digits] == '+')) ++digits;
  bool whole = letters > 0 && digits < word.size();
  for (std::size_t i = digits; i < word.size(); ++i) whole = whole && std::isdigit(static_cast<unsigned char>(word[i])) != 0;
  if (!whole) return gmt_text(word);
  return fmt::format("{}@+{}@+", gmt_text(word.substr(0, letters)), word.substr(number));
}

}  // namespace

std::string gmt_text(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '@') {
      out += "@@";
    } else if (byte == '\\') {
      out += "\\134";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += ' ';
    } else if (byte < 0x80) {
      out += static_cast<char>(byte);
    } else if ((byte == 0xC2 || byte == 0xC3) && i + 1 < text.size() &&
               is_continuation(static_cast<unsigned char>(text[i + 1]))) {
      out += octal(static_cast<unsigned char>((byte == 0xC3 ? 0x40u : 0u) + static_cast<unsigned char>(text[++i])));
    } else if (!is_continuation(byte)) {
      out += '?';
    }
  }
  return out;
}

std::string gmt_unit(const std::string& unit) {
  if (unit.empty() || unit == "1") return "";
  for (const char* name :
       {"degree_C", "degrees_C", "degree_Celsius", "degrees_Celsius", "degree_celsius", "celsius", "Celsius", "degC"}) {
    if (unit == name) return fmt::format("{}C", octal(kDegreeSign));
  }
  std::istringstream words(unit);
  std::string out;
  for (std::string word; words >> word;) {
    if (!out.empty()) out += ' ';
    out += with_exponent(word);
  }
  return out;
}

}  // namespace drift
