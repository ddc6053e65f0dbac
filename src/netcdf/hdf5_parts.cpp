#include "netcdf/hdf5_parts.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <string>

#include "drift/error.h"

namespace drift {
namespace {

// An identifier of HDF5's, given back to it with its owner.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  hid_t get() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

std::string trouble_of(hid_t group, const char* name, const H5L_info_t& link) {
  if (link.type == H5L_TYPE_SOFT) return {};  // to a place in the same file
  if (link.type != H5L_TYPE_HARD) return fmt::format("'{}' is a link to another file", name);
  const Handle object(H5Oopen(group, name, H5P_DEFAULT), H5Oclose);
  if (object.get() < 0 || H5Iget_type(object.get()) != H5I_DATASET) return {};
  const Handle how(H5Dget_create_plist(object.get()), H5Pclose);
  if (how.get() < 0) return {};
  if (H5Pget_external_count(how.get()) > 0) return fmt::format("the values of '{}' are in another file (external storage)", name);
  if (H5Pget_layout(how.get()) == H5D_VIRTUAL)
    return fmt::format("'{}' is made of parts of other files (a virtual dataset)", name);
  return {};
}

// Goes on while there is no trouble.
herr_t look_at(hid_t group, const char* name, const H5L_info_t* link, void* trouble) {
  auto& found = *static_cast<std::string*>(trouble);
  found = trouble_of(group, name, *link);
  return found.empty() ? 0 : 1;
}

}  // namespace

void check_is_one_file(const std::filesystem::path& path) {
  // As netCDF opens it, which may have it open already.
  const Handle how(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fclose_degree(how.get(), H5F_CLOSE_STRONG);
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, how.get()), H5Fclose);
  std::string trouble;
  if (file.get() >= 0) H5Lvisit(file.get(), H5_INDEX_NAME, H5_ITER_NATIVE, look_at, &trouble);
  if (trouble.empty()) return;
  throw Error(
      fmt::format("{}: refers to other files: {}; drift reads only files that are named: copy it to one that holds all "
                  "of its values (ncks, nccopy or h5py)",
                  path.string(), trouble));
}

}  // namespace drift
