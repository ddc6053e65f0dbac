#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/child_process.h"

namespace drift {

// An array of a Zarr store may be packed by codecs that netCDF-C lacks, such as Blosc; it then returns the packed bytes as if
// they were values, and reports no error. The names of those of `array` (a path in the store), empty where netCDF applies as many
// filters, `applied`, as the array's metadata list.
std::vector<std::string> missing_codecs(const std::filesystem::path& store, const std::string& array, std::size_t applied);

// The number that stands for a missing value, NaN among them, by the array's metadata, where netCDF-C shows no _FillValue; none:
// no value is missing.
std::optional<double> zarr_fill_value(const std::filesystem::path& store, const std::string& array);

// Throws Error naming them, and the store as it is `called`.
void check_codecs(const std::filesystem::path& called, const std::filesystem::path& store, const std::string& array,
                  std::size_t applied);

// A store as a temporary NetCDF file, gone with its owner.
class UnpackedZarr {
 public:
  // By GDAL, which knows more codecs; null where it is not installed or fails.
  static std::unique_ptr<const UnpackedZarr> of(const std::filesystem::path& store, const std::stop_token& stop = {});
  std::filesystem::path file() const { return folder_.path() / "store.nc"; }

 private:
  TemporaryFolder folder_{"GDAL"};
};

}  // namespace drift
