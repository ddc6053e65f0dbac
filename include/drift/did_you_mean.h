#pragma once

#include <span>
#include <string>
#include <string_view>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// What to put behind "there is no X 'name'": "; did you mean 'Y'?" where a known name is near, by few insertions, deletions,
// replacements and swaps of neighbouring letters or because one is a part of the other; otherwise "; known are A, B, C". Empty
// when they are none, or too many to read.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

// What to put behind "X is 'word'; it", where the word is none of those known: "must be one of A, B, C", and the nearest of them
// where there is one.
std::string must_be_one_of(std::string_view word, std::span<const std::string_view> known);

}  // namespace drift
