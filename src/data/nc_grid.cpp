#include "data/nc_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/longitude.h"
#include "data/nc_grid_mapping.h"
#include "data/nc_roles.h"
#include "data/words.h"
#include "drift/error.h"

namespace drift {
namespace {

bool lie_apart(const NcVariable* a, const NcVariable* b) {
  return a != nullptr && b != nullptr && a->dimensions[0].id != b->dimensions[0].id;
}

bool lie_together(const NcVariable* a, const NcVariable* b) {
  return a != nullptr && b != nullptr && a->dimensions[0].id == b->dimensions[0].id && a->dimensions[1].id == b->dimensions[1].id;
}

// The coordinates of a variable, as far as they can be told.
struct Coordinates {
  const NcVariable *lon, *lat, *x, *y, *time;  // one-dimensional; a time may be a scalar
  const NcVariable *lon2, *lat2;               // two-dimensional

  bool geographic() const { return lie_apart(lon, lat); }
  bool planar() const { return lie_apart(x, y); }
  bool curvilinear() const { return lie_together(lon2, lat2); }
  bool on_grid() const { return geographic() || planar() || curvilinear(); }
};

const NcVariable* of_rank(const NcVariable* variable, std::size_t dimensions) {
  return variable != nullptr && variable->dimensions.size() == dimensions ? variable : nullptr;
}

class CoordinateFinder {
 public:
  CoordinateFinder(const NcSource& file, const NcVariable& variable) : file_(file), variable_(variable) {
    for (const NcVariable& other : file.variables()) {
      if (!other.is_number() || other.dimensions.size() != 1 || other.dimensions[0].name != other.base_name()) continue;
      for (const NcDimension& dimension : variable.dimensions) {
        if (dimension.id == other.dimensions[0].id) own_.push_back(&other);
      }
    }
  }

  Coordinates find() const {
    const NcRoleFinder finder(file_, variable_);
    const NcVariable *const lon = finder.guessed(kNcLon), *const lat = finder.guessed(kNcLat);
    const NcVariable *const any_time = finder.guessed(kNcTime), *const time = axis(kNcTime, any_time);
    return {.lon = axis(kNcLon, lon),
            .lat = axis(kNcLat, lat),
            .x = axis(kNcX, finder.guessed(kNcX)),
            .y = axis(kNcY, finder.guessed(kNcY)),
            .time = time != nullptr ? time : of_rank(any_time, 0),
            .lon2 = of_rank(lon, 2),
            .lat2 = of_rank(lat, 2)};
  }

 private:
  // A dimension's own coordinate comes before all that lie along it.
  const NcVariable* axis(const NcRole& role, const NcVariable* guessed) const {
    for (const NcVariable* variable : own_) {
      if (evidence(file_, *variable, role) > 0) return variable;
    }
    return of_rank(guessed, 1);
  }

