#include "simulate/truth_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "data/nc_grid_mapping.h"
#include "data/nc_roles.h"
#include "data/words.h"
#include "drift/error.h"
#include "netcdf/cf_time.h"

namespace drift {
namespace {

// The coordinates of a gridded variable, as far as they can be told.
struct Coordinates {
  const NcVariable *lon, *lat, *x, *y, *time;
};

Coordinates coordinates_of(const NcReader& file, const NcVariable& variable) {
  const NcRoleFinder finder(file, variable);
  return {finder.guessed(kNcLon), finder.guessed(kNcLat), finder.guessed(kNcX), finder.guessed(kNcY), finder.guessed(kNcTime)};
}

bool are_axes(const NcVariable* a, const NcVariable* b) {
  return a != nullptr && b != nullptr && a->dimensions.size() == 1 && b->dimensions.size() == 1 &&
         a->dimensions[0].id != b->dimensions[0].id;
}

bool are_two_dimensional(const NcVariable* a, const NcVariable* b) {
  if (a == nullptr || b == nullptr || a->dimensions.size() != 2 || b->dimensions.size() != 2) return false;
  return a->dimensions[0].id == b->dimensions[0].id && a->dimensions[1].id == b->dimensions[1].id;
}

bool is_along(const NcVariable* coordinate, const NcDimension& dimension) {
  return coordinate != nullptr && std::any_of(coordinate->dimensions.begin(), coordinate->dimensions.end(),
                                              [&](const NcDimension& d) { return d.id == dimension.id; });
}

bool is_on_grid(const NcReader& file, const NcVariable& variable) {
  if (!variable.is_number() || variable.dimensions.size() < 2) return false;
  const Coordinates found = coordinates_of(file, variable);
  if (!are_axes(found.lon, found.lat) && !are_axes(found.x, found.y) && !are_two_dimensional(found.lon, found.lat)) return false;
  // Members, depths: several values at every position and time.
  return std::all_of(variable.dimensions.begin(), variable.dimensions.end(), [&](const NcDimension& dimension) {
    return dimension.length == 1 || is_along(found.lon, dimension) || is_along(found.lat, dimension) ||
           is_along(found.x, dimension) || is_along(found.y, dimension) || is_along(found.time, dimension);
  });
}

class GriddedFinder {
 public:
  GriddedFinder(const NcReader& file, const NcVariable& variable)
      : file_(file), variable_(variable), found_(coordinates_of(file, variable)) {
    result_.variable = &variable;
    result_.info = {variable.base_name(), text(variable, "long_name"), text(variable, "standard_name"), text(variable, "units")};
  }

  GriddedVariable find() && {
    find_space();
    find_time();
    for (std::size_t d = 0; d < variable_.dimensions.size(); ++d) {
      const bool known = d == result_.x.dimension || d == result_.y.dimension || static_cast<int>(d) == result_.time_dimension;
      if (known || variable_.dimensions[d].length == 1) continue;
      throw UsageError(fmt::format("{}: '{}' has {} values along the dimension '{}' at every position and time; one is needed",
                                   where(), variable_.name, variable_.dimensions[d].length, variable_.dimensions[d].name));
    }
    return std::move(result_);
  }

 private:
  std::string where() const { return file_.path().string(); }
  std::string text(const NcVariable& variable, const char* attribute) const {
    return file_.text(variable, attribute).value_or("");
  }

  std::size_t dimension_of(int id) const {
    const auto& dimensions = variable_.dimensions;
    const auto here = std::find_if(dimensions.begin(), dimensions.end(), [&](const NcDimension& d) { return d.id == id; });
    return static_cast<std::size_t>(here - dimensions.begin());
  }

  void find_space() {
    const bool planar = are_axes(found_.x, found_.y);
    const std::string crs = planar ? crs_of(file_, variable_) : std::string();
    if (planar && !crs.empty()) {
      result_.kind = GriddedKind::projected;
      result_.crs = crs;
      read_axes(*found_.x, *found_.y);
      to_metres(*found_.x, result_.x.at);
      to_metres(*found_.y, result_.y.at);
    } else if (are_axes(found_.lon, found_.lat)) {
      result_.kind = GriddedKind::geographic;
      read_axes(*found_.lon, *found_.lat);
      for (const double lat : {result_.y.at.front(), result_.y.at.back()}) {
        if (std::abs(lat) > 90.0 + 1e-6) throw Error(fmt::format("{}: '{}' goes to {} degrees", where(), found_.lat->name, lat));
      }
    } else if (are_two_dimensional(found_.lon, found_.lat)) {
      find_curvilinear();
    } else if (planar) {
      result_.kind = GriddedKind::plain;
      result_.plane_unit = text(*found_.x, "units");
      read_axes(*found_.x, *found_.y);
    } else {
      throw UsageError(
          fmt::format("{}: variable '{}' is not on a grid: it needs longitudes and latitudes, or x and y, along its "
                      "dimensions",
                      where(), variable_.name));
    }
  }

