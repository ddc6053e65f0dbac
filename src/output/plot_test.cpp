#include "drift/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netcdf.h>

#include <cmath>

#include "core/degree.h"
#include "core/scratch_folder.h"
#include "drift/error.h"
#include "drift/ocean_mask.h"
#include "netcdf/netcdf_call.h"
#include "output/gmt.h"
#include "output/plot_picture_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

constexpr double kPlaceTolerance = 0.02;  // of the map's width: patches are some degrees wide, lines are drawn over them

// Maps are blue (-0.5) with one red patch (+0.5), on GMT's blue-white-red colours from -1 to 1.
class PlotMap : public testing::Test {
 protected:
  void SetUp() override {
    if (find_program("gmt").empty()) GTEST_SKIP() << "GMT is not installed: apt-get install gmt gmt-gshhg-low ghostscript";
  }

  static PlotOptions options() {
    return {
        .panels = PlotPanels::mean, .limits = std::array<double, 2>{-1.0, 1.0}, .colours = "polar", .width_cm = 8.0, .dpi = 100};
  }

  static FieldOf patch_at(
      double lon, double lat, double size, FieldOf inside = [](double, double) { return 0.0; }) {
    return [=](double x, double y) {
      if (std::isnan(inside(x, y))) return kNoValue;
      return std::abs(std::remainder(x - lon, 360.0)) < size && std::abs(y - lat) < size ? 0.5 : -0.5;
    };
  }

  // Where the red patch is and what the coloured map spans. The colour bar below is left out: rows without colour lie between,
  // more than a line of the graticule takes.
  static constexpr double kGapRows = 4.0;
  struct Found {
    double x, y;                      // the patch's centre
    double left, right, top, bottom;  // of all that is coloured
    double width() const { return right - left; }
  };
  static Found find_patch(const std::filesystem::path& path) {
    const Picture picture = read_picture(path);
    Found found = {0, 0, 1e9, -1, -1, -1};
    double red = 0.0;
    for (std::size_t y = 0; y < picture.height; ++y) {
      bool coloured = false;
      for (std::size_t x = 0; x < picture.width; ++x) {
        const int more_red = picture.red(x, y);
        if (std::abs(more_red) < 90) continue;
        coloured = true;
        found.left = std::min(found.left, static_cast<double>(x));
        found.right = std::max(found.right, static_cast<double>(x));
        if (more_red > 90) found.x += static_cast<double>(x), found.y += static_cast<double>(y), red += 1.0;
      }
      if (!coloured) {
        if (found.top >= 0.0 && static_cast<double>(y) - found.bottom > kGapRows) break;
        continue;
      }
      if (found.top < 0.0) found.top = static_cast<double>(y);
      found.bottom = static_cast<double>(y) + 1.0;
    }
    EXPECT_GT(red, 10.0) << "no red patch on the map";
    found.x /= red, found.y /= red;
    return found;
  }

  ScratchFolder scratch_;
};

double north_of_60(double, double lat) { return lat > 60.0 ? 0.0 : kNoValue; }
double south_of_60(double, double lat) { return lat < -60.0 ? 0.0 : kNoValue; }

// Lambert's azimuthal projection about the pole: radius as a share of the map's half width.
double polar_radius(double lat, double edge) {
  return std::sin(0.5 * (90.0 - lat) * kDegree) / std::sin(0.5 * (90.0 - edge) * kDegree);
}

TEST_F(PlotMap, PutsPlacesOfANorthernProjectedGridWhereTheyAre) {
  for (const double lon : {90.0, -45.0}) {
    write_map_file(scratch_ / "map.nc", map_options(parse_grid("EPSG:6931:50km"), false), patch_at(lon, 72.0, 4.0, north_of_60));
    EXPECT_EQ(plot_map(scratch_ / "map.nc", scratch_ / "map.png", options()).projection, "azimuthal equal-area about the pole");
    const Found found = find_patch(scratch_ / "map.png");
    const double half = 0.5 * found.width(), r = polar_radius(72.0, 60.3) * half;
    EXPECT_NEAR(found.x - found.left - half, r * std::sin(lon * kDegree), kPlaceTolerance * found.width()) << lon;
    EXPECT_NEAR(found.y - found.top - half, r * std::cos(lon * kDegree), kPlaceTolerance * found.width()) << lon;
  }
}

