#include "output/plot_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "data/words.h"
#include "drift/calendar.h"
#include "drift/did_you_mean.h"
#include "drift/error.h"
#include "drift/parse_number.h"
#include "netcdf/cf_time.h"
#include "netcdf/guarded_open.h"

namespace drift {
namespace {

// CF's ancillary variable that is a standard deviation, or one named as if it were.
const NcVariable* uncertainty_of(const NcReader& file, const NcVariable& mean, const std::vector<const NcVariable*>& fields) {
  std::vector<std::string> names = split(file.text(mean, "ancillary_variables").value_or(""), ' ');
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
    if (found != nullptr && found != &mean && says_error(name) && std::find(fields.begin(), fields.end(), found) != fields.end())
      return found;
  }
  return nullptr;
}

std::vector<const NcVariable*> fields_of(const NcReader& file) {
  std::vector<const NcVariable*> fields = variables_on_grids(file);
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

const NcVariable& choose_variable(const NcReader& file, const std::vector<const NcVariable*>& fields, const std::string& wanted) {
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
    if (file.text(*field, "ancillary_variables") && uncertainty_of(file, *field, fields) != nullptr) return *field;
  }
  for (const NcVariable* field : fields) {
    const NcVariable* other = uncertainty_of(file, *field, fields);
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

Times times_of(const NcReader& file, const NcVariable& axis) {
  Times times;
  const std::vector<double> numbers = file.read(axis);
  const std::string unit = file.text(axis, "units").value_or("");
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (looks_like_cf_time(unit)) {
      const double days = parse_cf_time(unit, file.text(axis, "calendar").value_or("")).to_days(numbers[i]);
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
  if (const auto index = parse_number<std::size_t>(wanted)) {
    if (*index < times.text.size()) return *index;
    throw UsageError(fmt::format("{}: no time {}; it has {}, from 0 ({}) on", file.path().string(), *index, times.text.size(),
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

// Values [y, x] at one time, along the ascending axes of the grid drawn.
std::vector<float> read_values(const NcReader& file, const NcVariable& variable, const NcGrid& drawn, std::size_t time) {
  NcGrid grid = grid_of(file, variable);
  grid.x.reversed = drawn.x.reversed;
  grid.y.reversed = drawn.y.reversed;
  const NcSlice slice = read_slice(file, grid, time);
  const NcPacking packing = file.packing(*grid.variable);
  std::vector<float> values;
  values.reserve(slice.stored.size());
  for (std::size_t row = 0; row < slice.rows; ++row) {
    for (std::size_t column = 0; column < slice.columns; ++column) {
      const double value = packing.unpack(slice.at(row, column));
      values.push_back(std::isfinite(value) ? static_cast<float>(value) : std::nanf(""));
    }
  }
  if (values.size() != drawn.rows() * drawn.columns()) {
    throw Error(
        fmt::format("{}: '{}' and '{}' are not on the same grid", file.path().string(), drawn.variable->name, variable.name));
  }
  return values;
}

// Components by drift's and AVISO's names, those of the drawn variable's kind first, else by CF's standard names.
std::array<const NcVariable*, 2> currents_of(const NcReader& file, const std::vector<const NcVariable*>& fields,
                                             const NcVariable& drawn) {
  std::vector<std::array<std::string, 2>> names = {{"ugos", "vgos"}, {"ugosa", "vgosa"}, {"uo", "vo"}, {"u", "v"}};
  const std::string base = lower(drawn.base_name());
  if (base.find("sla") != std::string::npos || base == "ugosa" || base == "vgosa") std::swap(names[0], names[1]);
  const auto field = [&](const auto& is_it) {
    const auto found = std::find_if(fields.begin(), fields.end(), is_it);
    return found == fields.end() ? nullptr : *found;
  };
  for (const auto& [u, v] : names) {
    const NcVariable* east = field([&, name = u](const NcVariable* f) { return f->base_name() == name; });
    const NcVariable* north = field([&, name = v](const NcVariable* f) { return f->base_name() == name; });
    if (east != nullptr && north != nullptr) return {east, north};
  }
  const auto standard = [&](const NcVariable* f) { return file.text(*f, "standard_name").value_or(""); };
  for (const NcVariable* east : fields) {
    std::string name = standard(east);
    const auto at = name.find("eastward");
    if (at == std::string::npos || name.find("velocity") == std::string::npos) continue;
    name.replace(at, 8, "northward");
    const NcVariable* north = field([&](const NcVariable* f) { return standard(f) == name; });
    if (north != nullptr) return {east, north};
  }
  throw UsageError(
      fmt::format("{}: has no currents for arrows: neither 'ugos' and 'vgos' nor an eastward and a northward velocity; "
                  "'drift predict --gradient' adds them to maps of sea level",
                  file.path().string()));
}

std::string axis_label(const NcReader& file, const NcVariable& axis) {
  const VariableInfo info = info_of(file, axis);
  const std::string name = info.long_name.empty() ? axis.base_name() : info.long_name;
  return info.unit.empty() || info.unit == "1" ? name : fmt::format("{} [{}]", name, info.unit);
}

void read_space(const NcReader& file, NcGrid& grid, PlotSource& source) {
  read_positions(file, grid);
  source.space = grid.kind;
  source.crs = grid.crs;
  source.x = grid.x.at;
  source.y = grid.y.at;
  if (grid.kind == NcGridKind::curvilinear) {
    source.x.resize(grid.columns());
    source.y.resize(grid.rows());
    std::iota(source.x.begin(), source.x.end(), 0.0);
    std::iota(source.y.begin(), source.y.end(), 0.0);
    source.lon = grid.lon;
    source.lat = grid.lat;
  }
  if (grid.kind == NcGridKind::plane) {
    source.x_label = axis_label(file, *grid.x.variable);
    source.y_label = axis_label(file, *grid.y.variable);
  }
  if (source.x.size() < 2 || source.y.size() < 2) {
    throw Error(fmt::format("{}: '{}' has {} by {} cells; a map needs two each way", file.path().string(), grid.variable->name,
                            source.x.size(), source.y.size()));
  }
}

}  // namespace

PlotSource read_plot_source(const std::filesystem::path& map, const PlotOptions& options) {
  const NcReader file = open_guarded(map);
  const std::vector<const NcVariable*> fields = fields_of(file);
  const NcVariable& variable = choose_variable(file, fields, options.variable);
  const NcVariable* sd = options.panels == PlotPanels::mean ? nullptr : uncertainty_of(file, variable, fields);
  if (sd == nullptr && (options.panels == PlotPanels::sd || options.panels == PlotPanels::both)) {
    throw UsageError(fmt::format("{}: '{}' has no standard deviation beside it (ancillary_variables names none)", map.string(),
                                 variable.name));
  }
  NcGrid grid = grid_of(file, variable);
  PlotSource source;
  source.info = info_of(file, variable);
  std::size_t time = 0;
  if (grid.time != nullptr) {
    const Times times = times_of(file, *grid.time);
    if (times.text.empty()) throw Error(fmt::format("{}: '{}' has no times", map.string(), variable.name));
    time = choose_time(file, times, options.time);
    source.time = times.text[time];
    if (!times.days.empty()) source.time_days = times.days[time];
  } else if (!options.time.empty()) {
    throw UsageError(fmt::format("{}: '{}' has no times; leave the time out", map.string(), variable.name));
  }
  read_space(file, grid, source);
  if (options.panels != PlotPanels::sd) source.mean = read_values(file, variable, grid, time);
  if (sd != nullptr) {
    source.sd_info = info_of(file, *sd);
    source.sd = read_values(file, *sd, grid, time);
  }
  if (options.arrows) {
    const auto [u, v] = currents_of(file, fields, variable);
    source.u = read_values(file, *u, grid, time);
    source.v = read_values(file, *v, grid, time);
    source.current_unit = info_of(file, *u).unit;
  }
  return source;
}

std::vector<std::string> times_asked_for(const std::filesystem::path& map, const PlotOptions& options) {
  if (options.time != "all" && options.time.find(',') == std::string::npos) return {options.time};
  const NcReader file = open_guarded(map);
  const NcGrid grid = grid_of(file, choose_variable(file, fields_of(file), options.variable));
  if (grid.time == nullptr) {
    if (options.time == "all") return {""};
    throw UsageError(fmt::format("{}: '{}' has no times; leave the time out", map.string(), grid.variable->name));
  }
  const Times times = times_of(file, *grid.time);
  std::vector<std::string> wanted;
  if (options.time == "all") {
    for (std::size_t i = 0; i < times.text.size(); ++i) wanted.push_back(fmt::format("{}", i));
  } else {
    for (const std::string& time : split(options.time, ',')) wanted.push_back(fmt::format("{}", choose_time(file, times, time)));
  }
  return wanted;
}

}  // namespace drift
