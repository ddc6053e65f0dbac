#include "drift/grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "drift/error.h"
#include "drift/parse_number.h"
#include "geo/check_grid.h"
#include "geo/projection.h"

namespace drift {
namespace {

constexpr double kMostCells = 1e6;  // an axis's: 40 m all around the Earth
constexpr const char* kUnderstood =
    "grids are written global:STEP and bbox:LON0,LAT0,LON1,LAT1:STEP in degrees, or CRS:STEPkm and "
    "CRS:STEPkm:XMIN,YMIN,XMAX,YMAX in km or m, or xy:X0,Y0,X1,Y1:STEP on a plane of no CRS; for instance global:0.25, "
    "bbox:-30,60,20,80:0.1, EPSG:6931:25km";

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw UsageError(fmt::format("grid '{}': {}; {}", text, why, kUnderstood));
}

std::optional<std::array<double, 4>> as_box(std::string_view text) {
  const auto numbers = parse_numbers<double>(text, ',', 4);
  if (!numbers) return std::nullopt;
  return std::array{(*numbers)[0], (*numbers)[1], (*numbers)[2], (*numbers)[3]};
}

// "25km": 25, and the unit's metres.
struct Step {
  double number;
  double unit_m;
};
std::optional<Step> as_step(std::string_view text) {
  const bool km = text.ends_with("km");
  if (!km && !text.ends_with("m")) return std::nullopt;
  text.remove_suffix(km ? 2 : 1);
  const std::optional<double> number = parse_number<double>(text);
  return number ? std::optional(Step{*number, km ? 1000.0 : 1.0}) : std::nullopt;
}

// "a:b" at the last colon.
struct Halves {
  std::string before, after;
};
Halves split_last(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return {"", text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

void set_cells(GridAxis& axis, double low, double high, double step, const std::string& text) {
  constexpr double kWhole = 1e-6;  // of a cell: decimal steps such as 0.1 are not exact
  if (!(step > 0.0)) refuse(text, fmt::format("the step must be positive but is {}", step));
  if (!(high > low)) refuse(text, fmt::format("{} from {} to {} is empty", axis.name, low, high));
  const double cells = (high - low) / step, whole = std::round(cells);
  if (whole > kMostCells)
    refuse(text, fmt::format("{} would have {:.0f} cells, at most {:.0f} are allowed", axis.name, cells, kMostCells));
  if (whole < 1.0 || std::abs(cells - whole) > kWhole) {
    refuse(text, fmt::format("{} from {} to {} is not a whole number of steps of {}", axis.name, low, high, step));
  }
  axis.first = low + 0.5 * step;
  axis.step = step;
  axis.count = static_cast<std::size_t>(whole);
}

Grid longitude_latitude(const std::string& text, const std::array<double, 4>& box, const std::string& step_text) {
  const auto [west, south, east, north] = box;
  const std::optional<double> step = parse_number<double>(step_text);
  if (!step) refuse(text, fmt::format("'{}' is not a step in degrees", step_text));
  if (south < -90.0 || north > 90.0) refuse(text, fmt::format("latitudes from {} to {} exceed +-90", south, north));
  if (std::min(west, east) < -180.0 || std::max(west, east) > 360.0) {
    refuse(text, fmt::format("longitudes {} and {} must lie between -180 and 360", west, east));
  }
  const double unwrapped = west > east ? east + 360.0 : east;
  if (unwrapped - west > 360.0) refuse(text, fmt::format("longitudes from {} to {} overlap", west, unwrapped));
  Grid grid = {text, "", {.name = "longitude", .unit = "degrees_east"}, {.name = "latitude", .unit = "degrees_north"}};
  set_cells(grid.x, west, unwrapped, *step, text);
  set_cells(grid.y, south, north, *step, text);
  return grid;
}

Grid plain(const std::string& text, const std::array<double, 4>& box, const std::string& step_text) {
  const std::optional<double> step = parse_number<double>(step_text);
  if (!step) refuse(text, fmt::format("'{}' is not a step", step_text));
  Grid grid = {text, "", {.name = "x", .unit = ""}, {.name = "y", .unit = ""}};
  set_cells(grid.x, box[0], box[2], *step, text);
  set_cells(grid.y, box[1], box[3], *step, text);
  return grid;
}

using Positions = std::pair<std::span<const double>, std::span<const double>>;  // longitudes, latitudes

// Of the positions within the area of use, in whole steps.
std::array<double, 4> extent_of(const std::string& text, const std::string& crs, double step_m, const Positions& positions) {
  const auto projection = projection_of(crs);
  const auto area = projection->area_of_use();
  std::vector<double> x(positions.first.begin(), positions.first.end()), y(positions.second.begin(), positions.second.end());
  projection->forward(x, y);
  std::array<double, 4> extent = {INFINITY, INFINITY, -INFINITY, -INFINITY};
  for (std::size_t i = 0; i < x.size(); ++i) {
    const bool inside = area ? x[i] >= (*area)[0] && x[i] <= (*area)[2] && y[i] >= (*area)[1] && y[i] <= (*area)[3]
                             : std::isfinite(x[i]) && std::isfinite(y[i]);
    if (!inside) continue;
    extent = {std::min(extent[0], x[i]), std::min(extent[1], y[i]), std::max(extent[2], x[i]), std::max(extent[3], y[i])};
  }
  if (extent[0] > extent[2]) refuse(text, fmt::format("no observation lies within the area of use of '{}'", crs));
  for (const std::size_t low : {0, 1}) {
    extent.at(low) = step_m * std::floor(extent.at(low) / step_m);
    extent.at(low + 2) = std::max(extent.at(low) + step_m, step_m * std::ceil(extent.at(low + 2) / step_m));
  }
  return extent;
}

std::array<double, 4> default_extent(const std::string& text, const std::string& crs, double step_m) {
  const auto area = projection_of(crs)->area_of_use();
  if (!area) refuse(text, fmt::format("'{}' declares no area of use, so the grid needs an extent", crs));
  std::array<double, 4> extent = *area;
  if (step_m > 0.0) {
    for (double& bound : extent) bound = step_m * std::round(bound / step_m);
  }
  return extent;
}

Grid projected(const std::string& text, const std::string& crs, const Step& step, const std::optional<std::array<double, 4>>& box,
               const Positions& positions) {
  const double step_m = step.number * step.unit_m;
  projection_of(crs);  // an unknown CRS is the first thing to hear about
  std::array<double, 4> extent = {};
  if (box) {
    std::transform(box->begin(), box->end(), extent.begin(), [&](double bound) { return bound * step.unit_m; });
  } else if (!positions.first.empty() && step_m > 0.0) {
    extent = extent_of(text, crs, step_m, positions);
  } else {
    extent = default_extent(text, crs, step_m);
  }
  Grid grid = {text, crs, {.name = "x", .unit = "m"}, {.name = "y", .unit = "m"}};
  set_cells(grid.x, extent[0], extent[2], step_m, text);
  set_cells(grid.y, extent[1], extent[3], step_m, text);
  return grid;
}

}  // namespace

void check_grid(const std::string& text) {
  const auto [before, last] = split_last(text);
  const auto step = as_step(last);
  const bool own = before == "global" || before.starts_with("bbox:") || before.starts_with("xy:");
  if (own || !step || before.empty()) {
    parse_grid(text);
    return;
  }
  projection_of(before);
  if (!(step->number > 0.0)) refuse(text, fmt::format("the step must be positive but is {}", step->number));
}

Grid parse_grid(const std::string& text) { return parse_grid(text, {}, {}); }

Grid parse_grid(const std::string& text, std::span<const double> lon_deg, std::span<const double> lat_deg) {
  if (lon_deg.size() != lat_deg.size())
    throw UsageError(fmt::format("grid '{}': {} longitudes but {} latitudes", text, lon_deg.size(), lat_deg.size()));
  const auto [before, last] = split_last(text);
  if (before == "global") return longitude_latitude(text, {-180.0, -90.0, 180.0, 90.0}, last);
  if (before.starts_with("bbox:")) {
    const std::string box_text = before.substr(5);
    const auto box = as_box(box_text);
    if (!box) refuse(text, fmt::format("'{}' is not four numbers LON0,LAT0,LON1,LAT1", box_text));
    return longitude_latitude(text, *box, last);
  }
  if (before.starts_with("xy:")) {
    const std::string box_text = before.substr(3);
    const auto box = as_box(box_text);
    if (!box) refuse(text, fmt::format("'{}' is not four numbers X0,Y0,X1,Y1", box_text));
    return plain(text, *box, last);
  }
  if (const auto step = as_step(last); step && !before.empty()) {
    return projected(text, before, *step, std::nullopt, {lon_deg, lat_deg});
  }
  if (const auto box = as_box(last)) {
    const auto [crs, step_text] = split_last(before);
    if (const auto step = as_step(step_text); step && !crs.empty()) return projected(text, crs, *step, box, {});
  }
  refuse(text, "not understood");
}

void grid_positions(const Grid& grid, std::size_t first, std::span<double> lon_deg, std::span<double> lat_deg) {
  const std::size_t n = lon_deg.size();
  if (lat_deg.size() != n || first > grid.size() || n > grid.size() - first) {
    throw UsageError(fmt::format("grid '{}': points {} to {} are requested, with {} latitudes, but it has {}", grid.name, first,
                                 first + n, lat_deg.size(), grid.size()));
  }
  for (std::size_t i = 0; i < n; ++i) {
    lon_deg[i] = grid.x.at((first + i) % grid.x.count);
    lat_deg[i] = grid.y.at((first + i) / grid.x.count);
  }
  if (!grid.crs.empty()) projection_of(grid.crs)->inverse(lon_deg, lat_deg);
}

}  // namespace drift
