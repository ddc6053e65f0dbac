#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/child_process.h"

namespace drift {

// A Zarr store of version 3 as a temporary one of version 2, which netCDF-C and GDAL read: chunks are the same bytes under other
// names, so that links to them and metadata written anew are enough. Gone with its owner.
class Zarr3View {
 public:
  // Throws Error for what version 2 has not: shards, checksums, transposed chunks, unwritten chunks of values that are not
  // missing. Arrays of texts are left out.
  explicit Zarr3View(const std::filesystem::path& store);

  std::filesystem::path store() const { return folder_.path() / "store.zarr"; }

 private:
  TemporaryFolder folder_{"Zarr"};
};

// The metadata of version 2 of an array, each a file's text.
struct Zarr2Array {
  std::string zarray, zattrs;
};

// Of an array's zarr.json; none: its type is left out. `path` is what messages call it. Throws Error for text that is no such
// metadata, of any size and depth, and for what version 2 has not; what it returns passes check_zarr_text.
std::optional<Zarr2Array> zarr_2_of(std::string_view text, const std::string& path);

}  // namespace drift