TEST_F(PlotMap, StandsAsTheFilesOwnPlaneDoes) {  // EPSG:3413 has 45 W at the bottom
  Grid grid = parse_grid("EPSG:3413:50km:-3500,-3500,3500,3500");
  write_map_file(scratch_ / "map.nc", map_options(grid, false), patch_at(-45.0, 72.0, 4.0, north_of_60));
  plot_map(scratch_ / "map.nc", scratch_ / "map.png", options());
  const Found found = find_patch(scratch_ / "map.png");
  EXPECT_NEAR(found.x, 0.5 * (found.left + found.right), kPlaceTolerance * found.width());
  EXPECT_GT(found.y - found.top, 0.6 * found.width());
}

TEST_F(PlotMap, PutsPlacesOfASouthernMapWhereTheyAre) {
  write_map_file(scratch_ / "map.nc", map_options(parse_grid("bbox:-180,-90,180,-60:1"), false),
                 patch_at(60.0, -72.0, 4.0, south_of_60));
  plot_map(scratch_ / "map.nc", scratch_ / "map.png", options());
  const Found found = find_patch(scratch_ / "map.png");
  const double half = 0.5 * found.width(), r = polar_radius(72.0, 60.0) * half;
  EXPECT_NEAR(found.x - found.left - half, r * std::sin(60.0 * kDegree), kPlaceTolerance * found.width());
  EXPECT_NEAR(found.y - found.top - half, -r * std::cos(60.0 * kDegree), kPlaceTolerance * found.width()) << "Greenwich is up";
}

TEST_F(PlotMap, PutsPlacesOfAGlobalMapWhereTheyAre) {
  write_map_file(scratch_ / "map.nc", map_options(parse_grid("global:2"), false), patch_at(100.0, 30.0, 6.0));
  EXPECT_EQ(plot_map(scratch_ / "map.nc", scratch_ / "map.png", options()).projection, "Robinson");
  const Found found = find_patch(scratch_ / "map.png");
  // Robinson's table at 30 degrees: parallels 0.96 as long as the equator, 0.372 of the way to the pole.
  EXPECT_NEAR((found.x - found.left) / found.width(), 0.5 + 0.5 * 0.96 * 100.0 / 180.0, kPlaceTolerance);
  EXPECT_NEAR((found.y - found.top) / (found.bottom - found.top), 0.5 - 0.5 * 0.372, kPlaceTolerance);
}

TEST_F(PlotMap, CrossesTheDateLine) {
  write_map_file(scratch_ / "map.nc", map_options(parse_grid("bbox:160,-20,-160,20:1"), false), patch_at(-170.0, 10.0, 3.0));
  EXPECT_EQ(plot_map(scratch_ / "map.nc", scratch_ / "map.png", options()).projection, "Mercator");
  const Found found = find_patch(scratch_ / "map.png");
  EXPECT_NEAR((found.x - found.left) / found.width(), 0.75, kPlaceTolerance);
  EXPECT_NEAR((found.y - found.top) / (found.bottom - found.top), 0.25, kPlaceTolerance);
}

TEST_F(PlotMap, DrawsAPlainPlaneWithYUpwards) {
  Grid grid = {.name = "", .crs = "", .x = {"x", "km", 0.0, 5.0, 60}, .y = {"y", "km", 0.0, 5.0, 40}};
  write_map_file(scratch_ / "map.nc", map_options(grid, false), patch_at(225.0, 150.0, 15.0));
  EXPECT_EQ(plot_map(scratch_ / "map.nc", scratch_ / "map.png", options()).projection, "plane");
  const Found found = find_patch(scratch_ / "map.png");
  EXPECT_NEAR((found.x - found.left) / found.width(), 0.757, kPlaceTolerance);
  EXPECT_NEAR((found.y - found.top) / (found.bottom - found.top), 0.238, kPlaceTolerance);
  EXPECT_NEAR((found.bottom - found.top) / found.width(), 40.0 / 60.0, kPlaceTolerance);
}

// How much of the map's square is white: neither land nor field.
double white_share(const std::filesystem::path& path) {
  const Picture picture = read_picture(path);
  double white = 0.0, all = 0.0;
  for (std::size_t y = picture.height / 4; y < picture.height * 6 / 10; ++y) {
    for (std::size_t x = picture.width / 4; x < picture.width * 3 / 4; ++x) {
      const std::uint8_t* p = picture.at(x, y);
      white += p[0] > 250 && p[1] > 250 && p[2] > 250 ? 1.0 : 0.0;
      all += 1.0;
    }
  }
  return white / all;
}

