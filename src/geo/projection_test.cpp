#include "geo/projection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <proj.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <set>
#include <vector>

#include "core/degree.h"
#include "core/threads.h"
#include "geo/geo_testing.h"

namespace drift {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr double kA = 6378137.0;  // WGS 84
constexpr double kE2 = 0.00669437999014132;

struct Point {
  double x, y;
};

Point project(const std::string& crs, double lon, double lat) {
  projection_of(crs)->forward({&lon, 1}, {&lat, 1});
  return {lon, lat};
}

// Polar Lambert azimuthal equal-area on the ellipsoid (Snyder 1987, equations 3-12, 24-23).
Point ease2_north(double lon, double lat) {
  const auto q = [](double sine) {
    const double e = std::sqrt(kE2);
    return (1 - kE2) * (sine / (1 - kE2 * sine * sine) - std::log((1 - e * sine) / (1 + e * sine)) / (2 * e));
  };
  const double r = kA * std::sqrt(q(1.0) - q(std::sin(lat * kDegree)));
  return {r * std::sin(lon * kDegree), -r * std::cos(lon * kDegree)};
}

// Polar stereographic on the ellipsoid, true at 70 N, 45 W downwards (Snyder 1987, equations 15-9, 14-15, 21-34).
Point nsidc_north(double lon, double lat) {
  const auto t = [](double phi) {
    const double es = std::sqrt(kE2) * std::sin(phi);
    return std::tan(std::numbers::pi / 4 - phi / 2) / std::pow((1 - es) / (1 + es), std::sqrt(kE2) / 2);
  };
  const double phi_c = 70 * kDegree, m_c = std::cos(phi_c) / std::sqrt(1 - kE2 * std::pow(std::sin(phi_c), 2));
  const double r = kA * m_c * t(lat * kDegree) / t(phi_c), angle = (lon + 45) * kDegree;
  return {r * std::sin(angle), -r * std::cos(angle)};
}

TEST(Projection, PutsThePoleAtTheOriginOfPolarMaps) {
  for (const char* crs : {"EPSG:6931", "EPSG:3413"}) {
    const Point pole = project(crs, 33.0, 90.0);
    EXPECT_NEAR(pole.x, 0.0, 1e-6) << crs;
    EXPECT_NEAR(pole.y, 0.0, 1e-6) << crs;
  }
}

TEST(Projection, AgreesWithSnydersFormulasToAMicrometre) {
  for (const double lon : {-179.5, -45.0, 0.0, 12.5, 135.0}) {
    for (const double lat : {5.0, 45.0, 60.0, 70.0, 89.9}) {
      const Point ease = project("EPSG:6931", lon, lat), ease_formula = ease2_north(lon, lat);
      EXPECT_NEAR(ease.x, ease_formula.x, 1e-6) << lon << " " << lat;
      EXPECT_NEAR(ease.y, ease_formula.y, 1e-6) << lon << " " << lat;
      const Point nsidc = project("EPSG:3413", lon, lat), nsidc_formula = nsidc_north(lon, lat);
      EXPECT_NEAR(nsidc.x, nsidc_formula.x, 1e-6) << lon << " " << lat;
      EXPECT_NEAR(nsidc.y, nsidc_formula.y, 1e-6) << lon << " " << lat;
    }
  }
}

TEST(Projection, PutsTheCornerOfNsidcsGridWhereNsidcPublishesIt) {
  // Sea Ice Polar Stereographic North: x = -3850 km, y = 5850 km is 30.98 N, 168.35 E, on Hughes' ellipsoid.
  double lon = -3850e3, lat = 5850e3;
  projection_of("EPSG:3411")->inverse({&lon, 1}, {&lat, 1});
  EXPECT_NEAR(lon, 168.35, 0.005);
  EXPECT_NEAR(lat, 30.98, 0.005);
}

TEST(Projection, GivesMetresWithXFirstWhateverTheCrsDeclares) {
  // UPS North declares northing before easting: 0 E points down from (2000 km, 2000 km).
  const Point ups = project("EPSG:32661", 0.0, 80.0);
  EXPECT_NEAR(ups.x, 2e6, 1e-6);
  EXPECT_LT(ups.y, 1.9e6);
  // New York Long Island is in US survey feet: its origin lies 300 km east of the false one.
  const Point feet = project("EPSG:2263", -74.0, 40.0 + 10.0 / 60.0);
  EXPECT_NEAR(feet.x, 300000.0, 1e-3);
  EXPECT_NEAR(feet.y, 0.0, 1e-3);
}

TEST(Projection, AppliesNoDatumShift) {
  const Point plain = project("+proj=merc +ellps=bessel", 12.0, 50.0);
  const Point bound = project("+proj=merc +ellps=bessel +towgs84=598.1,73.7,418.2", 12.0, 50.0);
  EXPECT_EQ(plain.x, bound.x);
  EXPECT_EQ(plain.y, bound.y);
}

TEST(Projection, ComesBackFromEveryPlane) {
  for (const char* crs : {"EPSG:6931", "EPSG:3413", "EPSG:32661", "EPSG:2263", "EPSG:32633", "+proj=laea +lat_0=45 +lon_0=10"}) {
    const bool polar = crs == std::string("EPSG:6931") || crs == std::string("EPSG:3413") || crs == std::string("EPSG:32661");
    for (const double offset : {0.0, 0.3, 1.7}) {
      const double lon = (crs == std::string("EPSG:2263") ? -73.0 : 14.0) + offset, lat = (polar ? 75.0 : 41.0) + offset;
      std::vector<double> x = {lon}, y = {lat};
      projection_of(crs)->forward(x, y);
      EXPECT_GT(std::hypot(x[0], y[0]), 1000.0);
      projection_of(crs)->inverse(x, y);
      EXPECT_NEAR(x[0], lon, 1e-8) << crs;  // a millimetre: PROJ inverts the authalic latitude by a series
      EXPECT_NEAR(y[0], lat, 1e-8) << crs;
    }
  }
}

TEST(Projection, HasNoPositionBeyondTheEdgeOfTheMap) {
  double x = 9.2e6, y = 9.2e6;  // the disc of the whole Earth has a radius of 12742 km
  projection_of("EPSG:6931")->inverse({&x, 1}, {&y, 1});
  EXPECT_TRUE(std::isnan(x) && std::isnan(y));
  x = 3e7, y = 0.0;  // once more around the Earth: PROJ's inverse names the same meridian again
  projection_of("EPSG:3395")->inverse({&x, 1}, {&y, 1});
  EXPECT_TRUE(std::isnan(x) && std::isnan(y));
}

TEST(Projection, IsInfiniteWhereTheMapDoesNotReach) {
  for (const char* crs : {"EPSG:6931", "EPSG:3413"}) EXPECT_TRUE(std::isinf(project(crs, 10.0, -90.0).x)) << crs;
  EXPECT_THAT(message_of<Error>([] {
                projection_of("+proj=ortho +lat_0=90")->jacobian({10.0, -50.0});
              }),
              HasSubstr("longitude 10, latitude -50 cannot be projected"));
}

TEST(Projection, DerivativesAgreeWithProjsFactors) {
  // proj_factors: scale along meridian and parallel, convergence. Right for a CRS in metres with easting first.
  const std::unique_ptr<PJ_CONTEXT, PJ_CONTEXT* (*)(PJ_CONTEXT*)> context(proj_context_create(), proj_context_destroy);
  for (const char* crs : {"EPSG:6931", "EPSG:3413", "EPSG:32633", "+proj=laea +lat_0=45 +lon_0=10 +datum=WGS84 +type=crs"}) {
    const std::unique_ptr<PJ, PJ* (*)(PJ*)> object(proj_create(context.get(), crs), proj_destroy);
    for (const Position at : {Position{12.5, 89.0}, Position{20.0, 70.0}, Position{11.0, 33.0}}) {
      const PJ_FACTORS wanted = proj_factors(object.get(), proj_coord(at.lon_deg * kDegree, at.lat_deg * kDegree, 0, 0));
      const Projection::Jacobian j = projection_of(crs)->jacobian(at);
      EXPECT_NEAR(std::hypot(j.x_east, j.y_east), wanted.parallel_scale, 1e-7) << crs << " " << at.lat_deg;
      EXPECT_NEAR(std::hypot(j.x_north, j.y_north), wanted.meridional_scale, 1e-7) << crs << " " << at.lat_deg;
      EXPECT_NEAR(std::atan2(-j.x_north, j.y_north), wanted.meridian_convergence, 1e-7) << crs << " " << at.lat_deg;
    }
  }
}

TEST(Projection, HasDerivativesAtThePoleAndBesideTheDateLineOfAMercatorMap) {
  const Projection::Jacobian pole = projection_of("EPSG:6931")->jacobian({90.0, 90.0});
  EXPECT_NEAR(pole.x_north, -1.0, 1e-7);  // along 90 E, which points right, north is to the left and east is up
  EXPECT_NEAR(pole.y_north, 0.0, 1e-7);
  EXPECT_NEAR(pole.x_east, 0.0, 1e-7);
  EXPECT_NEAR(pole.y_east, 1.0, 1e-7);
  for (const double lon : {179.999, -179.999, 180.0}) {
    const Projection::Jacobian edge = projection_of("EPSG:3395")->jacobian({lon, 0.0});
    EXPECT_NEAR(edge.x_east, 1.0, 1e-6) << lon;
    EXPECT_NEAR(edge.y_north, 1.0, 1e-6) << lon;
  }
}

TEST(Projection, IsEachThreadsOwnAndMadeOnce) {
  // PROJ objects are not to be shared; sharing them seldom gives wrong numbers, so the numbers alone would not show it.
  std::vector<std::shared_ptr<const Projection>> first(3), second(3);
  run_on_threads(3, [&](int thread) {
    first[static_cast<std::size_t>(thread)] = projection_of("EPSG:6931");
    second[static_cast<std::size_t>(thread)] = projection_of("EPSG:6931");
  });
  EXPECT_EQ(first, second);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 3u);
}

