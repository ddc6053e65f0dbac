#pragma once

#include <span>
#include <string_view>

namespace drift {

// Names of the CF standard name table (https://cfconventions.org) that drift's fields may have: ocean, sea ice, land ice and the
// air above them. The table has thousands more, so a name that is not here need not be wrong.
std::span<const std::string_view> standard_names();  // ascending

// A name, or one with a modifier behind a blank, as "... standard_error".
bool is_standard_name(std::string_view name);

// Empty where the name is not known.
std::string_view canonical_unit(std::string_view name);

}  // namespace drift
