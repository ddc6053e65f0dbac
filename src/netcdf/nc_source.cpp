#include "netcdf/nc_source.h"

#include <fmt/format.h>
#include <netcdf.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "drift/error.h"

namespace drift {
namespace {

// The stored number that netCDF writes where nothing was written. Bytes have none: all of theirs may be data.
std::optional<double> default_fill(int type) {
  switch (type) {
    case NC_SHORT:
      return NC_FILL_SHORT;
    case NC_USHORT:
      return NC_FILL_USHORT;
    case NC_INT:
      return NC_FILL_INT;
    case NC_UINT:
      return NC_FILL_UINT;
    case NC_INT64:
      return static_cast<double>(NC_FILL_INT64);
    case NC_UINT64:
      return static_cast<double>(NC_FILL_UINT64);
    case NC_FLOAT:
      return NC_FILL_FLOAT;
    case NC_DOUBLE:
      return NC_FILL_DOUBLE;
    default:
      return std::nullopt;
  }
}

// What makes a negative number of this type the unsigned one with the same bits.
double wrap_of(int type) {
  switch (type) {
    case NC_BYTE:
      return 0x1p8;
    case NC_SHORT:
      return 0x1p16;
    case NC_INT:
      return 0x1p32;
    case NC_INT64:
      return 0x1p64;
    default:
      return 0.0;
  }
}

}  // namespace

std::size_t NcVariable::size() const {
  return std::accumulate(dimensions.begin(), dimensions.end(), std::size_t{1},
                         [](std::size_t product, const NcDimension& d) { return product * d.length; });
}

std::string NcVariable::base_name() const { return name.substr(name.rfind('/') + 1); }

bool NcVariable::is_number() const { return type != NC_CHAR && type != NC_STRING && type <= NC_MAX_ATOMIC_TYPE; }

const NcVariable* NcSource::find(const std::string& name) const {
  const NcVariable* found = nullptr;
  for (const NcVariable& variable : variables_) {
    if (variable.name == name) return &variable;
  }
  for (const NcVariable& variable : variables_) {
    if (variable.base_name() != name) continue;
    if (found != nullptr) return nullptr;
    found = &variable;
  }
  return found;
}

// CF: limits are stored numbers. But NUG: where they are of the type of scale_factor, and that is wider than the stored one, they
// are values.
void NcSource::set_valid_range(const NcVariable& variable, NcPacking& packing) const {
  const auto is_real = [](int type) { return type == NC_FLOAT || type == NC_DOUBLE; };
  const bool packed = is_real(type_of(variable, "scale_factor")) || is_real(type_of(variable, "add_offset"));
  const auto limit = [&](const char* attribute, double number) {
    const bool is_value = packed && !is_real(variable.type) && is_real(type_of(variable, attribute));
    if (is_value) return (number - packing.offset) / packing.scale;
    return number < 0.0 ? number + packing.wrap : number;
  };
  double low = packing.valid_min, high = packing.valid_max;
  if (const std::vector<double> found = numbers(variable, "valid_min"); !found.empty()) low = limit("valid_min", found[0]);
  if (const std::vector<double> found = numbers(variable, "valid_max"); !found.empty()) high = limit("valid_max", found[0]);
  if (const std::vector<double> range = numbers(variable, "valid_range"); range.size() == 2) {
    low = limit("valid_range", range[0]);
    high = limit("valid_range", range[1]);
  }
  if (packing.scale < 0.0 && low > high) std::swap(low, high);
  if (low <= high) {
    packing.valid_min = low;
    packing.valid_max = high;
  }
}

NcPacking NcSource::packing(const NcVariable& variable) const {
  NcPacking packing;
  if (const std::vector<double> scale = numbers(variable, "scale_factor"); !scale.empty()) packing.scale = scale.front();
  if (const std::vector<double> offset = numbers(variable, "add_offset"); !offset.empty()) packing.offset = offset.front();
  if (packing.scale == 0.0 || !std::isfinite(packing.scale) || !std::isfinite(packing.offset)) {
    throw Error(fmt::format("{}: variable '{}' has scale_factor {} and add_offset {}, with which no value can be told",
                            path().string(), variable.name, packing.scale, packing.offset));
  }
  const std::string is_unsigned = text(variable, "_Unsigned").value_or("");
  if (is_unsigned == "true" || is_unsigned == "True" || is_unsigned == "1") packing.wrap = wrap_of(variable.type);
  packing.missing = numbers(variable, "_FillValue");
  if (const auto fill = default_fill(variable.type); packing.missing.empty() && fill) packing.missing.push_back(*fill);
  for (const double number : numbers(variable, "missing_value")) packing.missing.push_back(number);
  for (double& number : packing.missing) {
    if (variable.type == NC_FLOAT) number = static_cast<float>(number);  // an attribute of doubles may say 1e20
    if (number < 0.0) number += packing.wrap;
  }
  set_valid_range(variable, packing);
  return packing;
}

std::vector<double> NcSource::read(const NcVariable& variable) const {
  std::vector<double> values(variable.size());
  std::vector<std::size_t> start(variable.dimensions.size(), 0), count;
  for (const NcDimension& dimension : variable.dimensions) count.push_back(dimension.length);
  read_stored(variable, start, count, values);
  const NcPacking unpacking = packing(variable);
  for (double& value : values) value = unpacking.unpack(value);
  return values;
}

}  // namespace drift
