#include "drift/truth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/degree.h"
#include "core/scratch_folder.h"
#include "drift/error.h"
#include "geo/projection.h"
#include "simulate/truth_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

constexpr double kFloat = 1e-5;  // slices are kept in single precision; values here are below 100

double value_of(const NamedTruth& truth, double lon, double lat, double time = 0.0) {
  const UnitVector point = unit_vector({lon, lat});
  double value = 0.0;
  truth.truth(std::span(&point, 1), std::span(&time, 1), std::span(&value, 1));
  return value;
}

// Linear along every grid line: what bilinear interpolation gives back exactly.
double bilinear(double lat, double lon, double /*time*/) { return 0.5 * lat - 0.25 * lon + 0.01 * lat * lon; }

GridFile regional() { return {.x = steps(-10.0, 2.0, 21), .y = {40.0, 41.0, 43.5, 44.0, 50.0}, .value = bilinear}; }

TEST(TruthFromFile, IsExactForFieldsThatAreLinearAlongTheGrid) {
  const ScratchFolder folder;
  write_grid_file(folder / "t.nc", regional());
  const NamedTruth truth = truth_from_file(folder / "t.nc");
  for (double lon = -10.0; lon <= 30.0; lon += 0.7) {
    for (double lat = 40.0; lat <= 50.0; lat += 0.3) EXPECT_NEAR(value_of(truth, lon, lat), bilinear(lat, lon, 0), 100 * kFloat);
  }
  EXPECT_EQ(truth.info.name, "height");
  EXPECT_FALSE(truth.time_days.has_value());
}

TEST(TruthFromFile, DoesNotCareForTheOrderOfAxesAndDimensions) {
  const ScratchFolder folder;
  GridFile file = regional();
  write_grid_file(folder / "a.nc", file);
  std::reverse(file.y.begin(), file.y.end());
  file.x_first = true;
  write_grid_file(folder / "b.nc", file);
  std::reverse(file.x.begin(), file.x.end());
  file.x_first = false;
  write_grid_file(folder / "c.nc", file);
  const NamedTruth a = truth_from_file(folder / "a.nc"), b = truth_from_file(folder / "b.nc"),
                   c = truth_from_file(folder / "c.nc");
  for (const auto& [lon, lat] : {std::pair{-9.3, 40.1}, {11.0, 43.7}, {29.9, 49.0}}) {
    EXPECT_EQ(value_of(a, lon, lat), value_of(b, lon, lat));
    EXPECT_EQ(value_of(a, lon, lat), value_of(c, lon, lat));
  }
}

TEST(TruthFromFile, HasNothingOutside) {
  const ScratchFolder folder;
  write_grid_file(folder / "t.nc", regional());
  const NamedTruth truth = truth_from_file(folder / "t.nc");
  for (const auto& [lon, lat] : {std::pair{-10.1, 45.0}, {30.1, 45.0}, {0.0, 39.9}, {0.0, 50.1}, {180.0, 45.0}}) {
    EXPECT_TRUE(std::isnan(value_of(truth, lon, lat))) << lon << " " << lat;
  }
}

// Four files of one field: 0 to 360 and -180 to 180, both ways, and one whose first column comes again at the end.
TEST(TruthFromFile, GoesAroundTheEarthFromWhereverItBegins) {
  const ScratchFolder folder;
  const auto wave = [](double lat, double lon, double) { return std::cos(lon * kDegree) + 0.01 * lat; };
  const std::vector<double> lat = steps(-88.0, 4.0, 45);
  GridFile file = {.x = steps(0.5, 1.0, 360), .y = lat, .value = wave};
  write_grid_file(folder / "a.nc", file);
  file.x = steps(-179.5, 1.0, 360);
  write_grid_file(folder / "b.nc", file);
  for (double& lon : file.x) lon = lon < 0.0 ? lon + 360.0 : lon;  // 180.5 ... 359.5, 0.5 ... 179.5
  write_grid_file(folder / "c.nc", file);
  file.x = steps(0.0, 1.0, 361);
  write_grid_file(folder / "d.nc", file);
  for (const char* name : {"a.nc", "b.nc", "c.nc", "d.nc"}) {
    const NamedTruth truth = truth_from_file(folder / name);
    constexpr double kHalfCell = 0.125 * kDegree * kDegree;  // error of linear interpolation of a cosine, a degree apart
    for (const double lon : {-180.0, -179.9, -0.3, 0.0, 0.2, 90.0, 179.8, 180.0}) {
      EXPECT_NEAR(value_of(truth, lon, 30.0), wave(30.0, lon, 0), kHalfCell + kFloat) << name << " " << lon;
    }
  }
}

