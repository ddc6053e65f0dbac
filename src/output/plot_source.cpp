#include "output/plot_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <sstream>

#include "data/nc_grid_mapping.h"
#include "data/words.h"
#include "drift/calendar.h"
#include "drift/did_you_mean.h"
#include "drift/error.h"
#include "netcdf/cf_time.h"
#include "netcdf/netcdf_reader.h"

namespace drift {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> found;
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

enum class Axis { none, lon, lat, x, y, time };

// What CF calls a coordinate, by standard_name, units, axis, and then by its name.
Axis axis_of(const NcReader& file, const NcVariable& variable) {
  const std::string standard = file.text(variable, "standard_name").value_or(""),
                    unit = file.text(variable, "units").value_or(""), axis = file.text(variable, "axis").value_or(""),
                    name = lower(variable.base_name());
  if (standard == "longitude" || unit == "degrees_east" || unit == "degree_east" || name == "longitude" || name == "lon") {
    return Axis::lon;
  }
  if (standard == "latitude" || unit == "degrees_north" || unit == "degree_north" || name == "latitude" || name == "lat") {
    return Axis::lat;
  }
  if (standard == "time" || looks_like_cf_time(unit) || axis == "T" || name == "time") return Axis::time;
  if (standard == "projection_x_coordinate" || axis == "X" || name == "x" || name == "xc" || name == "xgrid") return Axis::x;
  if (standard == "projection_y_coordinate" || axis == "Y" || name == "y" || name == "yc" || name == "ygrid") return Axis::y;
  return Axis::none;
}

// A variable on a grid: which of its dimensions are which.
struct Gridded {
  const NcVariable* variable = nullptr;
  std::size_t x = kNone, y = kNone, time = kNone;         // among its dimensions
  const NcVariable *x_axis = nullptr, *y_axis = nullptr;  // null: a dimension without coordinates
  const NcVariable* time_axis = nullptr;
  const NcVariable *lon2 = nullptr, *lat2 = nullptr;  // [y, x] in either order
};

const NcVariable* coordinate_of(const NcReader& file, const NcDimension& dimension) {
  for (const NcVariable& variable : file.variables()) {
    if (variable.base_name() == dimension.name && variable.dimensions.size() == 1 && variable.dimensions[0].id == dimension.id &&
        variable.is_number()) {
      return &variable;
    }
  }
  return nullptr;
}

// The 2-D longitude or latitude that lies along the same dimensions.
const NcVariable* position_of_cells(const NcReader& file, const Gridded& grid, Axis wanted) {
  for (const NcVariable& variable : file.variables()) {
    if (variable.dimensions.size() != 2 || !variable.is_number() || axis_of(file, variable) != wanted) continue;
    const int x = grid.variable->dimensions[grid.x].id, y = grid.variable->dimensions[grid.y].id;
    if (variable.dimensions[0].id == y && variable.dimensions[1].id == x) return &variable;
  }
  return nullptr;
}

// Its x is null where the variable is not on a grid.
Gridded describe(const NcReader& file, const NcVariable& variable) {
  Gridded grid = {.variable = &variable};
  const std::size_t count = variable.dimensions.size();
  for (std::size_t i = 0; i < count; ++i) {
    const NcVariable* coordinate = coordinate_of(file, variable.dimensions[i]);
    const Axis axis = coordinate == nullptr ? Axis::none : axis_of(file, *coordinate);
    if (axis == Axis::lon || axis == Axis::x) grid.x = i, grid.x_axis = coordinate;
    if (axis == Axis::lat || axis == Axis::y) grid.y = i, grid.y_axis = coordinate;
    if (axis == Axis::time) grid.time = i, grid.time_axis = coordinate;
  }
  if (grid.x == kNone && grid.y == kNone && count >= 2 && grid.time != count - 1 && grid.time != count - 2) {
    grid.y = count - 2, grid.x = count - 1;  // bare dimensions: a grid where cells have positions of their own
    grid.lon2 = position_of_cells(file, grid, Axis::lon);
    grid.lat2 = position_of_cells(file, grid, Axis::lat);
    if (grid.lon2 == nullptr || grid.lat2 == nullptr) grid.x = kNone, grid.y = kNone;
  } else if (grid.x != kNone && grid.y != kNone) {
    grid.lon2 = position_of_cells(file, grid, Axis::lon);
    grid.lat2 = position_of_cells(file, grid, Axis::lat);
  }
  if (grid.x == kNone || grid.y == kNone) grid.x = grid.y = kNone;
  return grid;
}

bool is_field(const NcReader& file, const NcVariable& variable) {
  return variable.is_number() && variable.dimensions.size() >= 2 && axis_of(file, variable) == Axis::none &&
         !variable.base_name().ends_with("_bnds") && !variable.base_name().ends_with("_bounds") &&
         describe(file, variable).x != kNone;
}

// CF's ancillary variable that is a standard deviation, or one named as if it were.
const NcVariable* uncertainty_of(const NcReader& file, const NcVariable& mean) {
  std::vector<std::string> names = words(file.text(mean, "ancillary_variables").value_or(""));
  const auto says_error = [&](const std::string& name) {
    const std::string text = lower(name);
    for (const char* part : {"uncertainty", "error", "err", "sd", "std", "sigma"}) {
      if (text.find(part) != std::string::npos) return true;
    }
    return false;
  };
  std::stable_partition(names.begin(), names.end(), says_error);
  const std::string base = mean.base_name();
  for (const char* suffix : {"_uncertainty", "_error", "_err", "_sd", "_std"}) names.push_back(base + suffix);
  names.push_back("err_" + base);
  for (const std::string& name : names) {
    const NcVariable* found = file.find(name);
    if (found != nullptr && found != &mean && says_error(name) && is_field(file, *found)) return found;
  }
  return nullptr;
}

std::vector<const NcVariable*> fields_of(const NcReader& file) {
  std::vector<const NcVariable*> fields;
  for (const NcVariable& variable : file.variables()) {
    if (is_field(file, variable)) fields.push_back(&variable);
  }
  if (fields.empty()) {
    throw Error(
        fmt::format("{}: is not a map: no variable lies on longitudes and latitudes, or on x and y", file.path().string()));
  }
  return fields;
}

std::string names_of(const std::vector<const NcVariable*>& fields) {
  std::vector<std::string> names;
  names.reserve(fields.size());
  for (const NcVariable* field : fields) names.push_back(field->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const NcVariable& choose_variable(const NcReader& file, const std::string& wanted) {
  const std::vector<const NcVariable*> fields = fields_of(file);
  if (!wanted.empty()) {
    for (const NcVariable* field : fields) {
      if (field == file.find(wanted)) return *field;
    }
    std::vector<std::string_view> names;
    names.reserve(fields.size());
    for (const NcVariable* field : fields) names.push_back(field->name);
    throw UsageError(fmt::format("{}: no variable '{}' on a grid{}", file.path().string(), wanted, did_you_mean(wanted, names)));
  }
  for (const NcVariable* field : fields) {
    if (file.text(*field, "ancillary_variables") && uncertainty_of(file, *field) != nullptr) return *field;
  }
  for (const NcVariable* field : fields) {
    const NcVariable* other = uncertainty_of(file, *field);
    if (fields.size() == 1 || (fields.size() == 2 && (other == fields[0] || other == fields[1]))) return *field;
  }
  throw UsageError(fmt::format("{}: has several variables on a grid, name one: {}", file.path().string(), names_of(fields)));
}

VariableInfo info_of(const NcReader& file, const NcVariable& variable) {
  return {.name = variable.name,
          .long_name = file.text(variable, "long_name").value_or(""),
          .standard_name = file.text(variable, "standard_name").value_or(""),
          .unit = file.text(variable, "units").value_or("")};
}

// Times of the file as text, and in days where they are of the calendar.
struct Times {
  std::vector<std::string> text;
  std::vector<double> days;
};

Times times_of(const NcReader& file, const Gridded& grid) {
  Times times;
  const std::size_t count = grid.variable->dimensions[grid.time].length;
  const std::vector<double> numbers = file.read(*grid.time_axis);
  const std::string unit = file.text(*grid.time_axis, "units").value_or("");
  for (std::size_t i = 0; i < count; ++i) {
    if (looks_like_cf_time(unit)) {
      const double days = parse_cf_time(unit, file.text(*grid.time_axis, "calendar").value_or("")).to_days(numbers[i]);
      times.days.push_back(days);
      times.text.push_back(std::isfinite(days) ? iso_time(days) : "no time");
    } else {
      times.text.push_back(fmt::format("{:g}{}{}", numbers[i], unit.empty() || unit == "1" ? "" : " ", unit == "1" ? "" : unit));
    }
  }
  return times;
}

std::size_t choose_time(const NcReader& file, const Times& times, const std::string& wanted) {
  if (wanted.empty()) return 0;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), index);
  if (error == std::errc() && end == wanted.data() + wanted.size()) {
    if (index < times.text.size()) return index;
    throw UsageError(fmt::format("{}: no time {}; it has {}, from 0 ({}) on", file.path().string(), index, times.text.size(),
                                 times.text.front()));
  }
  double days = 0.0;
  if (!parse_iso_time(wanted, days)) {
    throw UsageError(fmt::format("time '{}' is neither an index nor a time such as 2020-03-01T06:00", wanted));
  }
  for (std::size_t i = 0; i < times.days.size(); ++i) {
    if (std::abs(times.days[i] - days) < 1.0 / 86400.0) return i;
  }
  throw UsageError(fmt::format("{}: no time {}; it has {}, from {} to {}", file.path().string(), wanted, times.text.size(),
                               times.text.front(), times.text.back()));
}

// Values [y, x] at one time; the first entry of any other dimension.
std::vector<float> read_slice(const NcReader& file, const Gridded& grid, std::size_t time) {
  const NcVariable& variable = *grid.variable;
  std::vector<std::size_t> start(variable.dimensions.size(), 0), count(variable.dimensions.size(), 1);
  if (grid.time != kNone) start[grid.time] = time;
  const std::size_t columns = count[grid.x] = variable.dimensions[grid.x].length;
  const std::size_t rows = count[grid.y] = variable.dimensions[grid.y].length;
  std::vector<double> stored(rows * columns);
  file.read_stored(variable, start, count, stored);
  const NcPacking packing = file.packing(variable);
  std::vector<float> values(stored.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const double value = packing.unpack(stored[grid.x < grid.y ? c * rows + r : r * columns + c]);
      values[r * columns + c] = std::isfinite(value) ? static_cast<float>(value) : std::nanf("");
    }
  }
  return values;
}

