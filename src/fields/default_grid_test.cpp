#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/scratch_folder.h"
#include "drift/field.h"
#include "drift/field_file.h"
#include "drift/predict.h"

namespace drift {
namespace {

TEST(GridFor, CoversTheObservationsOfTheModel) {
  FieldModel model;
  model.domain = sphere_domain();
  Observations observations;
  for (double lon = -180.0; lon < 180.0; lon += 1.0) {  // around the pole, none nearer than 10 degrees
    for (const double lat : {72.2, 80.0}) {
      observations.lon_deg.push_back(lon);
      observations.lat_deg.push_back(lat);
      observations.value.push_back(0.0);
    }
  }
  model.cells = data_cells(model.domain, observations);
  const Grid grid = grid_for(model, "EPSG:6931:100km");
  EXPECT_EQ(grid.x.first, -1950.0e3);  // 72.2 N is 1,980 km from the pole on this plane
  EXPECT_EQ(grid.x.count, 40u);
  EXPECT_EQ(grid.y, (GridAxis{"y", "m", -1950.0e3, 1e5, 40}));
  EXPECT_EQ(grid_for(model, "EPSG:6931:100km:-500,-500,500,500").x.count, 10u) << "an extent is an extent";
  EXPECT_EQ(grid_for(model, "global:10"), parse_grid("global:10"));
}

// A model of observations every degree in a box, north of 50 degrees.
FieldModel polar_model(double west, double east, double south, double north) {
  FieldModel model;
  model.domain = plane_domain("EPSG:6931");
  model.info.extent = {west, south, east, north};
  Observations observations;
  for (double lon = west; lon <= east; lon += 1.0) {
    for (double lat = south; lat <= north; lat += 1.0) {
      observations.lon_deg.push_back(lon);
      observations.lat_deg.push_back(lat);
      observations.value.push_back(0.0);
    }
  }
  model.cells = data_cells(model.domain, observations);
  return model;
}

TEST(DefaultGrid, OfAPolarPlaneCoversTheObservations) {
  const Grid grid = default_grid(polar_model(0.0, 10.0, 50.0, 56.0));  // 750 by 750 km on the plane, far from the pole
  EXPECT_EQ(grid.crs, "EPSG:6931");
  EXPECT_LT(grid.x.step, 25e3);
  EXPECT_LT(static_cast<double>(grid.x.count) * grid.x.step, 900e3);
  EXPECT_LT(static_cast<double>(grid.y.count) * grid.y.step, 900e3);
  std::vector<double> lon(grid.size()), lat(grid.size());
  grid_positions(grid, 0, lon, lat);
  for (const double at : {50.0, 56.0}) {
    double nearest = 1e9;
    for (std::size_t i = 0; i < lon.size(); ++i) nearest = std::min(nearest, std::hypot(lon[i] - 5.0, lat[i] - at));
    EXPECT_LT(nearest, 0.1) << at;
  }
}

TEST(DefaultGrid, OfObservationsAroundThePoleIsTheCap) {
  const Grid grid = default_grid(polar_model(-180.0, 180.0, 70.0, 80.0));
  EXPECT_EQ(grid.x, (GridAxis{"x", "m", -2212.5e3, 25e3, 178}));  // 70 N is 2,222 km from the pole on this plane
  EXPECT_EQ(grid.y, (GridAxis{"y", "m", -2212.5e3, 25e3, 178}));
}

TEST(GridFor, TakesTheGridOfAMapThatDriftWrote) {
  const ScratchFolder folder;
  FieldModel earth, plane;
  earth.domain = sphere_domain();
  plane.domain = xy_domain("m");
  for (const std::string text : {"bbox:170,60,-170,70:2", "EPSG:3413:500km:-2000,-1500,2000,1500", "xy:0,0,3,2:0.5"}) {
    const Grid first = parse_grid(text);
    FieldFileWriter(folder / "map.nc", {.grid = first, .time_days = {1.0}, .layers = {{.info = {"h", "Height", "", "m"}}}})
        .finish();
    const Grid back = grid_for(text.starts_with("xy") ? plane : earth, (folder / "map.nc").string());
    EXPECT_EQ(back.crs, first.crs) << text;
    EXPECT_EQ(back.x, first.x) << text;
    EXPECT_EQ(back.y, first.y) << text;
  }
}

FieldModel model_of(const Domain& domain, const std::array<double, 4>& extent) {
  FieldModel model;
  model.domain = domain;
  model.info.extent = extent;
  return model;
}

TEST(DefaultGrid, CoversTheObservations) {
  EXPECT_EQ(default_grid(model_of(sphere_domain(), {-180, -70, 180, 80})).name, "global:1");
  const Grid polar = default_grid(model_of(plane_domain("EPSG:6931"), {-180, 62, 180, 88}));
  EXPECT_EQ(polar.crs, "EPSG:6931");
  EXPECT_LE(polar.x.first, -3050e3);
  const Grid region = default_grid(model_of(plane_domain("+proj=laea +lat_0=40 +lon_0=0"), {-12.3, 30.1, 9.7, 44.9}));
  EXPECT_LE(region.x.first - 0.5 * region.x.step, -12.3);
  EXPECT_GE(region.x.at(region.x.count - 1) + 0.5 * region.x.step, 9.7);
  EXPECT_LE(region.y.first - 0.5 * region.y.step, 30.1);
  const Grid pacific = default_grid(model_of(plane_domain("+proj=laea +lat_0=40 +lon_0=180"), {170, 30, -170, 44}));
  EXPECT_EQ(pacific.x.count * pacific.x.step, 20.0);
  const Grid plain = default_grid(model_of(xy_domain("m"), {0, 0, 1000, 400}));
  EXPECT_EQ(plain.name, "xy:0,0,1000,400:5");
  EXPECT_EQ(plain.x.unit, "m");
}

}  // namespace
}  // namespace drift
