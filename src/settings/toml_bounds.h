#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace drift {

inline constexpr std::size_t kMostTomlBytes = std::size_t{16} << 20;  // the names of a hundred thousand files

// Throws UsageError where a text is larger or more deeply nested than any run file has reason to be. The TOML library goes into
// nested tables and arrays by recursion, also when it lets go of them, and would overflow the stack. To be called before it sees
// a text that may come from elsewhere, as the settings in a model file do.
void check_toml_bounds(std::string_view text, const std::string& name);

}  // namespace drift
