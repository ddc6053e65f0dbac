#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "drift/field.h"
#include "drift/predict.h"
#include "geo/projection.h"

namespace drift {
namespace {

constexpr double kCells = 200.0;  // along the longer side

// The nearest of 1, 2, 2.5 and 5 times a power of ten below.
double round_step(double step) {
  const double power = std::pow(10.0, std::floor(std::log10(step)));
  for (const double factor : {5.0, 2.5, 2.0, 1.0}) {
    if (factor * power <= step * (1.0 + 1e-9)) return factor * power;
  }
  return power;
}

// Whole steps that hold [low, high].
void cover(GridAxis& axis, double low, double high, double step) {
  const double first = std::floor(low / step + 1e-9), last = std::max(first + 1.0, std::ceil(high / step - 1e-9));
  axis.first = (first + 0.5) * step;
  axis.step = step;
  axis.count = static_cast<std::size_t>(last - first);
}

bool is_polar(const Domain& domain) { return domain.crs == "EPSG:6931" || domain.crs == "EPSG:6932"; }

// As far from the pole as the observations where these surround it, else over their extent.
Grid polar_grid(const FieldModel& model, double width_deg) {
  constexpr double kStepKm = 25.0, kAround = 180.0;  // kAround: no half of the cap is without observations
  const Domain& domain = model.domain;
  const CellCorners corners = corners_of(model.cells);
  if (width_deg > kAround || corners.lon_deg.empty()) {
    double x = 0.0, y = domain.crs == "EPSG:6931" ? model.info.extent[1] : model.info.extent[3];
    projection_of(domain.crs)->forward(std::span(&x, 1), std::span(&y, 1));
    const double reach = kStepKm * std::ceil(1e-3 * std::hypot(x, y) / kStepKm);
    return parse_grid(fmt::format("{}:{:g}km:{},{},{},{}", domain.crs, kStepKm, -reach, -reach, reach, reach));
  }
  std::vector<double> x = corners.lon_deg, y = corners.lat_deg;
  projection_of(domain.crs)->forward(x, y);
  const auto [west, east] = std::minmax_element(x.begin(), x.end());
  const auto [south, north] = std::minmax_element(y.begin(), y.end());
  const double longer_km = 1e-3 * std::max(*east - *west, *north - *south);
  return parse_grid(fmt::format("{}:{:g}km", domain.crs, std::min(kStepKm, round_step(longer_km / kCells))), corners.lon_deg,
                    corners.lat_deg);
}

Grid plain_grid(const FieldModel& model) {
  const auto& [x0, y0, x1, y1] = model.info.extent;
  const double longer = std::max(x1 - x0, y1 - y0);
  const double step = round_step(longer > 0.0 ? longer / kCells : 1.0);
  Grid grid = {"", "", {.name = "x", .unit = model.domain.unit}, {.name = "y", .unit = model.domain.unit}};
  cover(grid.x, x0, x1, step);
  cover(grid.y, y0, y1, step);
  grid.name = fmt::format("xy:{:g},{:g},{:g},{:g}:{:g}", grid.x.first - 0.5 * step, grid.y.first - 0.5 * step,
                          grid.x.first + (static_cast<double>(grid.x.count) - 0.5) * step,
                          grid.y.first + (static_cast<double>(grid.y.count) - 0.5) * step, step);
  return grid;
}

}  // namespace

Grid default_grid(const FieldModel& model) {
  if (model.domain.kind == DomainKind::xy) return plain_grid(model);
  const auto& [west, south, east, north] = model.info.extent;
  const double width = east - west + (east < west ? 360.0 : 0.0);
  if (is_polar(model.domain)) return polar_grid(model, width);
  if (width > 350.0 && north - south > 120.0) return parse_grid("global:1");
  const double step = round_step(std::max({width, north - south, 0.01}) / kCells);
  GridAxis lon, lat;
  cover(lon, west, west + width, step);
  cover(lat, south, north, step);
  const auto edge = [&](const GridAxis& axis, double cells) { return axis.first + (cells - 0.5) * step; };
  const double count = static_cast<double>(std::min(lon.count, static_cast<std::size_t>(360.0 / step + 1e-9)));
  const double low = std::max(-90.0, edge(lat, 0.0)), high = std::min(90.0, edge(lat, static_cast<double>(lat.count)));
  double first = edge(lon, 0.0), last = edge(lon, count);
  if (first < -180.0) first += 360.0, last += 360.0;
  if (last > 360.0) first -= 360.0, last -= 360.0;
  return parse_grid(fmt::format("bbox:{:.10g},{:.10g},{:.10g},{:.10g}:{:g}", first, low, last, high, step));
}

Grid grid_for(const FieldModel& model, const std::string& text) {
  if (text.empty()) return default_grid(model);
  if (model.domain.kind == DomainKind::xy) return read_grid(text);
  const CellCorners corners = corners_of(model.cells);
  return read_grid(text, corners.lon_deg, corners.lat_deg);
}

}  // namespace drift
