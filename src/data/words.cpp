#include "data/words.h"

#include <algorithm>
#include <array>

namespace drift {
namespace {

bool is_word_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

constexpr std::array<std::string_view, 9> kErrorWords = {"std", "sd",          "stdev", "err", "error",
                                                         "unc", "uncertainty", "sigma", "se"};

}  // namespace

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string_view stripped(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.emplace_back(stripped(text.substr(0, end)));
    if (end == std::string_view::npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

bool contains_ignoring_case(std::string_view text, std::string_view part) {
  return lower(text).find(lower(part)) != std::string::npos;
}

bool has_word(std::string_view text, std::string_view word) {
  const std::string in = lower(text), wanted = lower(word);
  for (std::size_t at = in.find(wanted); at != std::string::npos; at = in.find(wanted, at + 1)) {
    const bool begins = at == 0 || !is_word_letter(in[at - 1]);
    const std::size_t end = at + wanted.size();
    if (begins && (end == in.size() || !is_word_letter(in[end]))) return true;
  }
  return false;
}

bool is_error_of(std::string_view name, std::string_view value) {
  const std::string whole = lower(name), part = lower(value);
  const bool begins = whole.starts_with(part), ends = whole.ends_with(part);
  if (part.empty() || whole.size() <= part.size() || !(begins || ends)) return false;
  std::string rest = begins ? whole.substr(part.size()) : whole.substr(0, whole.size() - part.size());
  std::erase_if(rest, [](char c) { return c == '_' || c == ' ' || c == '-' || c == '.'; });
  return std::find(kErrorWords.begin(), kErrorWords.end(), rest) != kErrorWords.end();
}

bool tells_of_errors(std::string_view text) {
  std::string words(text);
  std::replace(words.begin(), words.end(), '_', ' ');
  return std::any_of(kErrorWords.begin(), kErrorWords.end(), [&](std::string_view word) { return has_word(words, word); }) ||
         has_word(words, "standard deviation");
}

bool looks_aside(std::string_view name) {
  constexpr std::array<std::string_view, 19> kAside = {"flag",   "qual",  "alt",   "range", "distance", "count", "number",
                                                       "numval", "index", "mode",  "angle", "rms",      "std",   "status",
                                                       "corr",   "orbit", "bathy", "mask",  "error"};
  std::string words = lower(name);
  std::replace_if(
      words.begin(), words.end(), [](char c) { return !is_word_letter(c); }, '_');
  const std::vector<std::string> pieces = split(words, '_');
  return std::any_of(kAside.begin(), kAside.end(), [&](std::string_view word) {
    return std::any_of(pieces.begin(), pieces.end(), [&](const std::string& piece) { return piece.starts_with(word); });
  });
}

}  // namespace drift
