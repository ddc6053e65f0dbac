// The zarr.json of an array of Zarr's version 3, which becomes metadata of version 2.

#include "netcdf/zarr_3.h"

#include "netcdf/zarr_metadata.h"
#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("zarr_3", [](std::string_view input) {
  const auto array = zarr_2_of(input, "store/x/zarr.json");
  if (!array) return;
  check_zarr_text(array->zarray, ".zarray", "what was made of it");
  check_zarr_text(array->zattrs, ".zattrs", "what was made of it");
});

}  // namespace
}  // namespace drift::fuzz
