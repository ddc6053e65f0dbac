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

// Computed before fields could move. Compilers round sums of some 300 waves of up to 180 turns differently.
TEST(SyntheticField, KeepsTheFieldOfASeedFromVersionToVersion) {
  constexpr double kRounding = 1e-11;
  struct Known {
    std::uint64_t seed;
    Position at;
    double value;
  };
  for (const Known& known : {Known{1, {20, 80}, 0x1.7df690ec9a369p+0},
                             {1, {-135.5, 66.25}, 0x1.a828fbc0583bp+0},
                             {1, {77, -33}, -0x1.282f993ad1479p+0},
                             {1, {0, 90}, 0x1.45688ed1d24e7p-6},
                             {7, {20, 80}, -0x1.1195b45dbccc8p-1},
                             {7, {-135.5, 66.25}, 0x1.ece73d88789bap-2},
                             {7, {77, -33}, -0x1.0966d42550616p-1},
                             {7, {0, 90}, -0x1.bb69d2d0cbb22p-4}}) {
    const SyntheticField field({.seed = known.seed});
    EXPECT_NEAR(field(unit_vector(known.at)), known.value, kRounding) << known.seed;
    EXPECT_EQ(field(unit_vector(known.at), 25630.5), field(unit_vector(known.at))) << known.seed;
  }
}

// Mean of f(x, t) f(x, t + lag) over the ring, over seeds and over many times t, far enough apart to be independent: a ring holds
// few of the longest waves, so that one seed at one time tells little.
class EvolvingField : public testing::Test {
 protected:
  static constexpr double kDays = 4.0;

  static std::vector<double> products(double first_time, const std::vector<double>& lags) {
    constexpr int kSeeds = 8, kTimes = 15;
    static const std::vector<UnitVector> points = ring_points(200);
    static const std::vector<SyntheticField> fields = [] {
      std::vector<SyntheticField> made;
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) made.emplace_back(SyntheticFieldOptions{seed, kDays, {}});
      return made;
    }();
    const auto at = [&](const SyntheticField& field, double time) {
      std::vector<double> values(points.size());
      field.evaluate(points, std::vector<double>(points.size(), time), values);
      return values;
    };
    std::vector<double> sums(lags.size());
    for (const SyntheticField& field : fields) {
      for (int i = 0; i < kTimes; ++i) {
        const double time = first_time + 5.0 * kDays * i;
        const std::vector<double> now = at(field, time);
        for (std::size_t j = 0; j < lags.size(); ++j) {
          const std::vector<double> later = at(field, time + lags[j]);
          for (std::size_t p = 0; p < points.size(); ++p) sums[j] += now[p] * later[p];
        }
      }
    }
    for (double& sum : sums) sum /= static_cast<double>(kSeeds * kTimes * points.size());
    return sums;
  }
};

TEST_F(EvolvingField, HasVarianceOneAtAllTimes) {
  constexpr double kSampling = 0.15;  // one ring's mean square varies by 0.4, and there are 120 of them: four standard errors
  for (const double time : {0.0, 1000.0, 25630.5}) EXPECT_NEAR(products(time, {0.0})[0], 1.0, kSampling) << time;
}

TEST_F(EvolvingField, HasACorrelationOfOneEthAfterItsEvolutionDays) {
  constexpr double kSampling = 0.1;
  for (const double time : {0.0, 25630.5}) {
    const std::vector<double> found = products(time, {0.0, 0.5 * kDays, kDays, 3.0 * kDays});
    EXPECT_NEAR(found[1] / found[0], std::exp(-0.25), kSampling) << time;
    EXPECT_NEAR(found[2] / found[0], std::exp(-1.0), kSampling) << time;
    EXPECT_NEAR(found[3] / found[0], 0.0, kSampling) << time;
  }
}

TEST_F(EvolvingField, IsAFunctionOfSeedPlaceAndTimeAlone) {
  const SyntheticFieldOptions options = {.seed = 3, .evolution_days = kDays, .velocity = {30.0, -10.0, {20.0, 70.0}}};
  const SyntheticField one(options), again(options);
  const auto points = ring_points(700);
  std::vector<double> times(points.size()), together(points.size());
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = 25600.0 + 0.01 * static_cast<double>(i * 37 % 700);
  one.evaluate(points, times, together);
  for (std::size_t i : {0u, 699u, 255u, 256u, 511u}) EXPECT_EQ(again(points[i], times[i]), together[i]) << i;
}

