#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace drift {

// The files that paths and globs name, in the order of their names, each once however it is named. Throws Error for a path that
// is not there or is a folder, and for a pattern that matches nothing; UsageError where there is no pattern.
std::vector<std::filesystem::path> input_files(const std::vector<std::string>& patterns);

// Whether they are NetCDF files (told by their first bytes, or by a name that ends in .nc). Throws UsageError where only some
// are.
bool are_netcdf(const std::vector<std::filesystem::path>& files);

}  // namespace drift