TEST(TruthFromFile, ReachesThePoles) {
  const ScratchFolder folder;
  // 3 + cos(lon) at the last row, 88 N: its mean, 3, is the pole's.
  write_grid_file(folder / "t.nc",
                  {.x = steps(0.0, 10.0, 36), .y = steps(-88.0, 4.0, 45), .value = [](double lat, double lon, double) {
                     return (lat > 0.0 ? 3.0 : -3.0) + std::cos(lon * kDegree);
                   }});
  const NamedTruth truth = truth_from_file(folder / "t.nc");
  EXPECT_NEAR(value_of(truth, 0.0, 90.0), 3.0, kFloat);
  EXPECT_NEAR(value_of(truth, 0.0, 89.0), 3.5, kFloat);
  EXPECT_NEAR(value_of(truth, 180.0, 89.0), 2.5, kFloat);
  EXPECT_NEAR(value_of(truth, 77.0, -90.0), -3.0, kFloat);
}

TEST(TruthFromFile, IsMissingWhereAGridPointThatCountsIs) {
  const ScratchFolder folder;
  GridFile file = {.x = steps(0.0, 1.0, 4), .y = steps(0.0, 1.0, 4), .value = [](double lat, double lon, double) {
                     return lat == 1.0 && lon == 1.0 ? -999.0 : lat;
                   }};
  file.fill = -999.0;
  write_grid_file(folder / "t.nc", file);
  const NamedTruth truth = truth_from_file(folder / "t.nc");
  for (const auto& [lon, lat] : {std::pair{0.9, 0.9}, {1.1, 1.9}, {1.0, 1.0}, {0.5, 1.0}}) {
    EXPECT_TRUE(std::isnan(value_of(truth, lon, lat))) << lon << " " << lat;
  }
  EXPECT_NEAR(value_of(truth, 2.0, 1.5), 1.5, kFloat) << "on the grid line beside it";
  EXPECT_NEAR(value_of(truth, 2.5, 0.5), 0.5, kFloat);
}

TEST(TruthFromFile, UnpacksIntegers) {
  const ScratchFolder folder;
  GridFile file = regional();
  file.type = NC_SHORT;
  file.scale = 0.001;
  file.fill = -32768.0;
  file.value = [](double lat, double, double) { return 0.5 * (lat - 45.0); };
  write_grid_file(folder / "t.nc", file);
  EXPECT_NEAR(value_of(truth_from_file(folder / "t.nc"), 3.0, 43.0), -1.0, 0.001);
}

TEST(TruthFromFile, ChangesEvenlyBetweenTimes) {
  const ScratchFolder folder;
  GridFile file = regional();
  file.time = {0.0, 24.0, 72.0};
  file.time_unit = "hours since 2020-01-01 00:00:00";
  file.value = [](double, double, double hours) { return hours; };
  write_grid_file(folder / "t.nc", file);
  const NamedTruth truth = truth_from_file(folder / "t.nc");
  const double start = 25567.0;  // 2020-01-01
  for (const double days : {0.0, 0.25, 1.0, 1.5, 2.9, 3.0}) {
    EXPECT_NEAR(value_of(truth, 0.0, 45.0, start + days), 24.0 * days, kFloat) << days;
  }
  EXPECT_NEAR(value_of(truth, 0.0, 45.0, start - 0.4), 0.0, kFloat) << "half a step before the first";
  EXPECT_NEAR(value_of(truth, 0.0, 45.0, start + 3.9), 72.0, kFloat);
  EXPECT_TRUE(std::isnan(value_of(truth, 0.0, 45.0, start - 0.6)));
  EXPECT_TRUE(std::isnan(value_of(truth, 0.0, 45.0, start + 4.1)));
  ASSERT_TRUE(truth.time_days.has_value());
  EXPECT_NEAR(truth.time_days->low, start - 0.5, 1e-9);
  EXPECT_NEAR(truth.time_days->high, start + 4.0, 1e-9);
}

TEST(TruthFromFile, WithOneTimeStandsStill) {
  const ScratchFolder folder;
  GridFile file = regional();
  file.time = {100.0};
  write_grid_file(folder / "t.nc", file);
  const NamedTruth truth = truth_from_file(folder / "t.nc");
  EXPECT_NEAR(value_of(truth, 0.0, 45.0, 99999.0), bilinear(45.0, 0.0, 0), 100 * kFloat);
  EXPECT_FALSE(truth.time_days.has_value());
}

