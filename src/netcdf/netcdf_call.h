#pragma once

#include <filesystem>
#include <mutex>
#include <string>

namespace drift {

// netCDF's C library, and HDF5 below it, may be used by one thread at a time. Whoever calls it holds this lock.
std::unique_lock<std::mutex> lock_netcdf();

// Throws Error "path: what: netCDF's reason" unless status is NC_NOERR.
void check_netcdf(int status, const std::filesystem::path& path, const std::string& what);

}  // namespace drift