  void read_axes(const NcVariable& x, const NcVariable& y) {
    result_.x = read_axis(x, result_.kind == GriddedKind::geographic);
    result_.y = read_axis(y, false);
  }

  GriddedAxis read_axis(const NcVariable& variable, bool is_longitude) const {
    GriddedAxis axis = {.dimension = dimension_of(variable.dimensions[0].id),
                        .at = file_.read(variable),
                        .reversed = false,
                        .in_float = variable.type == NC_FLOAT};
    const auto fail = [&](const std::string& why) {
      throw Error(fmt::format("{}: the axis '{}' {}", where(), variable.name, why));
    };
    if (axis.at.empty()) fail("is empty");
    for (const double number : axis.at) {
      if (!std::isfinite(number)) fail("has missing coordinates");
    }
    // 179, -179: the axis goes on over the date line.
    for (std::size_t i = 1; is_longitude && i < axis.at.size(); ++i) {
      axis.at[i] -= 360.0 * std::round((axis.at[i] - axis.at[i - 1]) / 360.0);
    }
    axis.reversed = axis.at.size() > 1 && axis.at[1] < axis.at[0];
    if (axis.reversed) std::reverse(axis.at.begin(), axis.at.end());
    for (std::size_t i = 1; i < axis.at.size(); ++i) {
      if (!(axis.at[i] > axis.at[i - 1])) fail("runs neither up nor down throughout");
    }
    if (is_longitude && axis.at.back() - axis.at.front() > 360.0 + 1e-6) fail("goes around the Earth more than once");
    return axis;
  }

  void to_metres(const NcVariable& variable, std::vector<double>& numbers) const {
    const double metres = metres_of_axis(file_, variable, result_.crs);
    for (double& number : numbers) number *= metres;
  }

  void find_curvilinear() {
    result_.kind = GriddedKind::curvilinear;
    result_.y.dimension = dimension_of(found_.lon->dimensions[0].id);
    result_.x.dimension = dimension_of(found_.lon->dimensions[1].id);
    result_.lon = file_.read(*found_.lon);
    result_.lat = file_.read(*found_.lat);
  }

  void find_time() {
    if (found_.time == nullptr || found_.time->dimensions.size() != 1) return;
    result_.time_dimension = static_cast<int>(dimension_of(found_.time->dimensions[0].id));
    std::vector<double> numbers = file_.read(*found_.time);
    if (numbers.size() < 2) return;
    const std::string units = text(*found_.time, "units");
    const CfTime clock = looks_like_cf_time(units) ? parse_cf_time(units, lower(text(*found_.time, "calendar"))) : CfTime();
    for (double& number : numbers) number = clock.to_days(number);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (std::isfinite(numbers[i]) && (i == 0 || numbers[i] > numbers[i - 1])) continue;
      throw Error(fmt::format("{}: the times '{}' do not grow throughout", where(), found_.time->name));
    }
    result_.time_days = std::move(numbers);
  }

  const NcReader& file_;
  const NcVariable& variable_;
  Coordinates found_;
  GriddedVariable result_;
};

}  // namespace

std::vector<const NcVariable*> gridded_candidates(const NcReader& file) {
  std::set<std::string> helpers;
  for (const NcVariable& variable : file.variables()) {
    for (const std::string& name : split(file.text(variable, "ancillary_variables").value_or(""), ' ')) helpers.insert(name);
  }
  std::vector<const NcVariable*> found;
  for (const NcVariable& variable : file.variables()) {
    const bool flag = file.text(variable, "flag_meanings").has_value();
    if (!flag && !helpers.contains(variable.base_name()) && is_on_grid(file, variable)) found.push_back(&variable);
  }
  return found;
}

GriddedVariable find_gridded(const NcReader& file, const std::string& name) {
  if (!name.empty()) {
    const NcVariable* const variable = file.find(name);
    if (variable == nullptr) fail_unknown(file, name, "the truth's");
    if (!variable->is_number()) throw UsageError(fmt::format("{}: variable '{}' holds text", file.path().string(), name));
    return GriddedFinder(file, *variable).find();
  }
  const std::vector<const NcVariable*> found = gridded_candidates(file);
  if (found.size() == 1) return GriddedFinder(file, *found.front()).find();
  if (found.empty()) throw UsageError(fmt::format("{}: no variable is on a grid", file.path().string()));
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const NcVariable* variable : found) names.push_back(variable->name);
  throw UsageError(fmt::format("{}: several variables are on a grid: {}; name one with the option 'variable'",
                               file.path().string(), fmt::join(names, ", ")));
}

}  // namespace drift
