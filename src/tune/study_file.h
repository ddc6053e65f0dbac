#pragma once

#include <filesystem>

#include "drift/tune.h"

namespace drift {

constexpr double kLargestValue = 1e100;  // of a trial; beyond it is a failure, since squares must stay finite

// Throws UsageError unless `saved` (read from `path`) is a study of the same space and plan as `wanted`.
void check_same_search(const Study& saved, const Study& wanted, const std::filesystem::path& path);

}  // namespace drift