TEST(TruthFromFile, ReadsSlicesInAnyOrder) {
  const ScratchFolder folder;
  GridFile file = regional();
  file.time = steps(0.0, 1.0, 30);
  file.value = [](double, double, double days) { return days * days; };
  write_grid_file(folder / "t.nc", file);
  const NamedTruth truth = truth_from_file(folder / "t.nc");
  for (const double day : {29.0, 3.0, 0.0, 17.0, 3.0}) EXPECT_NEAR(value_of(truth, 0.0, 45.0, day), day * day, 1e-3);
}

TEST(TruthFromFile, FollowsAGridMapping) {
  const ScratchFolder folder;
  GridFile file = {.x = steps(-2000.0, 100.0, 41),
                   .y = steps(2000.0, -100.0, 41),
                   .value = [](double y, double x, double) { return 1e-3 * x - 2e-3 * y; },
                   .x_name = "xc",
                   .y_name = "yc",
                   .x_unit = "km",
                   .y_unit = "km"};
  file.mapping = {{"grid_mapping_name", "lambert_azimuthal_equal_area"}};
  file.mapping_numbers = {{"latitude_of_projection_origin", 90.0},
                          {"longitude_of_projection_origin", 0.0},
                          {"semi_major_axis", 6378137.0},
                          {"inverse_flattening", 298.257223563}};
  write_grid_file(folder / "t.nc", file);
  const NamedTruth truth = truth_from_file(folder / "t.nc");
  for (const auto& [lon, lat] : {std::pair{0.0, 90.0}, {20.0, 80.0}, {-130.0, 76.3}}) {
    double x = lon, y = lat;
    projection_of("EPSG:6931")->forward(std::span(&x, 1), std::span(&y, 1));
    EXPECT_NEAR(value_of(truth, lon, lat), 1e-6 * x - 2e-6 * y, kFloat) << lon << " " << lat;
  }
  EXPECT_TRUE(std::isnan(value_of(truth, 0.0, 60.0)));
  EXPECT_TRUE(std::isnan(value_of(truth, 0.0, -90.0)));
}

// A grid turned against the meridians, about 30 N 40 W, a tenth of a degree wide.
TEST(TruthFromFile, FindsItsWayOnTwoDimensionalCoordinates) {
  const ScratchFolder folder;
  const auto field = [](double lat, double lon) { return std::sin(3.0 * lat * kDegree) + std::cos(2.0 * lon * kDegree); };
  {
    constexpr std::size_t kSide = 60;
    NcWriter writer(folder / "t.nc");
    const std::vector<int> dimensions = {writer.dimension("j", kSide), writer.dimension("i", kSide)};
    const int lon_id = writer.variable("nav_lon", NC_DOUBLE, dimensions),
              lat_id = writer.variable("nav_lat", NC_DOUBLE, dimensions);
    const int id = writer.variable("ssh", NC_DOUBLE, dimensions);
    writer.attribute(lon_id, "units", std::string("degrees_east"));
    writer.attribute(lat_id, "units", std::string("degrees_north"));
    writer.attribute(id, "coordinates", std::string("nav_lon nav_lat"));
    std::vector<double> lon, lat, value;
    for (std::size_t n = 0; n < kSide * kSide; ++n) {
      const double a = 0.1 * (static_cast<double>(n / kSide) - 30.0), b = 0.1 * (static_cast<double>(n % kSide) - 30.0);
      lon.push_back(320.0 + a + b);
      lat.push_back(30.0 + a - b);
      value.push_back(field(lat.back(), lon.back()));
    }
    const NcWriter::Indices all = {kSide, kSide}, none = {0, 0};
    writer.write(lon_id, none, all, std::span<const double>(lon));
    writer.write(lat_id, none, all, std::span<const double>(lat));
    writer.write(id, none, all, std::span<const double>(value));
    writer.finish();
  }
  const NamedTruth truth = truth_from_file(folder / "t.nc");
  EXPECT_NEAR(value_of(truth, -40.0, 30.0), field(30.0, 320.0), kFloat) << "a grid point";
  for (const auto& [lon, lat] : {std::pair{-40.03, 30.02}, {-38.61, 29.13}, {-41.27, 31.04}}) {
    EXPECT_NEAR(value_of(truth, lon, lat), field(lat, lon), 0.005) << lon << " " << lat;  // slope 0.05 a degree
  }
  EXPECT_TRUE(std::isnan(value_of(truth, -40.0, 40.0)));
  EXPECT_TRUE(std::isnan(value_of(truth, 140.0, -30.0)));
}

