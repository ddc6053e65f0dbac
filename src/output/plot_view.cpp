#include "output/plot_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "geo/projection.h"

namespace drift {
namespace {

constexpr double kPolarDeg = 50.0;       // a map that is poleward of it all around is a polar one,
constexpr double kBeltDeg = 25.0;        // and so is one poleward of this that reaches
constexpr double kFarDeg = 65.0;         // as far as this: the Southern Ocean
constexpr double kAllAroundDeg = 180.0;  // of longitudes

// The meridian that points down on a northern polar map and up on a southern one. That of the file's own plane, so that the
// picture stands as its users know it.
double upright_meridian(const PlotSource& source, bool north) {
  if (source.space != PlotSpace::projected) return 0.0;
  std::array<double, 1> lon = {0.0}, lat = {north ? 90.0 : -90.0};
  const auto projection = projection_of(source.crs);
  projection->forward(lon, lat);
  if (!std::isfinite(lon[0]) || !std::isfinite(lat[0])) return 0.0;
  lat[0] += north ? -1e6 : 1e6;  // metres from the pole
  projection->inverse(lon, lat);
  return std::isfinite(lon[0]) ? std::round(lon[0] * 1e4) / 1e4 : 0.0;
}

PlotView polar_view(const PlotSource& source, const PlotRegion& region) {
  const bool north = region.south >= 0.0;
  PlotView view = {.shape = PlotShape::polar};
  double edge = std::min(std::abs(region.south), std::abs(region.north));
  // Squares make a ragged edge; the circle cuts it off.
  if (source.space != PlotSpace::geographic) edge += std::min(1.2 * cell_height(source), 0.05 * (90.0 - edge));
  view.region = north ? PlotRegion{-180.0, 180.0, edge, 90.0} : PlotRegion{-180.0, 180.0, -90.0, -edge};
  view.projection = fmt::format("-JA{}/{}/", upright_meridian(source, north), north ? 90 : -90);
  view.words = "azimuthal equal-area about the pole";
  view.lon_step = 30.0;
  view.lat_step = degrees_between(90.0 - edge, 4);
  view.coast = edge < 75.0 ? "-Dl+" : "-Di+";
  return view;
}

PlotView global_view(const PlotSource& source, const PlotRegion&) {
  double middle = 0.0;
  if (source.space == PlotSpace::geographic) middle = std::round(0.5 * (source.x.front() + source.x.back()) / 10.0) * 10.0;
  PlotView view = {.shape = PlotShape::global};
  view.region = {middle - 180.0, middle + 180.0, -90.0, 90.0};
  view.projection = fmt::format("-JN{}/", middle);
  view.words = "Robinson";
  view.lon_step = 60.0;
  view.lat_step = 30.0;
  view.coast = "-Dl+";
  return view;
}

PlotView regional_view(const PlotRegion& region) {
  PlotView view = {.shape = PlotShape::rectangle, .region = region};
  const double lon = 0.5 * (region.west + region.east), lat = 0.5 * (region.south + region.north);
  const double furthest = std::max(std::abs(region.south), std::abs(region.north));
  const bool one_side = region.south * region.north >= 0.0;
  if (furthest > 60.0 && one_side && region.width() <= 150.0) {
    view.shape = PlotShape::fan;
    view.projection =
        fmt::format("-JB{}/{}/{}/{}/", lon, lat, region.south + region.height() / 6.0, region.north - region.height() / 6.0);
    view.words = "Albers conic equal-area";
  } else {
    view.projection = furthest <= 80.0 ? "-JM" : "-JQ";
    view.words = furthest <= 80.0 ? "Mercator" : "equidistant cylindrical";
  }
  const double size = std::max(region.height(), region.width() * std::cos(lat * 0.0174533));
  view.coast = size > 60.0 ? "-Dl+" : size > 10.0 ? "-Di+" : size > 3.0 ? "-Dh+" : "-Df+";
  return view;
}

PlotView plane_view(const PlotRegion& region) {
  PlotView view = {.shape = PlotShape::plane, .region = region};
  view.projection = "-JX";
  view.words = "plane";
  return view;
}

}  // namespace

double degrees_between(double length, int most) {
  for (const double step : {1.0 / 60.0, 2.0 / 60.0, 5.0 / 60.0, 10.0 / 60.0, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 45.0}) {
    if (length / step <= most) return step;
  }
  return 60.0;
}

std::string region_argument(const PlotRegion& region) {
  return fmt::format("-R{}/{}/{}/{}", region.west, region.east, region.south, region.north);
}

PlotView choose_view(const PlotSource& source, const PlotRegion& region) {
  if (source.space == PlotSpace::plane) return plane_view(region);
  const double nearest = region.south * region.north < 0.0 ? 0.0 : std::min(std::abs(region.south), std::abs(region.north));
  // A rectangle around a pole reaches far towards the equator in its corners, and is a polar map all the same.
  const double furthest = std::max(std::abs(region.south), std::abs(region.north));
  const double least = source.space != PlotSpace::geographic ? 15.0 : furthest >= kFarDeg ? kBeltDeg : kPolarDeg;
  if (region.width() > kAllAroundDeg && nearest >= least) return polar_view(source, region);
  if (region.width() >= 300.0 && region.height() >= 100.0) return global_view(source, region);
  return regional_view(region);
}

}  // namespace drift
