#pragma once

#include <filesystem>
#include <mutex>
#include <string>

#include "core/atomic_file.h"
#include "drift/error.h"

namespace drift {

// netCDF's C library, and HDF5 below it, may be used by one thread at a time. Whoever calls it holds this lock.
std::unique_lock<std::mutex> lock_netcdf();

// netCDF writes to the terminal what fails as it talks to a server, although the error that it returns says enough: while this
// lives and `quiet` is set, stderr goes nowhere. Under the lock.
class QuietStderr {
 public:
  explicit QuietStderr(bool quiet);
  QuietStderr(const QuietStderr&) = delete;
  QuietStderr& operator=(const QuietStderr&) = delete;
  ~QuietStderr();

 private:
  FileDescriptor kept_;
};

// A call of netCDF's that failed: a file that is damaged, or cannot be read or written.
class NetcdfError : public Error {
 public:
  using Error::Error;
};

// Throws NetcdfError "path: what: netCDF's reason" unless status is NC_NOERR.
void check_netcdf(int status, const std::filesystem::path& path, const std::string& what);

}  // namespace drift
