#include "output/plot_arrows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "output/plot_locator.h"

namespace drift {
namespace {

constexpr double kMeetsCm = 1e-3;  // a point of the page that comes back to itself lies on the map

double spacing_cm(const PlotLayout& layout) { return std::clamp(layout.map_width / 26.0, 0.26, 0.45); }

std::vector<double> project(const GmtSession& gmt, const PlotView& view, const PlotLayout& layout, bool inverse,
                            const std::vector<double>& points) {
  std::vector<std::string> arguments = {"mapproject", region_argument(view.region), layout.projection, "-bi2d",
                                        "-bo2d",      "--PROJ_LENGTH_UNIT=c"};
  if (inverse) arguments.emplace_back("-I");
  const std::string bytes = gmt.run(arguments, {reinterpret_cast<const char*>(points.data()), points.size() * sizeof(double)});
  std::vector<double> out(bytes.size() / sizeof(double));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(double));
  return out;
}

// Longitudes and latitudes (x and y) of a lattice of the page, as far as it lies on the map.
void lattice(const GmtSession& gmt, const PlotView& view, const PlotLayout& layout, std::vector<double>& lon,
             std::vector<double>& lat) {
  const double step = spacing_cm(layout);
  std::vector<double> page;
  for (double y = 0.5 * step; y < layout.map_height; y += step) {
    for (double x = 0.5 * step; x < layout.map_width; x += step) page.insert(page.end(), {x, y});
  }
  const std::vector<double> places = project(gmt, view, layout, true, page);
  const std::vector<double> back = project(gmt, view, layout, false, places);
  if (places.size() != page.size() || back.size() != page.size()) return;
  for (std::size_t i = 0; i < page.size(); i += 2) {
    const bool on_map = std::hypot(back[i] - page[i], back[i + 1] - page[i + 1]) < kMeetsCm;
    if (on_map && places[i + 1] >= view.region.south && places[i + 1] <= view.region.north) {
      lon.push_back(places[i]);
      lat.push_back(places[i + 1]);
    }
  }
}

}  // namespace

std::vector<Arrow> choose_arrows(const GmtSession& gmt, const PlotSource& source, const PlotView& view,
                                 const PlotLayout& layout) {
  std::vector<double> lon, lat;
  lattice(gmt, view, layout, lon, lat);
  std::vector<std::size_t> cells(lon.size());
  make_locator(source)->find(lon, lat, cells);
  const std::set<std::size_t> chosen(cells.begin(), cells.end());
  std::vector<Arrow> arrows;
  std::size_t row = kNoCell;
  for (const std::size_t cell : chosen) {
    if (cell == kNoCell || !std::isfinite(source.u[cell]) || !std::isfinite(source.v[cell])) continue;
    if (cell / source.x.size() != row) {
      row = cell / source.x.size();
      row_positions(source, row, lon, lat);
    }
    const std::size_t column = cell % source.x.size();
    if (std::isfinite(lon[column])) arrows.push_back({lon[column], lat[column], source.u[cell], source.v[cell]});
  }
  return arrows;
}

double arrow_cm_per_speed(const PlotLayout& layout, double fast) { return 1.8 * spacing_cm(layout) / fast; }

double key_speed(double fast) {
  const double power = std::pow(10.0, std::floor(std::log10(fast * (1.0 + 1e-9))));
  for (const double digit : {5.0, 2.0}) {
    if (digit * power <= fast * (1.0 + 1e-9)) return digit * power;
  }
  return power;
}

}  // namespace drift
