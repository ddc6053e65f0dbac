#pragma once

#include <cstddef>
#include <string_view>

namespace drift {

// The restricted Damerau-Levenshtein distance: how many letters are to be inserted, deleted, replaced or swapped with the next.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace drift
