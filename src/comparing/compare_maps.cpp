#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "comparing/compare_parts.h"
#include "core/longitude.h"
#include "drift/compare.h"
#include "drift/field_file.h"
#include "drift/plot.h"
#include "drift/position.h"
#include "drift/version.h"
#include "fields/layers.h"
#include "fields/variable_name.h"
#include "geo/reach.h"

namespace drift {
namespace {

// True if a position lies in the box x0, y0, x1, y1; longitudes wrap.
bool in_extent(const FieldInfo& info, bool earth, double x, double y) {
  const auto& [x0, y0, x1, y1] = info.extent;
  if (!(y >= y0 && y <= y1)) return false;
  if (!earth) return x >= x0 && x <= x1;
  return lies_between(x0, x1, x);
}

}  // namespace

MapPoints map_points(const ComparePlan& plan) {
  const bool earth = plan.fit.domain.kind != DomainKind::xy;
  std::vector<double> lon(plan.grid.size()), lat(plan.grid.size());
  grid_positions(plan.grid, 0, lon, lat);
  MapPoints all;
  for (std::size_t i = 0; i < lon.size(); ++i) {
    if (!std::isfinite(lon[i]) || !std::isfinite(lat[i])) continue;
    all.index.push_back(i);
    all.lon_deg.push_back(lon[i]);
    all.lat_deg.push_back(lat[i]);
  }
  const std::vector<char> reach = reached(plan.fit.domain, all.lon_deg, all.lat_deg);
  const std::vector<double> truth = plan.truth ? truth_values(plan, all) : std::vector<double>(reach.size(), 0.0);
  MapPoints points;
  for (std::size_t i = 0; i < reach.size(); ++i) {
    if (!reach[i] || !std::isfinite(truth[i])) continue;
    points.index.push_back(all.index[i]);
    points.lon_deg.push_back(all.lon_deg[i]);
    points.lat_deg.push_back(all.lat_deg[i]);
    points.inside.push_back(in_extent(plan.info, earth, all.lon_deg[i], all.lat_deg[i]) ? 1 : 0);
  }
  return points;
}

std::vector<double> truth_values(const ComparePlan& plan, const MapPoints& points) {
  std::vector<UnitVector> at;
  for (std::size_t i = 0; i < points.index.size(); ++i) at.push_back(unit_vector({points.lon_deg[i], points.lat_deg[i]}));
  const std::vector<double> times(at.size(), plan.map_time.value_or(0.0));
  std::vector<double> values(at.size());
  plan.truth->truth(at, times, values);
  return values;
}

void write_map(const ComparePlan& plan, const MapPoints& points, const std::vector<double>& mean, const std::vector<double>& sd,
               const std::string& title, const std::filesystem::path& path) {
  const VariableInfo& value = plan.info.value;
  const std::string name = variable_name(value), what = value.long_name.empty() ? name : value.long_name;
  std::vector<FieldLayer> layers = {
      {.info = {name, what, value.standard_name, value.unit}, .digits = digits_worth_keeping(plan.fit.domain.value)}};
  if (!sd.empty()) {
    layers[0].ancillary = {name + "_uncertainty"};
    layers.push_back({.info = {name + "_uncertainty", what + ": standard deviation of the field", "", value.unit}});
  }
  FieldHeader options = {.grid = plan.grid, .calendar_time = plan.info.calendar_time, .layers = layers};
  if (plan.map_time) options.time_days = {*plan.map_time};
  options.attributes = {{"title", fmt::format("{} by {}", what, title)}, {"source", fmt::format("drift {}", version())}};
  FieldFileWriter file(path, options);
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    std::vector<double> values(plan.grid.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < points.index.size(); ++i) {
      values[points.index[i]] = layer == 0 ? mean[i] : sd[i];
    }
    file.write(layer, 0, 0, values);
  }
  file.finish();
}

std::vector<std::filesystem::path> draw_comparison(const ComparePlan& plan, const Comparison& comparison,
                                                   const Control& control) {
  std::vector<PanelMap> means, sds;
  for (const ComparedMethod& row : comparison.rows) {
    const std::filesystem::path map = fit_stem(plan, row.method, plan.seeds.front()).string() + ".nc";
    if (row.fits == 0 || !std::filesystem::exists(map)) continue;
    means.push_back({map, row.method});
    sds.push_back({map, row.method});
  }
  if (means.empty()) return {};
  control.check_stop("stopped; nothing was drawn");
  PanelOptions options = {.variable = variable_name(plan.info.value)};
  if (plan.truth) {
    const MapPoints points = map_points(plan);
    const std::filesystem::path map = plan.folder / "truth.nc";
    write_map(plan, points, truth_values(plan, points), {}, "the truth", map);
    means.insert(means.begin(), {map, "truth"});
    options.scale_of_first = true;
  }
  const std::filesystem::path mean_picture = plan.folder / "means.png", sd_picture = plan.folder / "sds.png";
  plot_panels(means, mean_picture, options, control.part(0.0, 0.5));
  options.sd = true;
  options.scale_of_first = false;
  plot_panels(sds, sd_picture, options, control.part(0.5, 1.0));
  return {mean_picture, sd_picture};
}

}  // namespace drift