TEST_F(PlotMap, LaysCoastlinesOnTheFieldsOwn) {
  const Grid grid = parse_grid("EPSG:6931:50km:-3500,-3500,3500,3500");
  std::vector<double> lon(grid.size()), lat(grid.size());
  grid_positions(grid, 0, lon, lat);
  const std::vector<char> ocean = is_ocean(lon, lat);
  for (const bool mirrored : {false, true}) {
    FieldFileWriter writer(scratch_ / "map.nc", map_options(grid, false));
    std::vector<double> values(grid.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t column = i % grid.x.count, at = mirrored ? i - column + (grid.x.count - 1 - column) : i;
      values[i] = ocean[at] != 0 ? -0.5 : kNoValue;
    }
    writer.write(0, 0, 0, values);
    writer.finish();
    plot_map(scratch_ / "map.nc", scratch_ / "map.png", options());
    if (mirrored) {
      EXPECT_GT(white_share(scratch_ / "map.png"), 0.08) << "a mirrored field would be noticed";
    } else {
      EXPECT_LT(white_share(scratch_ / "map.png"), 0.02);
    }
  }
}

TEST_F(PlotMap, DrawsMeanAndSdSideBySideAndSaysWhatItDrew) {
  FieldHeader file = map_options(parse_grid("global:5"), true);
  file.time_days = {25627.0, 25628.25};
  write_map_file(
      scratch_ / "map.nc", file, [](double, double lat) { return static_cast<float>(lat / 90.0); },
      [](double, double) { return 0.25; });
  const PlotReport report = plot_map(scratch_ / "map.nc", scratch_ / "map.png", {.time = "2020-03-02T06:00", .dpi = 60});
  EXPECT_EQ(report.variable, "sla");
  EXPECT_EQ(report.sd_variable, "sla_uncertainty");
  EXPECT_EQ(report.time, "2020-03-02T06:00:00Z");
  EXPECT_EQ(report.sd_limits[0], 0.0);
  EXPECT_GT(report.limits[1], 1.5) << "the second time is one more";
  const Picture picture = read_picture(scratch_ / "map.png");
  EXPECT_NEAR(static_cast<double>(picture.width), 17.0 / 2.54 * 60.0, 50.0);
  EXPECT_GT(picture.width, 2 * picture.height);
  EXPECT_EQ(scratch_.files(), 2u) << "nothing temporary is left";
}

TEST_F(PlotMap, DrawsObservationsInTheFieldsColours) {
  write_map_file(scratch_ / "map.nc", map_options(parse_grid("bbox:-40,20,-20,40:1"), false),
                 [](double, double) { return -0.5; });
  PlotOptions with = options();
  for (int i = 0; i < 4000; ++i) {  // thinned, so many that they have no outlines
    with.observations.lon_deg.push_back(-30.0 + 0.0005 * i);
    with.observations.lat_deg.push_back(30.0 + 0.0005 * i);
    with.observations.value.push_back(0.9);
  }
  with.most_observations = 1000;
  EXPECT_EQ(plot_map(scratch_ / "map.nc", scratch_ / "map.png", with).observations, 1000u);
  const Found found = find_patch(scratch_ / "map.png");
  EXPECT_NEAR((found.x - found.left) / found.width(), 0.55, kPlaceTolerance);
}

TEST_F(PlotMap, WritesPdf) {
  write_map_file(scratch_ / "map.nc", map_options(parse_grid("global:10"), false), [](double, double) { return 1.0; });
  plot_map(scratch_ / "map.nc", scratch_ / "map.PDF", {});
  EXPECT_THAT(read_bytes(scratch_ / "map.PDF"), testing::StartsWith("%PDF-"));
}

