#include "data/nc_roles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "data/nc_layout.h"
#include "data/standard_names.h"
#include "data/words.h"
#include "drift/did_you_mean.h"
#include "drift/error.h"
#include "netcdf/cf_time.h"

namespace drift {

// NOLINTBEGIN(cert-err58-cpp): small tables; without memory nothing works
const NcRole kNcLon = {"lon",
                       "longitude",
                       {"degrees_east", "degree_east", "degrees_e", "degree_e", "degreese", "degreee"},
                       "",
                       {"lon", "longitude", "lons", "nav_lon", "lon_deg"}};
const NcRole kNcLat = {"lat",
                       "latitude",
                       {"degrees_north", "degree_north", "degrees_n", "degree_n", "degreesn", "degreen"},
                       "",
                       {"lat", "latitude", "lats", "nav_lat", "lat_deg"}};
const NcRole kNcX = {"x", "projection_x_coordinate", {}, "X", {"x", "xc", "xgrid", "easting"}};
const NcRole kNcY = {"y", "projection_y_coordinate", {}, "Y", {"y", "yc", "ygrid", "northing"}};
const NcRole kNcTime = {"time", "time", {}, "T", {"time", "date", "datetime", "t"}};
// NOLINTEND(cert-err58-cpp)

namespace {

template <class Range, class Item>
bool contains(const Range& range, const Item& item) {
  return std::find(range.begin(), range.end(), item) != range.end();
}

std::string unit_word(const NcSource& file, const NcVariable& variable) {
  std::string unit = lower(file.text(variable, "units").value_or(""));
  std::replace(unit.begin(), unit.end(), ' ', '_');
  return unit;
}

std::string described(const NcSource& file, const NcVariable& variable) {
  std::string text = fmt::format("'{}'", variable.name);
  std::vector<std::string> about;
  for (const char* attribute : {"long_name", "units"}) {
    if (std::string what = file.text(variable, attribute).value_or(""); !what.empty()) about.push_back(what.substr(0, 60));
  }
  return about.empty() ? text : fmt::format("{} ({})", text, fmt::join(about, ", "));
}

bool is_position_or_time(const NcSource& file, const NcVariable& variable) {
  for (const NcRole* role : {&kNcLon, &kNcLat, &kNcX, &kNcY, &kNcTime}) {
    if (evidence(file, variable, *role) > 0) return true;
  }
  return false;
}

// Wave periods are values; other spans of time are corrections of times and ages.
bool is_span_of_time(const NcSource& file, const NcVariable& variable) {
  const std::string name = lower(file.text(variable, "standard_name").value_or("") + variable.base_name());
  return is_time_unit(file.text(variable, "units").value_or("")) && name.find("period") == std::string::npos;
}

// Whether a variable could be the value: numbers along dimensions, and none of what describes others.
bool can_be_value(const NcSource& file, const NcVariable& variable, const std::set<std::string>& helpers) {
  constexpr std::array<std::string_view, 7> kLabels = {"track",        "pass",     "cycle", "pass_number",
                                                       "cycle_number", "platform", "crs"};
  if (!variable.is_number() || variable.dimensions.empty() || is_position_or_time(file, variable)) return false;
  if (contains(kLabels, lower(variable.base_name())) || helpers.contains(variable.base_name())) return false;
  const bool is_axis = variable.dimensions.size() == 1 && variable.dimensions[0].name == variable.base_name();
  const bool is_flag = file.text(variable, "flag_meanings").has_value();
  return !is_axis && !is_flag && !is_span_of_time(file, variable);
}

// How likely it is that a user means this one, the more the likelier: what everybody maps, then what has a name of CF's, then
// others, and flags, counts and the satellite's own geometry last.
int likelihood(const NcSource& file, const NcVariable& variable) {
  const std::string name = lower(variable.base_name()), standard_name = file.text(variable, "standard_name").value_or("");
  const bool aside = looks_aside(name);
  const bool has_unit = !file.text(variable, "units").value_or("").empty();
  const bool main = is_main_quantity(name) || is_main_quantity(standard_name);
  return (aside ? -8 : 0) + (main ? 4 : 0) + (is_standard_name(standard_name) ? 2 : 0) + (has_unit ? 1 : 0);
}

bool has_same_dimensions(const NcVariable& a, const NcVariable& b) { return lies_along(a, b) && lies_along(b, a); }

bool has_same_unit(const NcSource& file, const NcVariable& a, const NcVariable& b) {
  return file.text(a, "units").value_or("") == file.text(b, "units").value_or("");
}

bool is_of_errors(const NcSource& file, const NcVariable& variable) {
  return tells_of_errors(variable.base_name()) || tells_of_errors(file.text(variable, "long_name").value_or("")) ||
         file.text(variable, "standard_name").value_or("").ends_with(" standard_error");
}

// Names that other variables give as their bounds, helpers and grid mappings.
std::set<std::string> helpers(const NcSource& file) {
  std::set<std::string> names;
  for (const NcVariable& variable : file.variables()) {
    for (const char* attribute : {"bounds", "ancillary_variables", "grid_mapping", "cell_measures"}) {
      for (const std::string& name : split(file.text(variable, attribute).value_or(""), ' ')) names.insert(name);
    }
  }
  return names;
}

std::vector<const NcVariable*> candidates(const NcSource& file) {
  const std::set<std::string> not_values = helpers(file);
  std::vector<const NcVariable*> found;
  for (const NcVariable& variable : file.variables()) {
    if (can_be_value(file, variable, not_values)) found.push_back(&variable);
  }
  // Beside the largest these are a grid's corners and steps, or its axes.
  std::size_t largest = 0;
  for (const NcVariable* variable : found) largest = std::max(largest, variable->size());
  std::erase_if(found, [&](const NcVariable* variable) { return 100 * variable->size() < largest; });
  // Nor is the standard error of another one that is there.
  std::vector<const NcVariable*> errors;
  for (const NcVariable* variable : found) {
    if (!is_of_errors(file, *variable)) errors.push_back(find_error_of(file, *variable));
  }
  std::erase_if(found, [&](const NcVariable* variable) { return contains(errors, variable); });
  std::stable_sort(found.begin(), found.end(),
                   [&](const NcVariable* a, const NcVariable* b) { return likelihood(file, *a) > likelihood(file, *b); });
  return found;
}

[[noreturn]] void fail_ambiguous(const NcSource& file, const std::vector<const NcVariable*>& found, const std::string& why) {
  constexpr std::size_t kMost = 20;
  std::vector<std::string> texts;
  for (const NcVariable* variable : found) texts.push_back(described(file, *variable));
  const std::size_t more = texts.size() > kMost ? texts.size() - kMost : 0;
  texts.resize(texts.size() - more);
  throw UsageError(fmt::format("{}: {}:\n  {}{}", file.path().string(), why, fmt::join(texts, "\n  "),
                               more == 0 ? std::string() : fmt::format("\n  and {} more", more)));
}

// Variables of that name, path or standard_name, the surest kind of match alone. Attributes are looked at last: they are slow.
std::vector<const NcVariable*> matching(const NcSource& file, const std::string& wanted) {
  const auto where = [&](const auto& matches) {
    std::vector<const NcVariable*> found;
    for (const NcVariable& variable : file.variables()) {
      if (matches(variable)) found.push_back(&variable);
    }
    return found;
  };
  auto found = where([&](const NcVariable& v) { return v.name == wanted || "/" + v.name == wanted; });
  if (found.empty()) found = where([&](const NcVariable& v) { return v.base_name() == wanted; });
  if (found.empty()) found = where([&](const NcVariable& v) { return file.text(v, "standard_name") == wanted; });
  if (found.empty()) found = where([&](const NcVariable& v) { return lower(v.name) == lower(wanted); });
  return found;
}

// Groups that two paths have in common, from the file's root on.
std::size_t shared_groups(std::string_view a, std::string_view b) {
  std::size_t shared = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) shared += a[i] == '/' ? 1 : 0;
  return shared;
}

void check_is_number(const NcSource& file, const NcVariable& variable) {
  if (variable.is_number()) return;
  throw UsageError(fmt::format("{}: variable '{}' holds text, not numbers", file.path().string(), variable.name));
}

}  // namespace

