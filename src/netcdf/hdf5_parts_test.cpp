#include "netcdf/hdf5_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <functional>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "netcdf/guarded_open.h"
#include "netcdf/netcdf_call.h"

namespace drift {
namespace {

using testing::HasSubstr;

// A file with a dataset of its own and whatever `add` puts beside it.
std::filesystem::path write_hdf5(const ScratchFolder& folder, const std::function<void(hid_t file, hid_t space)>& add) {
  const auto lock = lock_netcdf();
  const auto path = folder / "sent.nc";
  const hsize_t length = 4;
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(1, &length, nullptr);
  const hid_t own = H5Dcreate2(file, "own", H5T_NATIVE_UINT8, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  add(file, space);
  H5Gclose(group);
  H5Dclose(own);
  H5Sclose(space);
  H5Fclose(file);
  return path;
}

void add_dataset(hid_t file, hid_t space, hid_t how) {
  const hid_t dataset = H5Dcreate2(file, "group/values", H5T_NATIVE_UINT8, space, H5P_DEFAULT, how, H5P_DEFAULT);
  EXPECT_GE(dataset, 0);
  H5Dclose(dataset);
  H5Pclose(how);
}

std::string refusal(const std::filesystem::path& path) { return try_to_open(std::span(&path, 1), 30.0).wrong[0]; }

TEST(Hdf5Parts, OfOneFilePass) {
  const ScratchFolder folder;
  EXPECT_EQ(refusal(write_hdf5(folder, [](hid_t, hid_t) {})), "");
  const auto linked = write_hdf5(folder, [](hid_t file, hid_t) {
    H5Lcreate_soft("/own", file, "group/same", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file, "own", file, "group/twice", H5P_DEFAULT, H5P_DEFAULT);
  });
  const auto lock = lock_netcdf();
  EXPECT_NO_THROW(check_is_one_file(linked));
}

TEST(Hdf5Parts, InOtherFilesAreRefused) {
  const ScratchFolder folder;
  const std::string secret = (folder / "secret").string();
  write_bytes(secret, "\x01\x02\x03\x04");
  const std::string external = refusal(write_hdf5(folder, [&](hid_t file, hid_t space) {
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(how, secret.c_str(), 0, 4);
    add_dataset(file, space, how);
  }));
  EXPECT_THAT(external, HasSubstr("sent.nc: refers to other files: the values of 'group/values' are in another file"));
  const std::string link = refusal(write_hdf5(
      folder, [&](hid_t file, hid_t) { H5Lcreate_external(secret.c_str(), "/", file, "group/link", H5P_DEFAULT, H5P_DEFAULT); }));
  EXPECT_THAT(link, HasSubstr("'group/link' is a link to another file"));
  const std::string parts = refusal(write_hdf5(folder, [&](hid_t file, hid_t space) {
    const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_virtual(how, space, secret.c_str(), "own", space);
    add_dataset(file, space, how);
  }));
  EXPECT_THAT(parts, HasSubstr("'group/values' is made of parts of other files"));
}

}  // namespace
}  // namespace drift
