#include "geo/grid_mapping.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "geo/geo_testing.h"
#include "geo/projection.h"

namespace drift {
namespace {

double number(const CfAttributes& attributes, const std::string& name, std::size_t index = 0) {
  const auto found = attributes.find(name);
  return found == attributes.end() || index >= found->second.numbers.size() ? std::nan("") : found->second.numbers[index];
}

// How far apart two CRSs put points about a position, metres.
double difference_m(const std::string& a, const std::string& b, double lon, double lat) {
  double most = 0.0;
  for (const auto& [east, north] : {std::array{0.0, 0.0}, {3.0, 1.0}, {-2.0, -4.0}}) {
    std::array<double, 2> x = {lon + east, lon + east}, y = {lat + north, lat + north};
    projection_of(a)->forward(std::span(x).first(1), std::span(y).first(1));
    projection_of(b)->forward(std::span(x).last(1), std::span(y).last(1));
    most = std::max(most, std::hypot(x[0] - x[1], y[0] - y[1]));
  }
  return most;
}

struct Case {
  std::string crs;
  std::string cf;
  double lon, lat;  // inside its area
};

const Case kCases[] = {
    {"EPSG:6931", "lambert_azimuthal_equal_area", 20, 80},
    {"EPSG:6932", "lambert_azimuthal_equal_area", 20, -70},
    {"EPSG:3035", "lambert_azimuthal_equal_area", 15, 50},
    {"EPSG:3413", "polar_stereographic", -40, 75},
    {"EPSG:3031", "polar_stereographic", 100, -75},
    {"EPSG:32661", "polar_stereographic", 10, 84},
    {"EPSG:32633", "transverse_mercator", 14, 60},
    {"EPSG:3034", "lambert_conformal_conic", 12, 52},
    {"EPSG:2263", "lambert_conformal_conic", -74, 41},
    {"EPSG:3577", "albers_conical_equal_area", 133, -25},
    {"EPSG:6933", "lambert_cylindrical_equal_area", 70, 10},
    {"EPSG:3395", "mercator", 30, 40},
    {"+proj=laea +lat_0=71.5 +lon_0=-12.25 +ellps=WGS84", "lambert_azimuthal_equal_area", -12, 72},
    {"+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45 +a=6378273 +b=6356889.449", "polar_stereographic", -40, 75},
};

TEST(GridMapping, GivesTheParametersThatNsidcPublishesForEaseGrid2) {
  const CfAttributes attributes = grid_mapping_of("EPSG:6931");
  EXPECT_EQ(attributes.at("grid_mapping_name").text, "lambert_azimuthal_equal_area");
  EXPECT_EQ(number(attributes, "latitude_of_projection_origin"), 90.0);
  EXPECT_EQ(number(attributes, "longitude_of_projection_origin"), 0.0);
  EXPECT_EQ(number(attributes, "false_easting"), 0.0);
  EXPECT_EQ(number(attributes, "false_northing"), 0.0);
  EXPECT_EQ(number(attributes, "semi_major_axis"), 6378137.0);
  EXPECT_EQ(number(attributes, "inverse_flattening"), 298.257223563);
  EXPECT_TRUE(attributes.at("crs_wkt").text.starts_with("PROJCRS[")) << attributes.at("crs_wkt").text;
}

TEST(GridMapping, GivesAllThatOtherPublishedProjectionsHave) {
  const CfAttributes polar = grid_mapping_of("EPSG:3413");  // NSIDC Sea Ice Polar Stereographic North
  EXPECT_EQ(number(polar, "standard_parallel"), 70.0);
  EXPECT_EQ(number(polar, "straight_vertical_longitude_from_pole"), -45.0);
  EXPECT_EQ(number(polar, "latitude_of_projection_origin"), 90.0);
  EXPECT_EQ(number(grid_mapping_of("EPSG:3031"), "latitude_of_projection_origin"), -90.0);
  const CfAttributes utm = grid_mapping_of("EPSG:32633");
  EXPECT_EQ(number(utm, "longitude_of_central_meridian"), 15.0);
  EXPECT_EQ(number(utm, "scale_factor_at_central_meridian"), 0.9996);
  EXPECT_EQ(number(utm, "false_easting"), 500000.0);
  const CfAttributes conic = grid_mapping_of("EPSG:3034");
  EXPECT_EQ(conic.at("standard_parallel").numbers, (std::vector<double>{35.0, 65.0}));
  EXPECT_EQ(number(conic, "false_easting"), 4000000.0);
  EXPECT_EQ(number(grid_mapping_of("EPSG:6933"), "standard_parallel"), 30.0);
}

TEST(GridMapping, ParametersAloneDescribeTheSameProjection) {
  constexpr double kMillimetre = 1e-3;
  for (const Case& c : kCases) {
    CfAttributes attributes = grid_mapping_of(c.crs);
    attributes.erase("crs_wkt");
    ASSERT_EQ(attributes["grid_mapping_name"].text, c.cf) << c.crs;
    EXPECT_LT(difference_m(c.crs, crs_of_grid_mapping(attributes), c.lon, c.lat), kMillimetre) << c.crs;
  }
}

TEST(GridMapping, AWrongParameterIsNoticed) {
  CfAttributes attributes = grid_mapping_of("EPSG:3413");
  attributes.erase("crs_wkt");
  attributes["standard_parallel"].numbers = {71.0};
  EXPECT_GT(difference_m("EPSG:3413", crs_of_grid_mapping(attributes), -40, 75), 100.0);
}

TEST(GridMapping, ComesBackUnderItsOwnNumber) {
  for (const char* crs : {"EPSG:6931", "EPSG:3413", "EPSG:6933"}) EXPECT_EQ(crs_of_grid_mapping(grid_mapping_of(crs)), crs);
}

TEST(GridMapping, OfACrsInFeetIsInMetres) {
  const CfAttributes attributes = grid_mapping_of("EPSG:2263");  // New York Long Island, US survey feet
  EXPECT_NEAR(number(attributes, "false_easting"), 300000.0, 1e-6);
  EXPECT_FALSE(attributes.contains("crs_wkt"));
}

TEST(GridMapping, ReadsWhatOtherProducersWrite) {
  // OSI SAF sea ice: parameters as CF has them, without WKT.
  const CfAttributes osisaf = {{"grid_mapping_name", {.text = "lambert_azimuthal_equal_area"}},
                               {"longitude_of_projection_origin", {.numbers = {0.0}}},
                               {"latitude_of_projection_origin", {.numbers = {90.0}}},
                               {"semi_major_axis", {.numbers = {6378137.0}}},
                               {"inverse_flattening", {.numbers = {298.257223563}}}};
  EXPECT_LT(difference_m("EPSG:6931", crs_of_grid_mapping(osisaf), 20, 80), 1e-3);
  EXPECT_EQ(crs_of_grid_mapping({{"srid", {.text = "urn:ogc:def:crs:EPSG::3411"}}}), "EPSG:3411");
  EXPECT_EQ(crs_of_grid_mapping({{"epsg_code", {.numbers = {3413.0}}}}), "EPSG:3413");
  EXPECT_LT(difference_m("EPSG:3413",
                         crs_of_grid_mapping({{"proj4_string",
                                               {.text = "+proj=stere +lat_0=90 +lat_ts=70 "
                                                        "+lon_0=-45 +datum=WGS84"}}}),
                         -40, 75),
            1e-3);
  EXPECT_EQ(crs_of_grid_mapping({{"grid_mapping_name", {.text = "latitude_longitude"}}}), "");
}

TEST(GridMapping, SaysWhatItDoesNotKnow) {
  const auto message = [](const CfAttributes& attributes) { return message_of<Error>([&] { crs_of_grid_mapping(attributes); }); };
  EXPECT_NE(message({{"grid_mapping_name", {.text = "vertical_perspective"}}}).find("'vertical_perspective'"), std::string::npos);
  EXPECT_NE(message({}).find("neither grid_mapping_name nor a crs_wkt"), std::string::npos);
  EXPECT_NE(message_of<UsageError>([] { grid_mapping_of("EPSG:4326"); }).find("EPSG:4326"), std::string::npos);
}

}  // namespace
}  // namespace drift