int evidence(const NcSource& file, const NcVariable& variable, const NcRole& role) {
  const std::string standard_name = lower(file.text(variable, "standard_name").value_or(""));
  const std::string unit = file.text(variable, "units").value_or("");
  const bool is_called = contains(role.names, lower(variable.base_name()));
  if (!standard_name.empty() && standard_name != role.standard_name) return 0;
  int score = is_called ? 1 : 0;
  if (!standard_name.empty()) score += 4;
  if (contains(role.units, unit_word(file, variable))) score += 2;
  if (&role == &kNcTime && looks_like_cf_time(unit)) score += 2;
  const bool has_axis = !role.axis.empty() && file.text(variable, "axis") == role.axis;
  const bool in_degrees = contains_ignoring_case(unit, "degree");
  if (has_axis && !in_degrees) score += 2;
  return in_degrees && (&role == &kNcX || &role == &kNcY) ? 0 : score;
}

bool lies_along(const NcVariable& variable, const NcVariable& other) {
  return std::all_of(variable.dimensions.begin(), variable.dimensions.end(), [&](const NcDimension& d) {
    return std::any_of(other.dimensions.begin(), other.dimensions.end(), [&](const NcDimension& o) { return o.id == d.id; });
  });
}

void fail_unknown(const NcSource& file, const std::string& name, const std::string& what) {
  std::vector<std::string_view> known;
  std::set<std::string> names;
  for (const NcVariable& variable : file.variables()) {
    names.insert(variable.name);
    names.insert(variable.base_name());
  }
  known.assign(names.begin(), names.end());
  const std::string hint = known.empty() ? "; the file has none" : did_you_mean(name, known);
  throw UsageError(fmt::format("{}: no variable '{}' ({}){}", file.path().string(), name, what,
                               hint.empty() ? "; 'drift inspect' shows what there is" : hint));
}

