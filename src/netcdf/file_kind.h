#pragma once

#include <filesystem>

namespace drift {

// Whether the path is the address of something on a server, "https://...", which netCDF-C fetches.
bool is_remote(const std::filesystem::path& path);

// Whether the folder is a Zarr store; of version 3, and not of version 2 as well.
bool is_zarr(const std::filesystem::path& path);
bool is_zarr_3(const std::filesystem::path& path);

// Throws Error for a folder that is no Zarr store, with what to do about it.
void check_is_no_folder(const std::filesystem::path& path);

// Whether the file is based on HDF5: its signature may lie behind a user block of 512, 1024, 2048, ... bytes. False for what
// cannot be opened or is not a regular file.
bool is_hdf5(const std::filesystem::path& path);

// Whether it is that, or begins as classic NetCDF files do. False for what cannot be opened or is not a
// regular file.
bool looks_like_netcdf(const std::filesystem::path& path);

}  // namespace drift