TEST(TruthFromFile, SaysWhichVariablesItCouldBe) {
  const ScratchFolder folder;
  write_grid_file(folder / "t.nc", regional());
  const auto message = [&](const std::string& variable) -> std::string {
    try {
      truth_from_file(folder / "t.nc", variable);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_THAT(message("hieght"), HasSubstr("'height'"));
  EXPECT_THAT(message("latitude"), HasSubstr("not on a grid"));
  EXPECT_THROW(truth_from_file(folder / "none.nc"), Error);
}

// Values, their uncertainty, members of an ensemble and a mask, as in drift's own maps and in level-4 products.
void write_several(const std::filesystem::path& path, bool with_another) {
  NcWriter writer(path);
  const int member = writer.dimension("member", 3), y = writer.dimension("lat", 4), x = writer.dimension("lon", 4);
  const int y_id = writer.variable("lat", NC_DOUBLE, {y}), x_id = writer.variable("lon", NC_DOUBLE, {x});
  writer.attribute(y_id, "units", std::string("degrees_north"));
  writer.attribute(x_id, "units", std::string("degrees_east"));
  write_axis(writer, y_id, steps(0.0, 1.0, 4));
  write_axis(writer, x_id, steps(0.0, 1.0, 4));
  writer.attribute(writer.variable("ssh", NC_FLOAT, {y, x}), "ancillary_variables", std::string("ssh_uncertainty"));
  writer.variable("ssh_uncertainty", NC_FLOAT, {y, x});
  writer.variable("ssh_members", NC_FLOAT, {member, y, x});
  writer.attribute(writer.variable("mask", NC_BYTE, {y, x}), "flag_meanings", std::string("sea land"));
  if (with_another) writer.variable("sst", NC_FLOAT, {y, x});
  writer.finish();
}

TEST(TruthFromFile, TakesTheOnlyVariableThatCanBeMeant) {
  const ScratchFolder folder;
  write_several(folder / "one.nc", false);
  EXPECT_EQ(truth_from_file(folder / "one.nc").info.name, "ssh");
  EXPECT_EQ(truth_from_file(folder / "one.nc", "ssh_uncertainty").info.name, "ssh_uncertainty");
  write_several(folder / "two.nc", true);
  try {
    truth_from_file(folder / "two.nc");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("several variables are on a grid: ssh, sst; name one"));
  }
  try {
    truth_from_file(folder / "two.nc", "ssh_members");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("3 values along the dimension 'member'"));
  }
}

TEST(TruthFromFile, RefusesAPlaneThatIsNowhere) {
  const ScratchFolder folder;
  GridFile file = regional();
  file.x_name = "x", file.y_name = "y", file.x_unit = file.y_unit = "m";
  write_grid_file(folder / "t.nc", file);
  EXPECT_THROW(truth_from_file(folder / "t.nc"), UsageError);
}

TEST(TruthFromFile, RefusesAxesThatGoToAndFro) {
  const ScratchFolder folder;
  GridFile file = regional();
  file.y = {40.0, 42.0, 41.0};
  write_grid_file(folder / "t.nc", file);
  EXPECT_THROW(truth_from_file(folder / "t.nc"), Error);
}

TEST(GeoidTruth, HasTheHeightsThatNgaPublishes) {
  // Output of NGA's program F477 for EGM96, which sums the harmonics; the grid of 15 minutes is a few centimetres off.
  constexpr double kGrid = 0.1;
  const NamedTruth geoid = geoid_truth();
  EXPECT_NEAR(value_of(geoid, 269.779155, 38.628155), -31.63, kGrid);
  EXPECT_NEAR(value_of(geoid, 305.021114, -14.621217), -2.97, kGrid);
  EXPECT_NEAR(value_of(geoid, 102.448729, 46.874319), -43.57, kGrid);
  EXPECT_NEAR(value_of(geoid, 133.874712, -23.617446), 15.87, kGrid);
  EXPECT_NEAR(value_of(geoid, 359.9995, 38.625473), 50.07, kGrid);
  EXPECT_NEAR(value_of(geoid, 0.0023, -0.466744), 17.33, kGrid);
  EXPECT_TRUE(std::isfinite(value_of(geoid, 180.0, 0.0)));
  EXPECT_TRUE(std::isfinite(value_of(geoid, 12.0, 90.0)));
}

TEST(SyntheticTruth, IsTheSyntheticField) {
  const SyntheticFieldOptions options = {.seed = 7};
  EXPECT_EQ(value_of(synthetic_truth(options), 20.0, 80.0), SyntheticField(options)(unit_vector({20.0, 80.0})));
}

}  // namespace
}  // namespace drift