NcRoleFinder::NcRoleFinder(const NcSource& file, const NcVariable& value)
    : file_(file), value_(value), coordinates_(split(file.text(value, "coordinates").value_or(""), ' ')) {}

bool NcRoleFinder::is_coordinate(const NcVariable& variable) const {
  if (contains(coordinates_, variable.name) || contains(coordinates_, variable.base_name())) return true;
  return variable.dimensions.size() == 1 && variable.dimensions[0].name == variable.base_name();
}

const NcVariable* NcRoleFinder::closest(std::string_view name) const {
  if (name.starts_with('/')) name.remove_prefix(1);
  const NcVariable* best = nullptr;
  std::size_t most = 0;
  for (const NcVariable* variable : ending_with(file_, name)) {
    if (!lies_along(*variable, value_)) continue;
    const std::size_t shared = shared_groups(variable->name, value_.name);
    if (best != nullptr && shared <= most && variable->name != name) continue;
    best = variable;
    most = shared;
    if (variable->name == name) break;
  }
  return best;
}

const NcVariable* NcRoleFinder::named(const std::string& name, std::string_view option) const {
  if (const NcVariable* const found = closest(name); found != nullptr) return found;
  const std::vector<const NcVariable*> elsewhere = ending_with(file_, name);
  if (elsewhere.empty()) fail_unknown(file_, name, fmt::format("--{}", option));
  std::vector<std::string> dimensions;
  for (const NcDimension& dimension : value_.dimensions) dimensions.push_back(dimension.name);
  throw UsageError(fmt::format("{}: variable '{}' (--{}) does not lie along the dimensions of '{}', which are {}",
                               file_.path().string(), elsewhere.front()->name, option, value_.name, fmt::join(dimensions, ", ")));
}

