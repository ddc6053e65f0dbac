#include "netcdf/netcdf_call.h"

#include <fmt/format.h>
#include <netcdf.h>

#include "drift/error.h"

namespace drift {

std::unique_lock<std::mutex> lock_netcdf() {
  static std::mutex mutex;
  return std::unique_lock(mutex);
}

void check_netcdf(int status, const std::filesystem::path& path, const std::string& what) {
  if (status != NC_NOERR) throw Error(fmt::format("{}: {}: {}", path.string(), what, nc_strerror(status)));
}

}  // namespace drift
