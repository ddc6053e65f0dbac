#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace drift {

inline constexpr std::size_t kMostZarrBytes = std::size_t{4} << 20;  // of one file of metadata
inline constexpr int kMostZarrGroups = 16;                           // one within the other

// netCDF-C crashes on the metadata of a Zarr store that are cut short, of another type than they should be, or nested without
// end. So those of version 2 (https://zarr-specs.readthedocs.io/en/latest/v2/v2.0.html) are checked before it sees them: they
// are JSON of limited size and depth, each key that netCDF reads is there and has its type, and shape and chunks have the same
// number of dimensions. Throws Error, which begins with the path of the file that is wrong.
void check_zarr_metadata(const std::filesystem::path& store);

// The same of the text of one file called `name`, such as .zarray; `path` is what messages call it.
void check_zarr_text(std::string_view text, std::string_view name, const std::string& path);

}  // namespace drift
