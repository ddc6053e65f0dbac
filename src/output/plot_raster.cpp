#include "output/plot_raster.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/degree.h"
#include "core/longitude.h"
#include "drift/error.h"
#include "geo/longitude_extent.h"
#include "output/plot_locator.h"

namespace drift {
namespace {

constexpr double kMostCells = 12e6;  // of a raster: more than a page shows

bool has_value(const PlotSource& source, std::size_t cell) {
  return (!source.mean.empty() && std::isfinite(source.mean[cell])) || (!source.sd.empty() && std::isfinite(source.sd[cell]));
}

// The degree that the arc with all values begins in; all around: -180.
double start_of(const LongitudeExtent& longitudes) {
  const Arc arc = longitudes.arc();
  if (arc.span_deg >= 359.0) return -180.0;
  const double start = std::floor(arc.west_deg);
  return start > 180.0 ? start - 360.0 : start;
}

template <class Visit>
void visit_cells_with_values(const PlotSource& source, const Visit& visit) {
  const std::vector<double> x = edges_of(source.x), y = edges_of(source.y);
  std::vector<double> lon, lat;
  const double half = 0.5 * cell_height(source);
  for (std::size_t r = 0; r < source.y.size(); ++r) {
    row_positions(source, r, lon, lat);
    for (std::size_t c = 0; c < source.x.size(); ++c) {
      if (!has_value(source, r * source.x.size() + c) || !std::isfinite(lon[c]) || !std::isfinite(lat[c])) continue;
      if (source.space == PlotSpace::geographic || source.space == PlotSpace::plane) {
        visit(x[c], x[c + 1], y[r], y[r + 1]);
      } else {
        const double wide = std::min(180.0, half / std::max(1e-6, std::cos(lat[c] * kDegree)));
        visit(lon[c] - wide, lon[c] + wide, lat[c] - half, lat[c] + half);
      }
    }
  }
}

bool is_even(const std::vector<double>& axis) {
  const double step = (axis.back() - axis.front()) / static_cast<double>(axis.size() - 1);
  for (std::size_t i = 0; i < axis.size(); ++i) {
    if (std::abs(axis[i] - axis.front() - step * static_cast<double>(i)) > 1e-3 * step) return false;
  }
  return true;
}

void choose_cells(const PlotSource& source, PlotRaster& raster) {
  const PlotRegion& region = raster.region;
  const auto cells = [](double length, double step) {
    return std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(length / step)));
  };
  const bool axes = source.space == PlotSpace::geographic || source.space == PlotSpace::plane;
  if (axes && is_even(source.x) && is_even(source.y)) {
    raster.columns = cells(region.width(), source.x[1] - source.x[0]);
    raster.rows = cells(region.height(), source.y[1] - source.y[0]);
    const double excess = std::sqrt(static_cast<double>(raster.columns) * static_cast<double>(raster.rows) / kMostCells);
    if (excess <= 1.0) return;
    raster.columns = static_cast<std::size_t>(std::max(1.0, static_cast<double>(raster.columns) / excess));
    raster.rows = static_cast<std::size_t>(std::max(1.0, static_cast<double>(raster.rows) / excess));
    return;
  }
  double high = std::max(0.5 * cell_height(source), region.height() / 3000.0);
  const double low_lat =
      region.south < 0.0 && region.north > 0.0 ? 0.0 : std::min(std::abs(region.south), std::abs(region.north));
  double wide = source.space == PlotSpace::plane
                    ? 0.5 * (source.x.back() - source.x.front()) / static_cast<double>(source.x.size())
                    : high / std::max(0.02, std::cos(low_lat * kDegree));
  const double shrink = std::sqrt(std::max(1.0, region.width() / wide * region.height() / high / kMostCells));
  raster.columns = std::max<std::size_t>(2, cells(region.width(), wide * shrink));
  raster.rows = std::max<std::size_t>(2, cells(region.height(), high * shrink));
}

}  // namespace

double cell_height(const PlotSource& source) {
  const double step = (source.y.back() - source.y.front()) / static_cast<double>(source.y.size() - 1);
  if (source.space == PlotSpace::projected) return step / 111195.0;
  if (source.space == PlotSpace::curvilinear) {
    const std::size_t columns = source.x.size(), a = source.y.size() / 2 * columns + columns / 2, b = a - columns;
    const double d =
        std::hypot(source.lat[a] - source.lat[b], (source.lon[a] - source.lon[b]) * std::cos(source.lat[a] * 0.01745));
    return std::isfinite(d) && d > 1e-4 && d < 10.0 ? d : 0.5;
  }
  return step;
}

PlotRegion region_with_values(const PlotSource& source, const std::string& path) {
  const bool plane = source.space == PlotSpace::plane;
  LongitudeExtent span;
  bool any = false;
  visit_cells_with_values(source, [&](double west, double east, double, double) {
    any = true;
    if (!plane) span.add(west, east);
  });
  if (!any)
    throw Error(fmt::format("{}: '{}' has no values to draw{}{}", path, source.info.name, source.time.empty() ? "" : " at ",
                            source.time));
  const double start = plane ? 0.0 : start_of(span) - 1.0;
  PlotRegion region = {1e300, -1e300, 1e300, -1e300};
  visit_cells_with_values(source, [&](double west, double east, double south, double north) {
    const double first = plane ? west : turned_from(start, west);
    region.west = std::min(region.west, first);
    region.east = std::max(region.east, first + east - west);
    region.south = std::min(region.south, south);
    region.north = std::max(region.north, north);
  });
  if (!plane) {
    region.south = std::max(region.south, -90.0);
    region.north = std::min(region.north, 90.0);
    const bool axes = source.space == PlotSpace::geographic;
    if (region.width() > (axes ? 360.0 - 1e-6 : 300.0)) region.east = region.west + 360.0;
  }
  return region;
}

PlotRaster make_raster(const PlotSource& source, const PlotRegion& region) {
  PlotRaster raster = {.region = region, .columns = 0, .rows = 0, .mean = {}, .sd = {}};
  choose_cells(source, raster);
  const double wide = region.width() / static_cast<double>(raster.columns),
               high = region.height() / static_cast<double>(raster.rows);
  const auto locator = make_locator(source);
  std::vector<double> x(raster.columns), y(raster.columns);
  std::vector<std::size_t> cell(raster.columns);
  if (!source.mean.empty()) raster.mean.reserve(raster.columns * raster.rows);
  if (!source.sd.empty()) raster.sd.reserve(raster.columns * raster.rows);
  const auto value = [&](const std::vector<float>& values, std::size_t at) { return at == kNoCell ? std::nanf("") : values[at]; };
  for (std::size_t r = 0; r < raster.rows; ++r) {
    for (std::size_t c = 0; c < raster.columns; ++c) {
      x[c] = region.west + wide * (static_cast<double>(c) + 0.5);
      y[c] = region.south + high * (static_cast<double>(r) + 0.5);
    }
    locator->find(x, y, cell);
    for (const std::size_t at : cell) {
      if (!source.mean.empty()) raster.mean.push_back(value(source.mean, at));
      if (!source.sd.empty()) raster.sd.push_back(value(source.sd, at));
    }
  }
  return raster;
}

}  // namespace drift