  const NcSource& file_;
  const NcVariable& variable_;
  std::vector<const NcVariable*> own_;  // coordinate variables of its dimensions
};

std::size_t dimension_of(const NcVariable& variable, int id) {
  const auto& dimensions = variable.dimensions;
  const auto here = std::find_if(dimensions.begin(), dimensions.end(), [&](const NcDimension& d) { return d.id == id; });
  return static_cast<std::size_t>(here - dimensions.begin());
}

// A mapping that is not understood does no harm if every cell has a position of its own.
std::string crs_or_none(const NcSource& file, const NcVariable& variable, bool positions) {
  try {
    return crs_of(file, variable);
  } catch (const Error&) {
    if (!positions) throw;
    return "";
  }
}

void read_axis(const NcSource& file, NcAxis& axis, bool is_longitude) {
  axis.at = file.read(*axis.variable);
  const auto fail = [&](const std::string& why) {
    throw Error(fmt::format("{}: the axis '{}' {}", file.path().string(), axis.variable->name, why));
  };
  if (axis.at.empty()) fail("is empty");
  for (const double number : axis.at) {
    if (!std::isfinite(number)) fail("has missing coordinates");
  }
  // 179, -179: the axis goes on over the date line.
  for (std::size_t i = 1; is_longitude && i < axis.at.size(); ++i) axis.at[i] = turned_near(axis.at[i - 1], axis.at[i]);
  axis.reversed = axis.at.size() > 1 && axis.at[1] < axis.at[0];
  if (axis.reversed) std::reverse(axis.at.begin(), axis.at.end());
  for (std::size_t i = 1; i < axis.at.size(); ++i) {
    if (!(axis.at[i] > axis.at[i - 1])) fail("runs neither up nor down throughout");
  }
  if (is_longitude && axis.at.back() - axis.at.front() > 360.0 + 1e-6) fail("goes around the Earth more than once");
}

// A name alone makes no time or plane axis: "t" may be a temperature.
bool is_coordinate(const NcSource& file, const NcVariable& variable) {
  for (const NcRole* role : {&kNcLon, &kNcLat}) {
    if (evidence(file, variable, *role) > 0) return true;
  }
  for (const NcRole* role : {&kNcX, &kNcY, &kNcTime}) {
    if (evidence(file, variable, *role) > 1) return true;
  }
  return false;
}

}  // namespace

std::vector<NcDimension> NcGrid::other_dimensions() const {
  std::vector<NcDimension> others;
  for (std::size_t d = 0; d < variable->dimensions.size(); ++d) {
    const bool known = d == x.dimension || d == y.dimension || static_cast<int>(d) == time_dimension;
    if (!known && variable->dimensions[d].length > 1) others.push_back(variable->dimensions[d]);
  }
  return others;
}

std::vector<const NcVariable*> variables_on_grids(const NcSource& file) {
  std::set<std::string> bounds;
  for (const NcVariable& variable : file.variables()) bounds.insert(file.text(variable, "bounds").value_or(""));
  std::vector<const NcVariable*> found;
  for (const NcVariable& variable : file.variables()) {
    const std::string name = variable.base_name();
    if (!variable.is_number() || variable.dimensions.size() < 2 || bounds.contains(name)) continue;
    if (name.ends_with("_bnds") || name.ends_with("_bounds") || is_coordinate(file, variable)) continue;
    if (CoordinateFinder(file, variable).find().on_grid()) found.push_back(&variable);
  }
  return found;
}

NcGrid grid_of(const NcSource& file, const NcVariable& variable) {
  const Coordinates found = CoordinateFinder(file, variable).find();
  NcGrid grid = {.variable = &variable};
  const std::string crs = found.planar() ? crs_or_none(file, variable, found.curvilinear()) : std::string();
  const auto set_axes = [&](NcGridKind kind, const NcVariable* x, const NcVariable* y) {
    grid.kind = kind;
    grid.x = {.variable = x, .dimension = dimension_of(variable, x->dimensions[0].id)};
    grid.y = {.variable = y, .dimension = dimension_of(variable, y->dimensions[0].id)};
  };
  if (!crs.empty()) {
    set_axes(NcGridKind::projected, found.x, found.y);
    grid.crs = crs;
  } else if (found.geographic()) {
    set_axes(NcGridKind::geographic, found.lon, found.lat);
  } else if (found.curvilinear()) {
    grid.kind = NcGridKind::curvilinear;
    grid.lon2 = found.lon2;
    grid.lat2 = found.lat2;
    grid.y.dimension = dimension_of(variable, found.lon2->dimensions[0].id);
    grid.x.dimension = dimension_of(variable, found.lon2->dimensions[1].id);
  } else if (found.planar()) {
    set_axes(NcGridKind::plane, found.x, found.y);
  } else {
    throw UsageError(
        fmt::format("{}: variable '{}' is not on a grid: it needs longitudes and latitudes, or x and y, along its dimensions",
                    file.path().string(), variable.name));
  }
  if (found.time != nullptr) {
    grid.time = found.time;
    if (!found.time->dimensions.empty())
      grid.time_dimension = static_cast<int>(dimension_of(variable, found.time->dimensions[0].id));
  }
  return grid;
}

void read_positions(const NcSource& file, NcGrid& grid) {
  if (grid.kind == NcGridKind::curvilinear) {
    grid.lon = file.read(*grid.lon2);
    grid.lat = file.read(*grid.lat2);
    return;
  }
  read_axis(file, grid.x, grid.kind == NcGridKind::geographic);
  read_axis(file, grid.y, false);
  if (grid.kind == NcGridKind::geographic) {
    for (const double lat : {grid.y.at.front(), grid.y.at.back()}) {
      if (std::abs(lat) > 90.0 + 1e-6) {
        throw Error(fmt::format("{}: '{}' goes to {} degrees", file.path().string(), grid.y.variable->name, lat));
      }
    }
  }
  if (grid.kind == NcGridKind::projected) {
    for (NcAxis* axis : {&grid.x, &grid.y}) {
      const double metres = metres_of_axis(file, *axis->variable, grid.crs);
      for (double& number : axis->at) number *= metres;
    }
  }
}

NcSlice read_slice(const NcSource& file, const NcGrid& grid, std::size_t time) {
  const std::size_t dimensions = grid.variable->dimensions.size();
  std::vector<std::size_t> start(dimensions, 0), count(dimensions, 1);
  if (grid.time_dimension >= 0) start[static_cast<std::size_t>(grid.time_dimension)] = time;
  const std::size_t rows = count[grid.y.dimension] = grid.rows(), columns = count[grid.x.dimension] = grid.columns();
  const bool rows_first = grid.y.dimension < grid.x.dimension;
  NcSlice slice = {.stored = std::vector<double>(rows * columns),
                   .row_step = rows_first ? columns : 1,
                   .column_step = rows_first ? 1 : rows,
                   .rows = rows,
                   .columns = columns,
                   .y_reversed = grid.y.reversed,
                   .x_reversed = grid.x.reversed};
  file.read_stored(*grid.variable, start, count, slice.stored);
  return slice;
}

}  // namespace drift
