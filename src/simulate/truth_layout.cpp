#include "simulate/truth_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <set>

#include "data/nc_roles.h"
#include "data/words.h"
#include "drift/error.h"
#include "netcdf/cf_time.h"

namespace drift {
namespace {

std::vector<double> read_times(const NcSource& file, const NcVariable& time) {
  std::vector<double> numbers = file.read(time);
  if (numbers.size() < 2) return {};
  const std::string units = file.text(time, "units").value_or(""), calendar = file.text(time, "calendar").value_or("");
  const CfTime clock = looks_like_cf_time(units) ? parse_cf_time(units, lower(calendar)) : CfTime();
  for (double& number : numbers) number = clock.to_days(number);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (std::isfinite(numbers[i]) && (i == 0 || numbers[i] > numbers[i - 1])) continue;
    throw Error(fmt::format("{}: the times '{}' are not in ascending order", file.path().string(), time.name));
  }
  return numbers;
}

GriddedVariable gridded(const NcSource& file, const NcVariable& variable) {
  GriddedVariable result{grid_of(file, variable)};
  for (const NcDimension& dimension : result.other_dimensions()) {
    throw UsageError(fmt::format("{}: '{}' has {} values along the dimension '{}' at every position and time; one is needed",
                                 file.path().string(), variable.name, dimension.length, dimension.name));
  }
  read_positions(file, result);
  if (result.time != nullptr) result.time_days = read_times(file, *result.time);
  const auto text = [&](const char* attribute) { return file.text(variable, attribute).value_or(""); };
  result.info = {variable.base_name(), text("long_name"), text("standard_name"), text("units")};
  return result;
}

}  // namespace

std::vector<const NcVariable*> gridded_candidates(const NcSource& file) {
  std::set<std::string> helpers;
  for (const NcVariable& variable : file.variables()) {
    for (const std::string& name : split(file.text(variable, "ancillary_variables").value_or(""), ' ')) helpers.insert(name);
  }
  std::vector<const NcVariable*> found = variables_on_grids(file);
  std::erase_if(found, [&](const NcVariable* variable) {
    return file.text(*variable, "flag_meanings").has_value() || helpers.contains(variable->base_name()) ||
           !grid_of(file, *variable).other_dimensions().empty();
  });
  return found;
}

GriddedVariable find_gridded(const NcSource& file, const std::string& name) {
  if (!name.empty()) {
    const NcVariable* const variable = file.find(name);
    if (variable == nullptr) fail_unknown(file, name, "the truth's");
    if (!variable->is_number()) throw UsageError(fmt::format("{}: variable '{}' holds text", file.path().string(), name));
    return gridded(file, *variable);
  }
  const std::vector<const NcVariable*> found = gridded_candidates(file);
  if (found.size() == 1) return gridded(file, *found.front());
  if (found.empty()) throw UsageError(fmt::format("{}: no variable is on a grid", file.path().string()));
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const NcVariable* variable : found) names.push_back(variable->name);
  throw UsageError(fmt::format("{}: several variables are on a grid: {}; name one with --variable", file.path().string(),
                               fmt::join(names, ", ")));
}

}  // namespace drift
