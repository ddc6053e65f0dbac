#include "drift/did_you_mean.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include "core/edit_distance.h"
#include "drift/enum_words.h"
#include "drift/error.h"

namespace drift {
namespace {

// Of an option: "--out" has three letters.
std::string_view letters(std::string_view name) { return name.substr(std::min(name.find_first_not_of('-'), name.size())); }

// From the beginning of one of its words on.
bool contains(std::string_view whole, std::string_view part) {
  constexpr std::size_t kTelling = 3;  // letters
  const std::size_t at = whole.find(part);
  return part.size() >= kTelling && at != std::string_view::npos && (at == 0 || whole[at - 1] == '-' || whole[at - 1] == '_');
}

// As far as a slip of the hand leads: one letter in three.
bool is_near(std::string_view a, std::string_view b, std::size_t distance) {
  return distance <= (letters(a).size() + 2) / 3 || contains(letters(a), letters(b)) || contains(letters(b), letters(a));
}

// "; did you mean 'Y'?", or nothing where none is near.
std::string nearest_hint(std::string_view name, std::span<const std::string_view> known) {
  std::string_view nearest;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= least || !is_near(name, candidate, distance)) continue;
    least = distance;
    nearest = candidate;
  }
  return nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
}

}  // namespace

std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  const std::string hint = nearest_hint(name, known);
  if (!hint.empty()) return hint;
  constexpr std::size_t kMostShown = 60;
  return known.empty() || known.size() > kMostShown ? "" : fmt::format("; choose from {}", fmt::join(known, ", "));
}

std::string must_be_one_of(std::string_view word, std::span<const std::string_view> known) {
  return fmt::format("must be one of {}{}", fmt::join(known, ", "), nearest_hint(word, known));
}

void refuse_word(std::string_view what, std::string_view word, std::span<const std::string_view> known) {
  throw UsageError(fmt::format("{} {}: {}", what, word, must_be_one_of(word, known)));
}

}  // namespace drift
