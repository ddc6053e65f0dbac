#include "netcdf/netcdf_call.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <netcdf.h>
#include <unistd.h>

namespace drift {
namespace {

// HDF5 prints what fails inside it, also what netCDF only tries out, on every thread that does not tell it not to; netCDF tells
// it on its first one alone.
bool silence_hdf5() { return H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0; }

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
  if (status != NC_NOERR) throw NetcdfError(fmt::format("{}: {}: {}", path.string(), what, nc_strerror(status)));
}

}  // namespace drift
