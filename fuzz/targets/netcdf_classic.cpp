// Behind drift's own check of the header comes netCDF's reader, so both are in here. HDF5 files are left out: HDF5 is known to
// crash on damaged ones, and drift reads them under guard.

#include "netcdf/classic_header.h"
#include "netcdf/netcdf_reader.h"
#include "target.h"

namespace drift::fuzz {
namespace {

constexpr std::size_t kMost = 1 << 16;  // numbers of a variable that are read

const FuzzTarget target("netcdf_classic", [](std::string_view input) {
  if (!input.starts_with("CDF")) return;
  const InputFile input_file(input);
  check_classic_header(input_file.path());
  const NcReader file(input_file.path());
  for (const NcVariable& variable : file.variables()) {
    for (const std::string& name : file.attribute_names(variable)) {
      file.text(variable, name);
      file.numbers(variable, name);
    }
    if (variable.size() > kMost) continue;
    if (variable.is_number())
      file.read(variable);
    else
      file.read_text(variable);
  }
});

}  // namespace
}  // namespace drift::fuzz