const NcVariable* NcRoleFinder::first_of(const std::vector<std::string_view>& names) const {
  for (const std::string_view name : names) {
    const NcVariable* const variable = closest(name);
    if (variable != nullptr && variable != &value_ && variable->is_number()) return variable;
  }
  return nullptr;
}

const NcVariable* NcRoleFinder::guessed(const NcRole& role) const {
  using Rank = std::tuple<std::size_t, bool, int>;
  const NcVariable *best = nullptr, *second = nullptr;
  Rank best_rank, second_rank;
  for (const NcVariable& variable : file_.variables()) {
    if (&variable == &value_ || !variable.is_number() || !lies_along(variable, value_)) continue;
    const int score = evidence(file_, variable, role);
    if (score == 0) continue;
    const Rank rank = {variable.dimensions.size(), is_coordinate(variable), score};
    if (best == nullptr || rank > best_rank) {
      second = best;
      second_rank = best_rank;
      best = &variable;
      best_rank = rank;
    } else if (second == nullptr || rank > second_rank) {
      second = &variable;
      second_rank = rank;
    }
  }
  if (second != nullptr && second_rank == best_rank) {
    fail_ambiguous(file_, {best, second},
                   fmt::format("either could be the {}; name the right one with that option", role.option));
  }
  return best;
}

const NcVariable* NcRoleFinder::find(const NcRole& role, const std::string& option,
                                     const std::vector<std::string_view>& preset) const {
  if (option == kNoRole) return nullptr;
  if (!option.empty()) {
    const NcVariable* const variable = named(option, role.option);
    check_is_number(file_, *variable);
    return variable;
  }
  const NcVariable* const known = first_of(preset);
  return known != nullptr ? known : guessed(role);
}

std::vector<const NcVariable*> find_values(const NcSource& file, const std::string& wanted, const PresetRow* preset) {
  const bool every_group = preset != nullptr && preset->every_group;
  if (wanted == kNoRole) throw UsageError(fmt::format("--value is \"{}\", but values are needed", kNoRole));
  if (!wanted.empty()) {
    std::vector<const NcVariable*> found = matching(file, wanted);
    if (found.empty()) fail_unknown(file, wanted, "--value");
    if (found.size() > 1 && !every_group) {
      fail_ambiguous(file, found, fmt::format("'{}' may be any of these; name one in full", wanted));
    }
    for (const NcVariable* variable : found) check_is_number(file, *variable);
    return found;
  }
  if (preset != nullptr) {
    for (const std::string_view name : preset->values) {
      std::vector<const NcVariable*> found = ending_with(file, name);
      std::erase_if(found, [](const NcVariable* variable) { return !variable->is_number(); });
      if (found.size() == 1 || (every_group && !found.empty())) return found;
    }
  }
  std::vector<const NcVariable*> found = candidates(file);
  if (found.empty()) {
    throw UsageError(fmt::format("{}: no variable could be the value; name one with --value", file.path().string()));
  }
  if (found.size() > 1) {
    fail_ambiguous(file, found, "several variables could be the value; name one with --value, likeliest first");
  }
  return found;
}

const NcVariable* find_error_of(const NcSource& file, const NcVariable& value) {
  std::vector<const NcVariable*> told;
  for (const NcVariable& variable : file.variables()) {
    const bool may_be = &variable != &value && variable.is_number() && !variable.dimensions.empty();
    if (!may_be || !has_same_dimensions(variable, value) || !has_same_unit(file, variable, value)) continue;
    if (is_error_of(variable.base_name(), value.base_name())) return &variable;
    if (is_of_errors(file, variable)) told.push_back(&variable);
  }
  return told.size() == 1 ? told.front() : nullptr;
}

bool is_time_unit(const std::string& units) { return looks_like_cf_time(units) || span_seconds(units) > 0.0; }

}  // namespace drift