// Longitudes from 0 to 360 across, latitudes from north to south, longitude before latitude, packed: as others write them.
void write_foreign(const std::filesystem::path& path) {
  const auto lock = lock_netcdf();
  const auto check = [&](int status) { check_netcdf(status, path, "test"); };
  int file = 0, lat = 0, lon = 0, lat_id = 0, lon_id = 0, id = 0;
  check(nc_create(path.c_str(), NC_CLOBBER, &file));
  check(nc_def_dim(file, "lat", 37, &lat));
  check(nc_def_dim(file, "lon", 72, &lon));
  check(nc_def_var(file, "lat", NC_FLOAT, 1, &lat, &lat_id));
  check(nc_def_var(file, "lon", NC_FLOAT, 1, &lon, &lon_id));
  check(nc_put_att_text(file, lat_id, "units", 13, "degrees_north"));
  check(nc_put_att_text(file, lon_id, "units", 12, "degrees_east"));
  const std::array<int, 2> dimensions = {lon, lat};
  check(nc_def_var(file, "t", NC_SHORT, 2, dimensions.data(), &id));
  const double scale = 0.5;
  check(nc_put_att_double(file, id, "scale_factor", NC_DOUBLE, 1, &scale));
  check(nc_enddef(file));
  std::vector<float> lats, lons;
  for (int i = 0; i < 37; ++i) lats.push_back(90.0f - 5.0f * static_cast<float>(i));  // poles included: cells beyond 90
  for (int i = 0; i < 72; ++i) lons.push_back(5.0f * static_cast<float>(i));
  check(nc_put_var_float(file, lat_id, lats.data()));
  check(nc_put_var_float(file, lon_id, lons.data()));
  std::vector<short> values;
  for (const float x : lons) {
    for (const float y : lats) values.push_back(std::abs(x - 240.0f) < 8.0f && std::abs(y - 30.0f) < 8.0f ? 1 : -1);
  }
  check(nc_put_var_short(file, id, values.data()));
  check(nc_close(file));
}

TEST_F(PlotMap, ReadsForeignGridsTurnedAnyWay) {
  write_foreign(scratch_ / "map.nc");
  plot_map(scratch_ / "map.nc", scratch_ / "map.png", options());
  const Found found = find_patch(scratch_ / "map.png");  // the middle is 180 E, so 240 E is right of it
  EXPECT_NEAR((found.x - found.left) / found.width(), 0.5 + 0.5 * 0.96 * 60.0 / 180.0, kPlaceTolerance);
  EXPECT_NEAR((found.y - found.top) / (found.bottom - found.top), 0.5 - 0.5 * 0.372, kPlaceTolerance);
}

class PlotErrors : public PlotMap {
 protected:
  void SetUp() override {
    PlotMap::SetUp();
    FieldHeader file = map_options(parse_grid("global:10"), true);
    file.time_days = {25627.0};
    write_map_file(
        scratch_ / "map.nc", file, [](double, double) { return 1.0; }, [](double, double) { return 1.0; });
  }

  template <class Wanted>
  void expect(const std::string& map, const std::string& picture, const PlotOptions& options, const std::string& message) {
    try {
      plot_map(scratch_ / map, scratch_ / picture, options);
      FAIL() << message;
    } catch (const Wanted& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
    EXPECT_FALSE(std::filesystem::exists(scratch_ / picture));
  }
};

TEST_F(PlotErrors, SayWhatIsWrong) {
  write_bytes(scratch_ / "text.nc", "this is not a map at all");
  expect<Error>("text.nc", "p.png", {}, "is not a NetCDF file");
  expect<Error>("none.nc", "p.png", {}, "no such file");
  expect<Error>("map.nc", "no_folder/p.png", {}, "does not exist");
  expect<UsageError>("map.nc", "p.jpeg", {}, "a picture is .png, .pdf or .svg, not '.jpeg' (an animation is .gif or .mp4)");
  expect<UsageError>("map.nc", "p", {}, "a picture is .png, .pdf or .svg");
  expect<UsageError>("map.nc", "p.png", {.variable = "slaa"}, "no variable 'slaa' on a grid; did you mean 'sla'?");
  expect<UsageError>("map.nc", "p.png", {.time = "1"}, "no time 1; it has 1");
  expect<UsageError>("map.nc", "p.png", {.time = "2021-01-01"}, "no time 2021-01-01");
  expect<UsageError>("map.nc", "p.png", {.time = "noon"}, "neither an index nor a time");
  expect<UsageError>("map.nc", "p.png", {.colours = "batlo"}, "GMT has no colour map 'batlo'; did you mean 'batlow'?");
  expect<UsageError>("map.nc", "p.png", {.limits = std::array<double, 2>{1.0, 1.0}}, "colour limits");
  expect<UsageError>("map.nc", "p.png", {.width_cm = 1.0}, "4 to 100");
  expect<UsageError>("map.nc", "p.png", {.dpi = 5000}, "30 to 1200");
}

TEST_F(PlotErrors, SayThatThereIsNothingToDraw) {
  write_map_file(scratch_ / "empty.nc", map_options(parse_grid("global:10"), false), [](double, double) { return kNoValue; });
  expect<Error>("empty.nc", "p.png", {}, "'sla' has no values to draw");
  expect<UsageError>("empty.nc", "p.png", {.panels = PlotPanels::sd}, "has no standard deviation");
}

}  // namespace
}  // namespace drift
