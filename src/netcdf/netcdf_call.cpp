#include "netcdf/netcdf_call.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <netcdf.h>

#include <cstdint>

#include "drift/error.h"

namespace drift {
namespace {

// HDF5 prints what fails inside it, also what netCDF only tries out, on every thread that does not tell it not to; netCDF tells
// it on its first one alone. The function is looked up because HDF5 is netCDF's affair: it may be built without.
bool silence_hdf5() {
  using SetAuto = int (*)(std::int64_t stack, void* function, void* data);
  const auto set_auto = reinterpret_cast<SetAuto>(::dlsym(RTLD_DEFAULT, "H5Eset_auto2"));
  return set_auto != nullptr && set_auto(0, nullptr, nullptr) >= 0;
}

}  // namespace

std::unique_lock<std::mutex> lock_netcdf() {
  static std::mutex mutex;
  std::unique_lock lock(mutex);
  [[maybe_unused]] thread_local const bool silenced = silence_hdf5();
  return lock;
}

void check_netcdf(int status, const std::filesystem::path& path, const std::string& what) {
  if (status != NC_NOERR) throw Error(fmt::format("{}: {}: {}", path.string(), what, nc_strerror(status)));
}

}  // namespace drift
