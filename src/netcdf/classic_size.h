#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace drift {

// Bytes that a NetCDF file of the classic formats (CDF-1, 2 and 5) must have for the numbers that its header announces. None for
// other files, and for those whose header cannot be followed. netCDF reads zeros beyond the end of a file that was cut short.
std::optional<std::uint64_t> classic_size(const std::filesystem::path& path);

}  // namespace drift
