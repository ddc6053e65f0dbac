#include "data/nc_grid_mapping.h"

#include <fmt/format.h>

#include <string_view>

#include "data/words.h"
#include "drift/error.h"
#include "geo/grid_mapping.h"
#include "geo/length_unit.h"

namespace drift {
namespace {

CfAttributes attributes_of(const NcSource& file, const NcVariable& mapping) {
  CfAttributes attributes;
  for (const std::string& name : file.attribute_names(mapping)) {
    attributes[name] = {file.text(mapping, name).value_or(""), file.numbers(mapping, name)};
  }
  return attributes;
}

}  // namespace

std::string crs_of(const NcSource& file, const NcVariable& variable) {
  // "crs", or "crs: x y" in CF's extended form
  const std::string attribute = file.text(variable, "grid_mapping").value_or("");
  const std::string name(stripped(std::string_view(attribute).substr(0, attribute.find_first_of(": "))));
  if (name.empty()) return {};
  const NcVariable* const mapping = file.find(name);
  if (mapping == nullptr) {
    throw Error(
        fmt::format("{}: the grid mapping '{}' of variable '{}' is not in the file", file.path().string(), name, variable.name));
  }
  try {
    return crs_of_grid_mapping(attributes_of(file, *mapping));
  } catch (const Error& error) {
    throw Error(
        fmt::format("{}: the grid mapping '{}' cannot be turned into longitudes and latitudes: {}; name variables that hold "
                    "them, or x and y to stay on the plane",
                    file.path().string(), name, error.what()));
  }
}

double metres_of_axis(const NcSource& file, const NcVariable& axis, const std::string& crs) {
  try {
    return metres_of_axis(file.text(axis, "units").value_or(""), crs);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: the axis '{}': {}", file.path().string(), axis.name, error.what()));
  }
}

}  // namespace drift