// By the field less its mean 50 km to the south and north, where that is greatest: on the crest of a ridge.
TEST_F(EvolvingField, RaisesAndSinksItsRidgesToo) {
  const auto sharpness = [](const SyntheticField& field, const Position& at, double time) {
    const auto value = [&](double km) { return field(unit_vector({at.lon_deg, at.lat_deg + km / 111.2}), time); };
    return value(0.0) - 0.5 * (value(-50.0) + value(50.0));
  };
  const SyntheticField still({.seed = 1}), evolving({.seed = 1, .evolution_days = kDays});
  double most = 0.0;
  Position crest = {};
  for (const UnitVector& point : ring_points(10000)) {
    const Position at = position_of(point);
    if (const double here = std::abs(sharpness(still, at, 0.0)); here > most) most = here, crest = at;
  }
  double sum = 0.0, squares = 0.0;
  constexpr int kTimes = 100;
  for (int i = 0; i < kTimes; ++i) {
    const double here = sharpness(evolving, crest, 5.0 * kDays * i);
    sum += here, squares += here * here;
  }
  const double mean = sum / kTimes, root = std::sqrt(squares / kTimes);
  EXPECT_GT(root, 0.5) << "a ridge is there";
  EXPECT_LT(std::abs(mean), 0.4 * root) << "standing ones would make the two alike";
}

constexpr double kRotated = 1e-9;  // rounding of a rotation by many turns, times the slope of the shortest waves

TEST(FieldVelocity, IsThatWhichWasAskedForAtItsPlace) {
  for (const Position at : {Position{0.0, 0.0}, {-30.0, 40.0}, {100.0, -75.0}}) {
    const FieldVelocity velocity = {20.0, -10.0, at};
    constexpr double kDay = 1e-3;
    const Position later = position_of(velocity.carry(unit_vector(at), kDay));
    const double km_per_degree = kEarthRadiusKm * kDegree;
    EXPECT_NEAR((later.lat_deg - at.lat_deg) * km_per_degree / kDay, -10.0, 1e-3);
    EXPECT_NEAR((later.lon_deg - at.lon_deg) * km_per_degree * std::cos(at.lat_deg * kDegree) / kDay, 20.0, 1e-3);
  }
}

TEST(FieldVelocity, CarriesPointsEastAlongTheirParallels) {
  const FieldVelocity velocity = {.east_km_per_day = 111.0, .at = {0.0, 60.0}};
  const Position later = position_of(velocity.carry(unit_vector({170.0, 80.0}), 10.0));
  EXPECT_NEAR(later.lat_deg, 80.0, 1e-9);
  const double degrees_a_day = 111.0 / (kEarthRadiusKm * std::cos(60.0 * kDegree)) / kDegree;
  EXPECT_NEAR(later.lon_deg, 170.0 + 10.0 * degrees_a_day - 360.0, 1e-9);
}

TEST(SyntheticField, IsCarriedAlongByItsVelocity) {
  const FieldVelocity velocity = {60.0, 25.0, {10.0, 75.0}};
  const SyntheticField still({.seed = 5}), moving({.seed = 5, .velocity = velocity});
  for (const UnitVector& point : ring_points(50)) {
    EXPECT_EQ(moving(point, 0.0), still(point));
    for (const double time : {1.0, 9.0, 25630.5}) {
      EXPECT_NEAR(moving(velocity.carry(point, time), time), still(point), kRotated) << time;
    }
  }
  EXPECT_GT(std::abs(moving(unit_vector({10.0, 75.0}), 5.0) - still(unit_vector({10.0, 75.0}))), 0.1) << "it does move";
}

TEST(SyntheticField, EvolvesInTheFrameThatMovesWithIt) {
  const FieldVelocity velocity = {60.0, 25.0, {10.0, 75.0}};
  const SyntheticField here({.seed = 5, .evolution_days = 6.0}), moving({.seed = 5, .evolution_days = 6.0, .velocity = velocity});
  for (const UnitVector& point : ring_points(50)) {
    EXPECT_NEAR(moving(velocity.carry(point, 25630.5), 25630.5), here(point, 25630.5), kRotated);
  }
}

TEST(SyntheticField, RefusesWrongSizesAndSettings) {
  std::vector<double> two(2);
  EXPECT_THROW(SyntheticField().evaluate(ring_points(3), {}, two), UsageError);
  EXPECT_THROW(SyntheticField({.evolution_days = -1.0}), UsageError);
  EXPECT_THROW(SyntheticField({.evolution_days = std::nan("")}), UsageError);
  EXPECT_THROW(SyntheticField({.velocity = {std::nan(""), 0.0}}), UsageError);
  EXPECT_THROW(SyntheticField({.velocity = {1.0, 0.0, {0.0, 90.0}}}), UsageError);
}

}  // namespace
}  // namespace drift
