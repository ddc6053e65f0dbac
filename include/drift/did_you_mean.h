#pragma once

#include <span>
#include <string>
#include <string_view>

#include "drift/export.h"

namespace DRIFT_PUBLIC drift {

// The end of a message "there is no X 'name'": "; did you mean 'Y'?" if a known name is near, by few insertions, deletions,
// replacements and swaps of neighbouring letters or because one is a part of the other; otherwise "; choose from A, B, C". Empty
// if there are none, or too many to list.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

// The end of a message "X is 'word'; it" about an unknown word: "must be one of A, B, C", and the nearest of them
// if there is one.
std::string must_be_one_of(std::string_view word, std::span<const std::string_view> known);

}  // namespace drift