std::vector<double> read_axis(const NcReader& file, const NcVariable* axis, std::size_t count) {
  std::vector<double> centres(count);
  std::iota(centres.begin(), centres.end(), 0.0);
  if (axis != nullptr) centres = file.read(*axis);
  if (axis != nullptr && axis_of(file, *axis) == Axis::lon) {
    for (std::size_t i = 1; i < centres.size(); ++i) {  // 178, 179, -180, ... runs on past 180
      if (centres[i] < centres[i - 1] - 180.0) centres[i] += 360.0 * std::ceil((centres[i - 1] - centres[i] - 180.0) / 360.0);
    }
  }
  const bool up = centres.size() < 2 || centres[1] > centres[0];
  for (std::size_t i = 0; i < centres.size(); ++i) {
    if (!std::isfinite(centres[i]) || (i > 0 && (centres[i] > centres[i - 1]) != up)) {
      throw Error(
          fmt::format("{}: axis '{}' neither rises nor falls throughout: look at entry {}", file.path().string(), axis->name, i));
    }
  }
  return centres;
}

template <class Number>
void turn_columns(std::vector<Number>& values, std::size_t columns) {
  for (auto row = values.begin(); row != values.end(); row += static_cast<std::ptrdiff_t>(columns)) {
    std::reverse(row, row + static_cast<std::ptrdiff_t>(columns));
  }
}

