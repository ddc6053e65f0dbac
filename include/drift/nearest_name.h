#pragma once

#include <span>
#include <string_view>

namespace drift {

// The entry of `known` that takes the fewest insertions, deletions, replacements and swaps of neighbouring letters to become
// `name`, the first of them on a tie; empty when nothing is known. For "unknown key X: did you mean Y?".
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known);

}  // namespace drift
