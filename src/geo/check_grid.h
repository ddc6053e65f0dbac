#pragma once

#include <string>

namespace drift {

// Throws UsageError as parse_grid does, but for what depends on the observations: the extent of a grid of a projection that has
// none of its own.
void check_grid(const std::string& text);

}  // namespace drift
