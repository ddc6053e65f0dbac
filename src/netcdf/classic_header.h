#pragma once

#include <filesystem>

namespace drift {

// Follows the header of a NetCDF file of the classic formats (CDF-1, 2 and 5) and throws Error where it is damaged or the file is
// shorter than the numbers that it announces. Other files pass. netCDF's own reader has crashed on damaged headers, and reads
// zeros beyond the end of a file that was cut short.
void check_classic_header(const std::filesystem::path& path);

}  // namespace drift
