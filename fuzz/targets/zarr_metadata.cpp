// The metadata of a Zarr store: the name of a file of it, a line end, its text.

#include "netcdf/zarr_metadata.h"

#include "target.h"

namespace drift::fuzz {
namespace {

const FuzzTarget target("zarr_metadata", [](std::string_view input) {
  const auto [name, text] = split(input, '\n');
  check_zarr_text(text, name, "store/" + name);
});

}  // namespace
}  // namespace drift::fuzz
