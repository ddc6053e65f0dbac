#include "drift/synthetic_field.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/degree.h"
#include "core/random.h"
#include "drift/error.h"

namespace drift {
namespace {

// Uniform over the ring 62-88 N, from a generator that the field does not use for its own standardisation.
std::vector<UnitVector> ring_points(std::size_t count) {
  RandomStream stream({.seed = 77, .purpose = Purpose::split});
  std::vector<UnitVector> points(count);
  for (UnitVector& point : points) {
    const double z = std::sin(62 * kDegree) + (std::sin(88 * kDegree) - std::sin(62 * kDegree)) * stream.uniform();
    point = unit_vector({360.0 * stream.uniform(), std::asin(z) / kDegree});
  }
  return points;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  double ab = 0.0, aa = 0.0, bb = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) ab += a[i] * b[i], aa += a[i] * a[i], bb += b[i] * b[i];
  return ab / std::sqrt(aa * bb);
}

TEST(SyntheticField, HasMeanZeroAndVarianceOneOverTheArcticRing) {
  const auto points = ring_points(50000);
  for (std::uint64_t seed : {1, 2, 3}) {
    std::vector<double> values(points.size());
    SyntheticField({.seed = seed}).evaluate(points, {}, values);
    double sum = 0.0, squares = 0.0;
    for (double value : values) sum += value, squares += value * value;
    EXPECT_NEAR(sum / values.size(), 0.0, 0.02) << seed;
    EXPECT_NEAR(squares / values.size(), 1.0, 0.03) << seed;
  }
}

TEST(SyntheticField, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const auto points = ring_points(2000);
  std::vector<double> first(points.size()), again(points.size()), other(points.size());
  SyntheticField({.seed = 5}).evaluate(points, {}, first);
  SyntheticField({.seed = 5}).evaluate(points, {}, again);
  SyntheticField({.seed = 6}).evaluate(points, {}, other);
  EXPECT_EQ(first, again);
  EXPECT_LT(std::abs(correlation(first, other)), 0.5);
}

TEST(SyntheticField, DoesNotDependOnHowPointsAreGrouped) {
  const SyntheticField field;
  const auto points = ring_points(700);  // two blocks and a part
  std::vector<double> together(points.size());
  field.evaluate(points, {}, together);
  for (std::size_t i : {0u, 255u, 256u, 511u, 699u}) EXPECT_EQ(field(points[i]), together[i]) << i;
}

TEST(SyntheticField, HasNoSeamAtTheDateLineNorAtThePole) {
  const SyntheticField field;
  for (double lat : {63.0, 71.0, 80.0, 89.0}) {
    const double west = field(unit_vector({-179.9999999, lat})), east = field(unit_vector({179.9999999, lat}));
    EXPECT_NEAR(west, east, 1e-6) << lat;
  }
  const double pole = field({0.0, 0.0, 1.0});
  for (double lon : {0.0, 77.0, 180.0, 291.0}) EXPECT_NEAR(field(unit_vector({lon, 89.9999999})), pole, 1e-6) << lon;
}

// Root-mean-square change over 30 km, in squares of a hundred-odd points: strong patches and calm between them.
TEST(SyntheticField, IsRougherInSomePlacesThanInOthers) {
  const SyntheticField field;
  std::vector<double> roughness;
  for (double lat = 65.0; lat <= 85.0; lat += 4.0) {
    for (double lon = 0.0; lon < 360.0; lon += 30.0) {
      double squares = 0.0;
      for (int i = 0; i < 120; ++i) {
        const Position at = {lon + (i % 12) * 0.8, lat + (i / 12) * 0.2};
        const double step = field(unit_vector(at)) - field(unit_vector({at.lon_deg, at.lat_deg + 30.0 / 111.2}));
        squares += step * step;
      }
      roughness.push_back(std::sqrt(squares / 120));
    }
  }
  std::sort(roughness.begin(), roughness.end());
  EXPECT_GT(roughness[roughness.size() * 9 / 10], 2.5 * roughness[roughness.size() / 10]);
}

TEST(SyntheticField, StandsStillUnlessToldToEvolve) {
  const auto points = ring_points(4000);
  std::vector<double> now(points.size()), later(points.size());
  const std::vector<double> week(points.size(), 7.0);
  const SyntheticField still;
  still.evaluate(points, {}, now);
  still.evaluate(points, week, later);
  EXPECT_EQ(now, later);

  const SyntheticField slow({.evolution_days = 70.0}), quick({.evolution_days = 3.0});
  slow.evaluate(points, {}, now);
  slow.evaluate(points, week, later);
  EXPECT_GT(correlation(now, later), 0.95);
  quick.evaluate(points, {}, now);
  quick.evaluate(points, week, later);
  EXPECT_LT(correlation(now, later), 0.7);
}

TEST(SyntheticField, RefusesWrongSizesAndSettings) {
  std::vector<double> two(2);
  EXPECT_THROW(SyntheticField().evaluate(ring_points(3), {}, two), UsageError);
  EXPECT_THROW(SyntheticField({.evolution_days = -1.0}), UsageError);
}

}  // namespace
}  // namespace drift
