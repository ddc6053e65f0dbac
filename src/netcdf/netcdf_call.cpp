#include "netcdf/netcdf_call.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netcdf.h>
#include <unistd.h>

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

QuietStderr::QuietStderr(bool quiet) {
  if (!quiet) return;
  const FileDescriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  kept_ = FileDescriptor(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
  if (nowhere.get() >= 0 && kept_.get() >= 0) ::dup2(nowhere.get(), STDERR_FILENO);
}

QuietStderr::~QuietStderr() {
  if (kept_.get() >= 0) ::dup2(kept_.get(), STDERR_FILENO);
}

void check_netcdf(int status, const std::filesystem::path& path, const std::string& what) {
  if (status != NC_NOERR) throw Error(fmt::format("{}: {}: {}", path.string(), what, nc_strerror(status)));
}

}  // namespace drift
