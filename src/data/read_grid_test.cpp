#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scratch_folder.h"
#include "data/nc_rows.h"
#include "data/reading_testing.h"
#include "drift/position.h"
#include "netcdf/netcdf_reader.h"
#include "netcdf/netcdf_testing.h"

namespace drift {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Gridded : public testing::Test {
 protected:
  std::string path(const std::string& name = "grid.nc") const { return (folder_ / name).string(); }
  ScratchFolder folder_;
};

TEST_F(Gridded, FieldsOfTimeLatitudeAndLongitudeAreObservations) {
  {
    NcTestFile file(path());
    const int time = file.dimension("time", 2), lat = file.dimension("lat", 2), lon = file.dimension("lon", 3);
    file.attribute(file.variable("time", NC_INT, {time}, {10, 11}, "days since 2000-01-01"), "axis", "T");
    file.attribute(file.variable("lat", NC_FLOAT, {lat}, {-10, 10}, "degrees_north"), "axis", "Y");
    file.attribute(file.variable("lon", NC_FLOAT, {lon}, {0, 180, 350}, "degrees_east"), "axis", "X");
    file.variable("sst", NC_FLOAT, {time, lat, lon}, {1, 2, 3, 4, NC_FILL_FLOAT, 6, 7, 8, 9, 10, 11, 12}, "K");
    file.variable("lat_bnds", NC_FLOAT, {lat, file.dimension("two", 2)}, {-20, 0, 0, 20}, "degrees_north");
    file.attribute(NC_GLOBAL, "platform", "Terra, Aqua");
  }
  const Reading reading = read_observations({path()});
  const Observations& o = reading.observations;
  EXPECT_THAT(o.value, ElementsAre(1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12));
  EXPECT_THAT(o.lat_deg, ElementsAre(-10, -10, -10, 10, 10, -10, -10, -10, 10, 10, 10));
  EXPECT_THAT(o.lon_deg, ElementsAre(0, -180, -10, 0, -10, 0, -180, -10, 0, -180, -10));
  EXPECT_EQ(o.time_days[4], 18272.0);
  EXPECT_EQ(o.time_days[5], 18273.0);
  EXPECT_EQ(reading.tracks, 0u);
  EXPECT_THAT(o.track, IsEmpty());
  EXPECT_THAT(o.platform_names, IsEmpty());  // what a grid was made from
  EXPECT_EQ(reading.layout, DataLayout::grid);
}

TEST_F(Gridded, PositionsMayBeTwoDimensionalAndTransposed) {
  {
    NcTestFile file(path());
    const int time = file.dimension("time", 1), y = file.dimension("y", 2), x = file.dimension("x", 3);
    file.variable("time", NC_DOUBLE, {time}, {10}, "days since 2000-01-01");
    file.variable("lon", NC_DOUBLE, {x, y}, {0, 100, 1, 101, 2, 102}, "degrees_east", "longitude");
    file.variable("lat", NC_DOUBLE, {y, x}, {10, 11, 12, 20, 21, 22}, "degrees_north", "latitude");
    const int sic = file.variable("sic", NC_DOUBLE, {time, y, x}, {1, 2, 3, 4, 5, 6}, "1");
    file.attribute(sic, "coordinates", "lon lat");
  }
  const Reading reading = read_observations({path()});
  const Observations& o = reading.observations;
  EXPECT_EQ(reading.layout, DataLayout::grid);
  EXPECT_THAT(o.lon_deg, ElementsAre(0, 1, 2, 100, 101, 102));
  EXPECT_THAT(o.lat_deg, ElementsAre(10, 11, 12, 20, 21, 22));
}

// Whatever the blocks in which a file is read, and however its chunks lie.
TEST_F(Gridded, BlocksOfAnySizeGiveTheSame) {
  std::vector<double> values;
  for (int i = 0; i < 4 * 5 * 6 * 7; ++i) values.push_back(i);
  {
    NcTestFile file(path());
    const int a = file.dimension("time", 4), b = file.dimension("z", 5), c = file.dimension("lat", 6),
              d = file.dimension("lon", 7);
    file.variable("time", NC_DOUBLE, {a}, {0, 1, 2, 3}, "days since 1950-01-01");
    file.variable("z", NC_DOUBLE, {b}, {0, 10, 20, 30, 40}, "m");
    file.variable("lat", NC_DOUBLE, {c}, {0, 1, 2, 3, 4, 5}, "degrees_north");
    file.variable("lon", NC_DOUBLE, {d}, {0, 1, 2, 3, 4, 5, 6}, "degrees_east");
    file.deflate(file.variable("v", NC_DOUBLE, {a, b, c, d}, values), {2, 2, 4, 3});
  }
  const NcReader file(path());
  ReadOptions options = {.where = {"z in 10, 40"}};
  options.roles.value = "v";
  const RowFilter filter = make_filter(options);
  const NcLayout layout = find_layouts(file, options, filter).front();
  const FilePart whole = read_rows(file, layout, filter);
  EXPECT_EQ(whole.rows, values.size());
  ASSERT_EQ(whole.observations.size(), values.size() * 2 / 5);
  for (std::size_t i = 0; i < whole.observations.size(); ++i) {
    const auto index = static_cast<int>(whole.observations.value[i]);
    EXPECT_EQ(whole.observations.lon_deg[i], index % 7);
    EXPECT_EQ(whole.observations.lat_deg[i], index / 7 % 6);
    EXPECT_EQ(whole.observations.time_days[i], index / 7 / 6 / 5);
  }
  for (const std::size_t cells : {1, 3, 7, 8, 41, 42, 100, 210, 500, 839}) {
    const FilePart part = read_rows(file, layout, filter, {}, cells);
    EXPECT_EQ(part.rows, whole.rows) << cells;
    EXPECT_EQ(part.observations.value, whole.observations.value) << cells;
    EXPECT_EQ(part.observations.lat_deg, whole.observations.lat_deg) << cells;
    EXPECT_EQ(part.observations.lon_deg, whole.observations.lon_deg) << cells;
    EXPECT_EQ(part.observations.time_days, whole.observations.time_days) << cells;
  }
  EXPECT_THAT(refusal({path()}, {.roles = {.value = "v"}}),
              HasSubstr("usage: " + path() + ": 'v' has 5 values along the dimension 'z' for every position and time"));
}

// The position in EPSG:3413 by Snyder 1987, equations 21-33 to 21-40 and 7-9.
TEST_F(Gridded, ProjectedCoordinatesBecomeLongitudeAndLatitude) {
  const auto write = [&](const std::string& unit, double scale, const auto& add_mapping) {
    NcTestFile file(path());
    const int y = file.dimension("y", 2), x = file.dimension("x", 2);
    file.variable("x", NC_DOUBLE, {x}, {1000000 / scale, 0}, unit, "projection_x_coordinate");
    file.variable("y", NC_DOUBLE, {y}, {-2000000 / scale, 0}, unit, "projection_y_coordinate");
    file.attribute(file.variable("sic", NC_DOUBLE, {y, x}, {1, 2, 3, 4}, "1"), "grid_mapping", "crs");
    add_mapping(file, file.variable("crs", NC_INT, {}, {}));
  };
  const auto check = [&] {
    const Reading reading = read_observations({path()});
    ASSERT_EQ(reading.observations.size(), 4u);
    EXPECT_FALSE(reading.on_plane);
    EXPECT_NEAR(reading.observations.lon_deg[0], -18.434948823, 1e-8);
    EXPECT_NEAR(reading.observations.lat_deg[0], 69.568765757, 1e-8);
    EXPECT_NEAR(reading.observations.lat_deg[3], 90.0, 1e-9);
    EXPECT_EQ(reading.report.roles.x, "x");
  };
  const auto parameters = [](NcTestFile& file, int crs) {
    file.attribute(crs, "grid_mapping_name", "polar_stereographic");
    file.attribute(crs, "straight_vertical_longitude_from_pole", NC_DOUBLE, {-45});
    file.attribute(crs, "latitude_of_projection_origin", NC_DOUBLE, {90});
    file.attribute(crs, "standard_parallel", NC_DOUBLE, {70});
    file.attribute(crs, "false_easting", NC_DOUBLE, {0});
    file.attribute(crs, "false_northing", NC_DOUBLE, {0});
    file.attribute(crs, "semi_major_axis", NC_DOUBLE, {6378137});
    file.attribute(crs, "inverse_flattening", NC_DOUBLE, {298.257223563});
  };
  write("m", 1, parameters);
  check();
  write("km", 1000, parameters);
  check();
  for (const char* feet : {"ft", "foot", "international_feet"}) {
    write(feet, 0.3048, parameters);
    check();
  }
  for (const char* feet : {"US_survey_foot", "us-ft", "US survey feet"}) {
    write(feet, 1200.0 / 3937.0, parameters);
    check();
  }
  write("microradian", 1, parameters);
  EXPECT_THAT(refusal({path()}), testing::AllOf(HasSubstr(path() + ": the axis 'x': \"microradian\" is not a unit of length"),
                                                HasSubstr("US_survey_foot")));
  write("m", 1, [](NcTestFile& file, int crs) { file.attribute(crs, "epsg_code", "EPSG:3413"); });
  check();
  write("m", 1, [](NcTestFile& file, int crs) { file.attribute(crs, "spatial_ref", "EPSG:3413"); });
  check();
  write("m", 1, [](NcTestFile& file, int crs) { file.attribute(crs, "grid_mapping_name", "geostationary"); });
  EXPECT_THAT(refusal({path()}),
              testing::AllOf(HasSubstr("the grid mapping 'crs' cannot be turned into"), HasSubstr("geostationary")));
  write("m", 1, [](NcTestFile& file, int crs) { file.attribute(crs, "crs_wkt", "nonsense"); });
  EXPECT_THAT(refusal({path()}), HasSubstr("the grid mapping 'crs' cannot be turned into"));
  const Reading plane = read_observations({path()}, {.roles = {.x = "x", .y = "y"}});
  EXPECT_TRUE(plane.on_plane);
  EXPECT_EQ(plane.observations.lon_deg[0], 1000000);
}

// The other projections that CF describes, against PROJ's own definitions of the same CRS.
TEST_F(Gridded, EveryProjectionIsThatOfItsEpsgCode) {
  struct Case {
    std::string epsg, name;
    std::vector<std::pair<std::string, std::vector<double>>> parameters;
    double x, y;
  };
  const std::vector<Case> cases = {
      {"EPSG:6931",
       "lambert_azimuthal_equal_area",
       {{"latitude_of_projection_origin", {90}}, {"longitude_of_projection_origin", {0}}},
       1e6,
       5e5},
      {"EPSG:32633",
       "transverse_mercator",
       {{"latitude_of_projection_origin", {0}},
        {"longitude_of_central_meridian", {15}},
        {"scale_factor_at_central_meridian", {0.9996}},
        {"false_easting", {500000}}},
       6e5,
       5e6},
      {"EPSG:3034",
       "lambert_conformal_conic",
       {{"standard_parallel", {35, 65}},
        {"latitude_of_projection_origin", {52}},
        {"longitude_of_central_meridian", {10}},
        {"false_easting", {4000000}},
        {"false_northing", {2800000}},
        {"semi_major_axis", {6378137}},
        {"inverse_flattening", {298.257222101}}},
       4.1e6,
       2.5e6},
      {"EPSG:5070",
       "albers_conical_equal_area",
       {{"standard_parallel", {29.5, 45.5}},
        {"latitude_of_projection_origin", {23}},
        {"longitude_of_central_meridian", {-96}},
        {"semi_major_axis", {6378137}},
        {"inverse_flattening", {298.257222101}}},
       5e5,
       1.5e6},
      {"EPSG:3031",
       "polar_stereographic",
       {{"standard_parallel", {-71}}, {"latitude_of_projection_origin", {-90}}, {"straight_vertical_longitude_from_pole", {0}}},
       1e6,
       2e6},
      {"EPSG:6933",
       "lambert_cylindrical_equal_area",
       {{"standard_parallel", {30}}, {"longitude_of_central_meridian", {0}}},
       1e6,
       2e6}};
  for (const Case& some : cases) {
    SCOPED_TRACE(some.name);
    std::vector<Position> positions;
    for (const bool by_code : {true, false}) {
      {
        NcTestFile file(path());
        const int n = file.dimension("n", 1);
        file.variable("x", NC_DOUBLE, {n}, {some.x}, "m", "projection_x_coordinate");
        file.variable("y", NC_DOUBLE, {n}, {some.y}, "m", "projection_y_coordinate");
        file.attribute(file.variable("v", NC_DOUBLE, {n}, {1}), "grid_mapping", "crs: x y");
        const int crs = file.variable("crs", NC_INT, {}, {});
        if (by_code) file.attribute(crs, "crs_wkt", some.epsg);
        file.attribute(crs, "grid_mapping_name", some.name);
        for (const auto& [name, numbers] : some.parameters) file.attribute(crs, name, NC_DOUBLE, numbers);
      }
      const Observations o = read_observations({path()}).observations;
      positions.push_back({o.lon_deg.at(0), o.lat_deg.at(0)});
    }
    EXPECT_NEAR(positions[0].lon_deg, positions[1].lon_deg, 1e-9);
    EXPECT_NEAR(positions[0].lat_deg, positions[1].lat_deg, 1e-9);
    EXPECT_GT(std::abs(positions[0].lon_deg), 0.1);
  }
}

TEST_F(Gridded, CoordinatesOfNoProjectionStayOnTheirPlane) {
  {
    NcTestFile file(path());
    const int y = file.dimension("y", 2), x = file.dimension("x", 2);
    file.variable("x", NC_DOUBLE, {x}, {0.5, 1.5}, "mm");
    file.variable("y", NC_DOUBLE, {y}, {100, 200}, "mm");
    file.variable("v", NC_DOUBLE, {y, x}, {1, 2, 3, 4});
  }
  const Reading reading = read_observations({path()});
  EXPECT_TRUE(reading.on_plane);
  EXPECT_EQ(reading.plane_unit, "mm");
  EXPECT_THAT(reading.observations.lon_deg, ElementsAre(0.5, 1.5, 0.5, 1.5));
  EXPECT_THAT(reading.observations.lat_deg, ElementsAre(100, 100, 200, 200));
  EXPECT_EQ(read_observations({path()}, {.box = {{0, 150, 1, 300}}}).observations.size(), 1u);
}

TEST_F(Gridded, ScalarsHoldForAllAndPositionsMustBeThere) {
  {
    NcTestFile file(path());
    const int n = file.dimension("time", 3);
    file.variable("time", NC_DOUBLE, {n}, {1, 2, 3}, "days since 1950-01-01");
    file.variable("lat", NC_DOUBLE, {}, {54.0}, "degrees_north");
    file.variable("lon", NC_DOUBLE, {}, {7.0}, "degrees_east");
    file.variable("level", NC_DOUBLE, {n}, {1, 2, 3}, "m");
    file.variable("other", NC_DOUBLE, {file.dimension("m", 2)}, {1, 2}, "m");
  }
  const Reading reading = read_observations({path()}, {.roles = {.value = "level"}});
  EXPECT_THAT(reading.observations.lat_deg, ElementsAre(54, 54, 54));
  EXPECT_EQ(reading.layout, DataLayout::points);
  EXPECT_EQ(reading.tracks, 0u);
  EXPECT_THAT(refusal({path()}, {.roles = {.value = "other"}}), HasSubstr("'other' has 2 values along the dimension 'm'"));
  EXPECT_THAT(refusal({path()}, {.roles = {.lat = kNoRole, .value = "level"}}), HasSubstr("known for its latitude"));
}

TEST_F(Gridded, TimesOfNoCalendarAreNumbersOfTheFilesOwn) {
  {
    NcTestFile file(path());
    const int n = file.dimension("n", 3);
    file.variable("time", NC_DOUBLE, {n}, {1, 2, 3}, "s");
    file.variable("lat", NC_DOUBLE, {n}, {1, 2, 3}, "degrees_north");
    file.variable("lon", NC_DOUBLE, {n}, {1, 2, 3}, "degrees_east");
    file.variable("level", NC_DOUBLE, {n}, {1, 2, 3}, "m");
    file.variable("bad_time", NC_DOUBLE, {n}, {1, 2, 3}, "months since 2000-01-01");
  }
  const Reading reading = read_observations({path()}, {.roles = {.time = "time", .value = "level"}});
  EXPECT_THAT(reading.observations.time_days, ElementsAre(1, 2, 3));
  EXPECT_FALSE(reading.calendar_time);
  EXPECT_EQ(reading.tracks, 0u);
  EXPECT_THAT(refusal({path()}, {.roles = {.time = "bad_time", .value = "level"}}),
              HasSubstr("variable 'bad_time': the time unit \"months since 2000-01-01\" counts months"));
}

}  // namespace
}  // namespace drift
