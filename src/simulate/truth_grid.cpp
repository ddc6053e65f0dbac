#include <fmt/format.h>
#include <netcdf.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/significant_digits.h"
#include "data/array_source.h"
#include "drift/error.h"
#include "drift/field.h"
#include "drift/read_arrays.h"
#include "geo/grid_mapping.h"
#include "netcdf/guarded_open.h"
#include "simulate/truth_layout.h"

namespace drift {
namespace {

[[noreturn]] void refuse(const NcSource& file, const std::string& why) {
  throw UsageError(fmt::format("{}: its grid cannot be used: {}", file.path().string(), why));
}

// The shortest number within an error: a step of 0.1 degrees in single precision comes as 0.10000042.
double shortest(double number, double error) {
  for (int digits = 1; digits < 17; ++digits) {
    const double shorter = to_digits(number, digits);
    if (std::abs(shorter - number) <= error) return shorter;
  }
  return number;
}

void set_axis(GridAxis& axis, const NcAxis& from, const NcSource& file) {
  constexpr double kEven = 1e-3;  // of a step: coordinates in single precision are no better
  const std::size_t count = from.at.size();
  if (count < 2) refuse(file, fmt::format("it has only one {}, so its step is unknown", axis.name));
  const double first = from.at.front(), step = (from.at.back() - first) / static_cast<double>(count - 1);
  for (std::size_t i = 1; i < count; ++i) {
    const double gap = from.at[i] - from.at[i - 1];
    if (std::abs(gap - step) <= kEven * step) continue;
    refuse(file, fmt::format("{} is not evenly spaced: {} and {} are {} apart, others {}", axis.name, from.at[i - 1], from.at[i],
                             gap, step));
  }
  // Coordinates are good to half a unit in their last place.
  const double error =
      std::max(std::abs(first), std::abs(from.at.back())) * (from.variable->type == NC_FLOAT ? 0x1p-24 : 0x1p-52);
  axis.first = shortest(first, error);
  axis.step = shortest(step, 2.0 * error / static_cast<double>(count - 1));
  axis.count = count;
}

Grid even_grid(const NcSource& file, const NcVariable& variable) {
  const GriddedVariable gridded = find_gridded(file, variable.name);
  Grid grid = {.name = "file:" + file.path().string(), .crs = {}, .x = {}, .y = {}};
  switch (gridded.kind) {
    case NcGridKind::curvilinear:
      refuse(file, fmt::format("'{}' has two-dimensional longitudes and latitudes", variable.name));
    case NcGridKind::geographic:
      grid.x = {.name = "longitude", .unit = "degrees_east"};
      grid.y = {.name = "latitude", .unit = "degrees_north"};
      break;
    case NcGridKind::projected:
      grid.crs = gridded.crs;
      grid.x = {.name = "x", .unit = "m"};
      grid.y = {.name = "y", .unit = "m"};
      break;
    case NcGridKind::plane: {
      const std::string unit = file.text(*gridded.x.variable, "units").value_or("");
      grid.x = {.name = "x", .unit = unit};
      grid.y = {.name = "y", .unit = unit};
      break;
    }
  }
  set_axis(grid.x, gridded.x, file);
  set_axis(grid.y, gridded.y, file);
  // The last column of a grid from 0 to 360 is the first again.
  const bool closed =
      gridded.kind == NcGridKind::geographic && grid.x.step * static_cast<double>(grid.x.count - 1) > 360.0 - 1e-6;
  if (closed) --grid.x.count;
  return grid;
}

Grid grid_of_all(const NcSource& file) {
  const std::vector<const NcVariable*> candidates = gridded_candidates(file);
  if (candidates.empty()) throw UsageError(fmt::format("{}: no variable is on a grid", file.path().string()));
  Grid grid = even_grid(file, *candidates.front());
  for (const NcVariable* other : candidates) {
    if (!(even_grid(file, *other) == grid)) {
      refuse(file, fmt::format("'{}' and '{}' lie on different ones", candidates.front()->name, other->name));
    }
  }
  return grid;
}

}  // namespace

Grid grid_from_file(const std::filesystem::path& path) { return grid_of_all(open_guarded(path)); }

Grid grid_from_arrays(const ArrayFile& arrays) { return grid_of_all(ArraySource(arrays)); }

Grid read_grid(const std::string& text, std::span<const double> lon_deg, std::span<const double> lat_deg) {
  if (text.starts_with("file:")) return grid_from_file(text.substr(5));
  return text.ends_with(".nc") ? grid_from_file(text) : parse_grid(text, lon_deg, lat_deg);
}

}  // namespace drift