TEST(Projection, SaysWhyACrsCannotBeUsed) {
  const auto why = [](const char* crs) { return message_of<UsageError>([&] { projection_of(crs); }); };
  EXPECT_THAT(why("EPSG:99999"), AllOf(HasSubstr("'EPSG:99999'"), HasSubstr("crs not found")));
  EXPECT_THAT(why("EPSX:3413"), AllOf(HasSubstr("PROJ knows no authority 'EPSX'"), HasSubstr("EPSG")));
  EXPECT_THAT(why("epsg:99999"), HasSubstr("crs not found")) << "authorities in small letters are known";
  EXPECT_THAT(why("+proj=nope"), HasSubstr("Unknown projection"));
  EXPECT_THAT(why("the moon"), HasSubstr("must be an authority's code"));
  EXPECT_THAT(why("EPSG:4326"), HasSubstr("is not a projected coordinate reference system"));
}

TEST(Projection, RefusesPositionsThatAreNotOnTheEarth) {
  const auto why = [](double lon, double lat) { return message_of<Error>([&] { check_position(lon, lat, 7); }); };
  EXPECT_THAT(why(10.0, 90.5), AllOf(HasSubstr("position 7"), HasSubstr("longitude 10, latitude 90.5")));
  EXPECT_THAT(why(361.0, 0.0), HasSubstr("longitude 361"));
  EXPECT_THAT(why(std::nan(""), 0.0), HasSubstr("longitude nan"));
  EXPECT_THAT(why(360.0, -90.0), HasSubstr("nothing was thrown"));
}

}  // namespace
}  // namespace drift
