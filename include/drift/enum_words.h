#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// Enums that people write: in run files, as flags, in saved JSON. Such an enum E has its words beside its definition,
//   constexpr auto enum_words(E) { return std::to_array<EnumWord<E>>({{"plane", E::plane}, ...}); }
// and reading, writing, help and error messages all follow from that one table.

template <class E>
struct EnumWord {
  const char* word;
  E value;
};

template <class E>
concept EnumWithWords = std::is_enum_v<E> && requires {
  enum_words(E{});
};

// Empty for a number that is no enumerator, as only a cast can make it.
template <EnumWithWords E>
constexpr std::string_view word_of(E value) {
  for (const EnumWord<E>& entry : enum_words(E{})) {
    if (entry.value == value) return entry.word;
  }
  return "";
}

template <EnumWithWords E>
constexpr std::optional<E> from_word(std::string_view word) {
  for (const EnumWord<E>& entry : enum_words(E{})) {
    if (entry.word == word) return entry.value;
  }
  return std::nullopt;
}

template <EnumWithWords E>
std::vector<std::string_view> words_of() {
  std::vector<std::string_view> words;
  for (const EnumWord<E>& entry : enum_words(E{})) words.emplace_back(entry.word);
  return words;
}

// The enumerator of a word that somebody typed. Throws UsageError, "what word: must be one of ...", with the nearest.
[[noreturn]] void refuse_word(std::string_view what, std::string_view word, std::span<const std::string_view> known);
template <EnumWithWords E>
E enum_named(std::string_view what, std::string_view word) {
  if (const std::optional<E> found = from_word<E>(word)) return *found;
  refuse_word(what, word, words_of<E>());
}

}  // namespace drift
