#include "netcdf/netcdf_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <netcdf.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "drift/error.h"
#include "netcdf/netcdf_call.h"

namespace drift {
namespace {

constexpr int kDeflate = 4;  // higher levels take twice the time for a few per cent
constexpr std::size_t kCacheSlots = 10007;
constexpr float kEvictWritten = 1.0f;  // chunks written in full leave the cache first

// HDF5 keeps the system's reason to itself, but leaves it in errno.
std::string reason(int status, int system_error) {
  for (const int known : {ENOSPC, EDQUOT, EFBIG, EIO, EROFS, EACCES, EMFILE, ENFILE}) {
    if (system_error == known) return std::generic_category().message(known);
  }
  std::string text = nc_strerror(status);
  return text.starts_with("NetCDF: ") ? text.substr(8) : text;
}

// Closes a file that netCDF writes. Where HDF5 fails to close it, as it does where the system reports a late failure (a network's
// disk that is full), netCDF looks for the reason and crashes. So HDF5 is given a second handle: netCDF gives back the first, and
// it is the second that closes. A file that cannot have one stays open.
int close_written(int file, const std::filesystem::path& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const hid_t how = H5Pcreate(H5P_FILE_ACCESS);
  hid_t second = -1;
  for (const H5F_close_degree_t degree :
       {H5F_CLOSE_DEFAULT, H5F_CLOSE_STRONG, H5F_CLOSE_SEMI}) {  // it must be netCDF's, which depends on its version
    H5Pset_fclose_degree(how, degree);
    if (second < 0) second = H5Fopen(path.c_str(), H5F_ACC_RDONLY, how);
  }
  H5Pclose(how);
  if (second < 0) return NC_EHDFERR;
  const int status = nc_close(file);
  const int closed = H5Fclose(second) < 0 ? NC_EHDFERR : NC_NOERR;
  return status != NC_NOERR ? status : closed;
}

}  // namespace

template <class Call>
void NcWriter::call(const std::string& what, Call&& netcdf_call) {
  const auto lock = lock_netcdf();
  errno = 0;
  const int status = netcdf_call();
  const int system_error = errno;
  if (status == NC_NOERR) return;
  throw Error(fmt::format("cannot write {}: {}: {}", path_.string(), what, reason(status, system_error)));
}

NcWriter::NcWriter(const std::filesystem::path& path) : path_(path), atomic_(path) {
  call("it cannot be created", [&] { return nc_create(atomic_.for_libraries().c_str(), NC_NETCDF4 | NC_CLOBBER, &file_); });
}

NcWriter::~NcWriter() { abandon(); }

void NcWriter::abandon() noexcept {
  if (file_ < 0) return;
  const auto lock = lock_netcdf();
  close_written(std::exchange(file_, -1), atomic_.for_libraries());
}

int NcWriter::dimension(const std::string& name, std::size_t length) {
  int id = 0;
  call(fmt::format("dimension '{}'", name), [&] { return nc_def_dim(file_, name.c_str(), length, &id); });
  return id;
}

int NcWriter::define(const std::string& name, int type, const std::vector<int>& dimensions, const NcStorage& storage) {
  int id = 0;
  const std::string what = fmt::format("variable '{}'", name);
  call(what, [&] { return nc_def_var(file_, name.c_str(), type, static_cast<int>(dimensions.size()), dimensions.data(), &id); });
  if (storage.chunks.empty()) return id;
  call(what, [&] { return nc_def_var_chunking(file_, id, NC_CHUNKED, storage.chunks.data()); });
  call(what, [&] { return nc_def_var_deflate(file_, id, 1, 1, kDeflate); });
  call(what, [&] { return nc_def_var_fletcher32(file_, id, NC_FLETCHER32); });  // a flipped bit fails to be read
  if (storage.cache_bytes > 0) {
    call(what, [&] { return nc_set_var_chunk_cache(file_, id, storage.cache_bytes, kCacheSlots, kEvictWritten); });
  }
  return id;
}

void NcWriter::attribute(int variable, const std::string& name, const std::string& text) {
  if (text.empty()) return;
  call(fmt::format("attribute '{}'", name),
       [&] { return nc_put_att_text(file_, variable, name.c_str(), text.size(), text.data()); });
}

void NcWriter::attribute(int variable, const std::string& name, int type, std::span<const double> numbers) {
  if (numbers.empty()) return;
  call(fmt::format("attribute '{}'", name),
       [&] { return nc_put_att_double(file_, variable, name.c_str(), type, numbers.size(), numbers.data()); });
}

void NcWriter::fill(int variable, double number) {
  int type = NC_NAT;
  call("_FillValue", [&] { return nc_inq_vartype(file_, variable, &type); });
  attribute(variable, "_FillValue", type, std::span(&number, 1));
}

void NcWriter::reserve(std::size_t bytes) {
  const auto fail = [&](int error) {
    throw Error(fmt::format("cannot write {}: it may need {:.1f} MB: {}", path_.string(), 1e-6 * static_cast<double>(bytes),
                            std::generic_category().message(error)));
  };
  rlimit limit = {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes) fail(EFBIG);
  if (::fallocate(atomic_.descriptor(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) == 0) return;
  if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG) fail(errno);
  struct statvfs disk = {};  // file systems that cannot reserve can tell what is free
  if (::fstatvfs(atomic_.descriptor(), &disk) == 0 &&
      static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize) < static_cast<double>(bytes)) {
    fail(ENOSPC);
  }
}

void NcWriter::write(int variable, const Indices& start, const Indices& count, std::span<const float> numbers) {
  call("its numbers", [&] { return nc_put_vara_float(file_, variable, start.data(), count.data(), numbers.data()); });
}

void NcWriter::write(int variable, const Indices& start, const Indices& count, std::span<const double> numbers) {
  call("its numbers", [&] { return nc_put_vara_double(file_, variable, start.data(), count.data(), numbers.data()); });
}

void NcWriter::write(int variable, const Indices& start, const Indices& count, std::span<const std::int32_t> numbers) {
  call("its numbers", [&] { return nc_put_vara_int(file_, variable, start.data(), count.data(), numbers.data()); });
}

void NcWriter::write(int variable, const Indices& start, const Indices& count, std::span<const std::uint8_t> numbers) {
  call("its numbers", [&] { return nc_put_vara_uchar(file_, variable, start.data(), count.data(), numbers.data()); });
}

void NcWriter::finish() {
  const int file = std::exchange(file_, -1);  // one that cannot be flushed is left open: netCDF crashes where it cannot close it
  call("it cannot be flushed", [&] { return nc_sync(file); });
  call("it cannot be closed", [&] { return close_written(file, atomic_.for_libraries()); });
  struct stat status = {};  // what was reserved beyond the end goes back
  if (::fstat(atomic_.descriptor(), &status) == 0 && ::ftruncate(atomic_.descriptor(), status.st_size) != 0) {
    throw Error(fmt::format("cannot write {}: {}", path_.string(), std::generic_category().message(errno)));
  }
  atomic_.commit();
}

}  // namespace drift