template <class Number>
void turn_rows(std::vector<Number>& values, std::size_t columns) {
  turn_columns(values, values.size());
  turn_columns(values, columns);
}

void make_axes_ascend(PlotSource& source) {
  if (source.x.size() > 1 && source.x[1] < source.x[0]) {
    std::reverse(source.x.begin(), source.x.end());
    for (auto* values : {&source.mean, &source.sd}) turn_columns(*values, source.x.size());
  }
  if (source.y.size() > 1 && source.y[1] < source.y[0]) {
    std::reverse(source.y.begin(), source.y.end());
    for (auto* values : {&source.mean, &source.sd}) {
      if (!values->empty()) turn_rows(*values, source.x.size());
    }
  }
}

std::string axis_label(const NcReader& file, const NcVariable* axis) {
  if (axis == nullptr) return "";
  const VariableInfo info = info_of(file, *axis);
  const std::string name = info.long_name.empty() ? axis->base_name() : info.long_name;
  return info.unit.empty() || info.unit == "1" ? name : fmt::format("{} [{}]", name, info.unit);
}

// A mapping that is not understood does no harm where every cell has a position of its own.
std::string crs_or_none(const NcReader& file, const Gridded& grid, bool positions) {
  try {
    return crs_of(file, *grid.variable);
  } catch (const Error&) {
    if (!positions) throw;
    return "";
  }
}

