#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace drift {

// The files that paths and globs name, in the order of their names, each once however it is named. Addresses of servers and
// folders that are Zarr stores count as files. Throws Error for a path that is not there or is another folder, and for a pattern
// that matches nothing; UsageError where there is no pattern.
std::vector<std::filesystem::path> input_files(const std::vector<std::string>& patterns);

// The files that a path or glob names, in the order of their names; none where nothing is there.
std::vector<std::filesystem::path> matching_files(const std::string& pattern);

// Throws Error where a file that should be a table of text is none, rather than let it be blamed for its columns.
void check_is_text(const std::filesystem::path& path);

// Whether they are NetCDF files (told by their first bytes, or by a name that ends in .nc) or read as such. Throws UsageError
// where only some are, Error where one is neither that nor text.
bool are_netcdf(const std::vector<std::filesystem::path>& files);

}  // namespace drift
