#include "drift/domain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "core/threads.h"
#include "geo/geo_testing.h"

namespace drift {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A spiral of positions between two parallels, with times and values of known mean and spread.
Observations spiral(std::size_t n, double west, double east, double south, double north) {
  Observations observations;
  for (std::size_t i = 0; i < n; ++i) {
    const double share = (static_cast<double>(i) + 0.5) / static_cast<double>(n);
    observations.lon_deg.push_back(west + (east - west) * std::fmod(17.0 * share, 1.0));
    observations.lat_deg.push_back(south + (north - south) * share);
    observations.time_days.push_back(i % 2 == 0 ? 20000.0 : 20006.0);
    observations.value.push_back(i % 4 < 2 ? -0.5 : 1.5);
  }
  return observations;
}

std::vector<double> rows_of(const Domain& domain, const Observations& observations) {
  const std::size_t cols = static_cast<std::size_t>(space_coordinates(domain)) + 1;
  std::vector<double> rows(observations.size() * cols);
  engine_rows(domain, observations.lon_deg, observations.lat_deg, observations.time_days,
              MatrixView<double>(rows.data(), observations.size(), cols));
  return rows;
}

TEST(Domain, StandardisesItsOwnObservationsWithOneScaleForBothAxes) {
  const Observations observations = spiral(4000, -180.0, 180.0, 60.0, 88.0);
  const Domain domain = fit_domain(plane_domain("EPSG:6931"), observations);
  const std::vector<double> rows = rows_of(domain, observations);
  double sum[3] = {}, squares[3] = {};
  for (std::size_t i = 0; i < rows.size(); ++i) sum[i % 3] += rows[i] / 4000.0, squares[i % 3] += rows[i] * rows[i] / 4000.0;
  for (const double mean : sum) EXPECT_NEAR(mean, 0.0, 1e-12);
  EXPECT_NEAR(squares[0] + squares[1], 2.0, 1e-12);
  EXPECT_NEAR(squares[2], 1.0, 1e-12);
  EXPECT_DOUBLE_EQ(domain.time.mean, 20003.0);
  EXPECT_DOUBLE_EQ(domain.time.sd, 3.0);
  EXPECT_NEAR(domain.value.mean, 0.5, 1e-13);
  EXPECT_NEAR(domain.value.sd, 1.0, 1e-13);
}

TEST(Domain, TakesItsScalesFromTheRowsThatTrain) {
  Observations observations = spiral(8, 0.0, 20.0, 60.0, 70.0);
  observations.value[0] = 1e6;
  const std::vector<std::size_t> rows = {2, 3, 4, 5, 6, 7};
  const Domain domain = fit_domain(plane_domain("EPSG:3413"), observations, rows);
  EXPECT_NEAR(domain.value.mean, (2 * 1.5 + 2 * -0.5 + 2 * 1.5) / 6.0, 1e-12);
}

TEST(Domain, GivesWhatDoesNotVaryASpreadOfOne) {
  Observations one = spiral(1, 5.0, 6.0, 70.0, 71.0);
  one.value[0] = 3.1;
  const Domain domain = fit_domain(plane_domain("EPSG:6931"), one);
  EXPECT_EQ(domain.scale, 1.0);
  EXPECT_EQ(domain.time.sd, 1.0);
  EXPECT_EQ(domain.value, (Standard{3.1, 1.0}));
  EXPECT_EQ(rows_of(domain, one), (std::vector<double>{0.0, 0.0, 0.0}));
}

TEST(Domain, PutsAnEngineRowAtCentrePlusScaleKilometresOnTheMap) {
  Domain domain = plane_domain("EPSG:6931");
  domain.scale = 250.0;
  domain.centre = {100.0, -40.0};
  const std::vector<double> back = {1.0, 2.0};
  std::vector<double> lon(1), lat(1), again(2);
  positions_of_rows(domain, MatrixView<const double>(back.data(), 1, 2), lon, lat);
  engine_rows(domain, lon, lat, {}, MatrixView<double>(again.data(), 1, 2));
  EXPECT_NEAR(again[0], 1.0, 1e-9);
  EXPECT_NEAR(again[1], 2.0, 1e-9);
  // x = 350 km, y = 460 km: straight up is 180 E.
  EXPECT_NEAR(lon[0], 180.0 - std::atan2(350.0, 460.0) * 180.0 / std::numbers::pi, 1e-6);
}

TEST(Domain, ComesBackToPositionsTimesAndValues) {
  const Observations observations = spiral(3000, -179.0, 179.0, 55.0, 89.0);  // several blocks
  for (const Domain& start : {sphere_domain(), plane_domain("EPSG:6931"), xy_domain("m")}) {
    const Domain domain = fit_domain(start, observations);
    const std::vector<double> rows = rows_of(domain, observations);
    const std::size_t cols = rows.size() / observations.size();
    std::vector<double> lon(observations.size()), lat(observations.size());
    positions_of_rows(domain, MatrixView<const double>(rows.data(), observations.size(), cols), lon, lat);
    for (std::size_t i = 0; i < observations.size(); ++i) {
      ASSERT_NEAR(lon[i], observations.lon_deg[i], 1e-8) << i;
      ASSERT_NEAR(lat[i], observations.lat_deg[i], 1e-8) << i;
      ASSERT_DOUBLE_EQ(domain.time.from_engine(rows[i * cols + cols - 1]), observations.time_days[i]);
      ASSERT_DOUBLE_EQ(domain.value.from_engine(domain.value.to_engine(observations.value[i])), observations.value[i]);
    }
  }
}

TEST(Domain, GivesUnitVectorsOnTheSphere) {
  const std::vector<double> lon = {0.0, 90.0, 0.0, -180.0}, lat = {0.0, 0.0, 90.0, 0.0};
  std::vector<float> rows(12);
  engine_rows(sphere_domain(), lon, lat, {}, MatrixView<float>(rows.data(), 4, 3));
  const std::vector<float> wanted = {1, 0, 0, 0, 1, 0, 0, 0, 1, -1, 0, 0};
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(rows[i], wanted[i], 1e-15) << i;
}

TEST(Domain, UsesPlainCoordinatesAsTheyAre) {
  Observations observations;
  observations.lon_deg = {1000.0, 3000.0};
  observations.lat_deg = {-500.0, -500.0};
  observations.value = {0.0, 1.0};
  const Domain domain = fit_domain(xy_domain("m"), observations);
  EXPECT_DOUBLE_EQ(domain.scale, std::sqrt(0.5) * 1000.0);
  EXPECT_DOUBLE_EQ(domain.centre[0], 2000.0);
  EXPECT_EQ(domain.time, Standard{});
  EXPECT_EQ(space_of(domain), Space::plane);
  std::vector<float> rows(4);
  engine_rows(domain, observations.lon_deg, observations.lat_deg, {}, MatrixView<float>(rows.data(), 2, 2));
  EXPECT_FLOAT_EQ(rows[0], -std::sqrt(2.0f));
  EXPECT_FLOAT_EQ(rows[1], 0.0f);
}

TEST(Domain, OneTimeServesForAllPositions) {
  Domain domain = sphere_domain();
  domain.time = {10.0, 2.0};
  const std::vector<double> lon = {0.0, 1.0}, lat = {2.0, 3.0}, time = {13.0};
  std::vector<float> rows(8);
  engine_rows(domain, lon, lat, time, MatrixView<float>(rows.data(), 2, 4));
  EXPECT_EQ(rows[3], 1.5f);
  EXPECT_EQ(rows[7], 1.5f);
}

TEST(Domain, IsContinuousAcrossTheDateLineAndTakesLongitudesPast180) {
  for (const Domain& domain : {sphere_domain(), plane_domain("EPSG:6932"), plane_domain("+proj=laea +lat_0=-55 +lon_0=180")}) {
    const std::vector<double> lon = {179.9999, -179.9999, 180.0001}, lat = {-60.0, -60.0, -60.0};
    const std::size_t cols = static_cast<std::size_t>(space_coordinates(domain));
    std::vector<double> rows(3 * cols);
    engine_rows(domain, lon, lat, {}, MatrixView<double>(rows.data(), 3, cols));
    double across = 0.0, same = 0.0;
    for (std::size_t c = 0; c < cols; ++c) {
      across = std::hypot(across, rows[cols + c] - rows[c]);
      same = std::hypot(same, rows[2 * cols + c] - rows[cols + c]);
    }
    EXPECT_NEAR(across * domain.scale, 0.0002 * 111.3 * 0.5, 0.001) << domain.crs;  // km; maps stretch by a few per cent
    EXPECT_LT(same * domain.scale, 1e-8) << domain.crs;
  }
}

TEST(Domain, ConvertsLengthscalesBothWays) {
  EXPECT_DOUBLE_EQ(lengthscale_to_engine(sphere_domain(), kEarthRadiusKm), 1.0);  // a radian
  Domain domain = plane_domain("EPSG:6931");
  domain.scale = 500.0;
  domain.time.sd = 2.5;
  domain.value = {7.0, 0.2};
  EXPECT_DOUBLE_EQ(lengthscale_to_engine(domain, 250.0), 0.5);
  EXPECT_DOUBLE_EQ(lengthscale_from_engine(domain, 0.5), 250.0);
  EXPECT_DOUBLE_EQ(time_lengthscale_to_engine(domain, 10.0), 4.0);
  EXPECT_DOUBLE_EQ(time_lengthscale_from_engine(domain, 4.0), 10.0);
  EXPECT_DOUBLE_EQ(sd_from_engine(domain, 3.0), 0.6);
  EXPECT_THROW(lengthscale_to_engine(domain, 0.0), UsageError);
  EXPECT_THROW(time_lengthscale_from_engine(domain, -1.0), UsageError);
}

TEST(Domain, GivesTheSameNumbersOnEveryThread) {
  const Observations observations = spiral(5000, -180.0, 180.0, 51.0, 89.0);
  const std::vector<Domain> domains = {fit_domain(plane_domain("EPSG:6931"), observations),
                                       fit_domain(plane_domain("EPSG:3413"), observations), sphere_domain()};
  std::vector<std::vector<double>> wanted;
  for (const Domain& domain : domains) wanted.push_back(rows_of(domain, observations));
  std::vector<int> same(4, 0);
  run_on_threads(4, [&](int thread) {
    for (int round = 0; round < 6; ++round) {
      const std::size_t which = static_cast<std::size_t>(round + thread) % domains.size();
      same[static_cast<std::size_t>(thread)] += rows_of(domains[which], observations) == wanted[which];
    }
  });
  EXPECT_EQ(same, std::vector<int>(4, 6));
}

TEST(Domain, RefusesPositionsOutsideItWithTheirLongitudeAndLatitude) {
  const auto why = [](const Domain& domain, double lon, double lat) {
    const std::vector<double> lons(2000, lon), lats = [&] {
      std::vector<double> column(2000, 70.0);
      column[1500] = lat;
      return column;
    }();
    std::vector<float> rows(2000 * static_cast<std::size_t>(space_coordinates(domain)));
    return message_of<Error>([&] {
      engine_rows(domain, lons, lats, {},
                  MatrixView<float>(rows.data(), 2000, static_cast<std::size_t>(space_coordinates(domain))));
    });
  };
  EXPECT_THAT(why(plane_domain("EPSG:3413"), 5.0, -90.0),
              AllOf(HasSubstr("position 1500: longitude 5, latitude -90"), HasSubstr("EPSG:3413")));
  for (const Domain& domain : {sphere_domain(), plane_domain("EPSG:6931")}) {
    EXPECT_THAT(why(domain, 5.0, 90.25), AllOf(HasSubstr("position 1500: longitude 5, latitude 90.25"), HasSubstr("+-90")));
  }
  EXPECT_THAT(why(xy_domain("km"), 5.0, INFINITY), HasSubstr("position 1500: x 5, y inf"));
}

TEST(Domain, RefusesObservationsThatAreNotFiniteNamingTheRow) {
  Observations observations = spiral(10, 0.0, 10.0, 60.0, 70.0);
  observations.value[4] = std::nan("");
  EXPECT_THAT(message_of<Error>([&] { fit_domain(sphere_domain(), observations); }),
              HasSubstr("observation 4: its value is nan"));
  observations.value[4] = 0.0;
  observations.time_days[9] = INFINITY;
  EXPECT_THAT(message_of<Error>([&] { fit_domain(sphere_domain(), observations); }), HasSubstr("observation 9: its time is inf"));
  observations.time_days.pop_back();
  EXPECT_THAT(message_of<UsageError>([&] { fit_domain(sphere_domain(), observations); }),
              HasSubstr("10 values but 10 longitudes"));
  EXPECT_THROW(fit_domain(sphere_domain(), Observations{}), UsageError);
}

TEST(Domain, RefusesShapesThatDoNotFit) {
  const std::vector<double> two = {1.0, 2.0}, three = {1.0, 2.0, 3.0};
  std::vector<float> rows(12);
  EXPECT_THROW(engine_rows(sphere_domain(), two, three, {}, MatrixView<float>(rows.data(), 2, 3)), UsageError);
  EXPECT_THROW(engine_rows(sphere_domain(), two, two, {}, MatrixView<float>(rows.data(), 2, 4)), UsageError);
  EXPECT_THROW(engine_rows(sphere_domain(), three, three, two, MatrixView<float>(rows.data(), 3, 4)), UsageError);
}

TEST(DomainJson, BringsBackEveryNumberToTheLastBit) {
  for (const Domain& start : {sphere_domain(), plane_domain("+proj=laea +lat_0=60 +lon_0=-3"), xy_domain("\"odd\" unit")}) {
    const Domain domain = fit_domain(start, spiral(77, -10.1, 10.3, 50.7, 66.6));
    EXPECT_EQ(domain_from_json(to_json(domain)), domain);
  }
}

TEST(DomainJson, IsReadStrictly) {
  const std::string good = to_json(plane_domain("EPSG:6931"));
  const auto why = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return message_of<Error>([&] { domain_from_json(text); });
  };
  EXPECT_THAT(why("\"scale\"", "\"scales\""), HasSubstr("unknown key \"scales\"; did you mean 'scale'?"));
  EXPECT_THAT(why("\"unit\":\"km\",", ""), HasSubstr("key \"unit\" is missing"));
  EXPECT_THAT(why("\"scale\":1.0", "\"scale\":\"1\""), HasSubstr("\"scale\" must be a number but is \"1\""));
  EXPECT_THAT(why("\"scale\":1.0", "\"scale\":0"), HasSubstr("scale must be positive but is 0"));
  EXPECT_THAT(why("\"time\":{\"mean\":0.0,\"sd\":1.0}", "\"time\":{\"mean\":0.0,\"sd\":-2}"),
              HasSubstr("time.sd must be positive but is -2"));
  EXPECT_THAT(why("\"plane\"", "\"torus\""), HasSubstr("\"kind\" must be one of"));
  EXPECT_THAT(why("\"plane\"", "\"sphere\""), HasSubstr("only a plane has a crs"));
  EXPECT_THAT(why("EPSG:6931", "EPSG:1"), HasSubstr("PROJ reports: "));
  EXPECT_THAT(why("\"km\"", "\"mile\""), HasSubstr("is km, not 'mile'"));
  EXPECT_THAT(why("{", "["), HasSubstr("not valid JSON"));
  EXPECT_THAT(message_of<Error>([] { domain_from_json("[1]"); }), HasSubstr("must be an object but is an array"));
  EXPECT_THAT(message_of<Error>([] { domain_from_json(std::string(1 << 20, ' ')); }), HasSubstr("at most"));
}

TEST(DomainJson, IsNeverWrittenFromADomainThatCannotBeUsed) {
  Domain domain = sphere_domain();
  domain.value.sd = std::nan("");
  EXPECT_THROW(to_json(domain), UsageError);
}

}  // namespace
}  // namespace drift