void read_space(const NcReader& file, const Gridded& grid, PlotSource& source) {
  source.x = read_axis(file, grid.x_axis, grid.variable->dimensions[grid.x].length);
  source.y = read_axis(file, grid.y_axis, grid.variable->dimensions[grid.y].length);
  const bool geographic = grid.x_axis != nullptr && axis_of(file, *grid.x_axis) == Axis::lon;
  const bool positions = grid.lon2 != nullptr && grid.lat2 != nullptr;
  const std::string crs = geographic ? "" : crs_or_none(file, grid, positions);
  if (geographic) {
    source.space = PlotSpace::geographic;
  } else if (!crs.empty() && grid.x_axis != nullptr && grid.y_axis != nullptr) {
    source.space = PlotSpace::projected;
    source.crs = crs;
    const double x_metres = metres_of_axis(file, *grid.x_axis, crs), y_metres = metres_of_axis(file, *grid.y_axis, crs);
    for (double& x : source.x) x *= x_metres;
    for (double& y : source.y) y *= y_metres;
  } else if (positions) {
    source.space = PlotSpace::curvilinear;
    std::iota(source.x.begin(), source.x.end(), 0.0);
    std::iota(source.y.begin(), source.y.end(), 0.0);
    source.lon = file.read(*grid.lon2);
    source.lat = file.read(*grid.lat2);
  } else {
    source.x_label = axis_label(file, grid.x_axis);
    source.y_label = axis_label(file, grid.y_axis);
  }
  if (source.x.size() < 2 || source.y.size() < 2) {
    throw Error(fmt::format("{}: '{}' has {} by {} cells; a map needs two each way", file.path().string(), grid.variable->name,
                            source.x.size(), source.y.size()));
  }
}

}  // namespace

PlotSource read_plot_source(const std::filesystem::path& map, const PlotOptions& options) {
  const NcReader file(map);
  const NcVariable& variable = choose_variable(file, options.variable);
  const NcVariable* sd = options.panels == PlotPanels::mean ? nullptr : uncertainty_of(file, variable);
  if (sd == nullptr && (options.panels == PlotPanels::sd || options.panels == PlotPanels::both)) {
    throw UsageError(fmt::format("{}: '{}' has no standard deviation beside it (ancillary_variables names none)", map.string(),
                                 variable.name));
  }
  const Gridded grid = describe(file, variable);
  PlotSource source;
  source.info = info_of(file, variable);
  std::size_t time = 0;
  if (grid.time != kNone) {
    const Times times = times_of(file, grid);
    if (times.text.empty()) throw Error(fmt::format("{}: '{}' has no times", map.string(), variable.name));
    time = choose_time(file, times, options.time);
    source.time = times.text[time];
  } else if (!options.time.empty()) {
    throw UsageError(fmt::format("{}: '{}' has no times; leave the time out", map.string(), variable.name));
  }
  read_space(file, grid, source);
  if (options.panels != PlotPanels::sd) source.mean = read_slice(file, grid, time);
  if (sd != nullptr) {
    source.sd_info = info_of(file, *sd);
    source.sd = read_slice(file, describe(file, *sd), time);
  }
  for (const auto* values : {&source.mean, &source.sd}) {
    if (!values->empty() && values->size() != source.x.size() * source.y.size()) {
      throw Error(fmt::format("{}: '{}' and '{}' are not on the same grid", map.string(), variable.name, sd->name));
    }
  }
  if (source.space != PlotSpace::curvilinear) make_axes_ascend(source);
  return source;
}

}  // namespace drift
