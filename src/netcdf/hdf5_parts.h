#pragma once

#include <filesystem>

namespace drift {

// A file of HDF5 may refer to others by name: values in external storage, external links, virtual datasets. Reading such a file
// would hand on what the named ones hold, which whoever sent it may not be meant to see. Throws Error that names the first such
// part. What HDF5 cannot open passes: netCDF will say what is wrong with it. Under lock_netcdf; damage may crash or hang HDF5, so
// a child process calls it.
void check_is_one_file(const std::filesystem::path& path);

}  // namespace drift
