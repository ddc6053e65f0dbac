#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace drift {

// An array of a Zarr store may be packed by codecs that netCDF-C lacks, such as Blosc; it then returns the packed bytes as if
// they were values, and reports no error. Throws Error naming those of `array` (a path in the store) unless netCDF applies as
// many filters, `applied`, as the array's metadata list.
void check_codecs(const std::filesystem::path& store, const std::string& array, std::size_t applied);

}  // namespace drift
