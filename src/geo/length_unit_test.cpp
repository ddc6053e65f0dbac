#include "geo/length_unit.h"

#include <gtest/gtest.h>

#include "drift/error.h"

namespace drift {
namespace {

TEST(MetresOf, KnowsTheSpellingsOfFilesAndOfProj) {
  constexpr double kUsFoot = 1200.0 / 3937.0;
  const std::pair<const char*, double> known[] = {{"m", 1.0},
                                                  {"Meters", 1.0},
                                                  {"metre", 1.0},
                                                  {"km", 1000.0},
                                                  {"KM", 1000.0},
                                                  {"kilometres", 1000.0},
                                                  {"ft", 0.3048},
                                                  {"feet", 0.3048},
                                                  {"international_feet", 0.3048},
                                                  {"US_survey_foot", kUsFoot},
                                                  {"US survey feet", kUsFoot},
                                                  {"us-ft", kUsFoot},
                                                  {"Foot_US", kUsFoot},
                                                  {"ftUS", kUsFoot},
                                                  {"nautical_miles", 1852.0},
                                                  {"1000 m", 1000.0},
                                                  {"1000m", 1000.0},
                                                  {"Mm", 1e6},
                                                  {"mm", 1e-3}};
  for (const auto& [unit, metres] : known) {
    ASSERT_TRUE(metres_of(unit)) << unit;
    EXPECT_DOUBLE_EQ(*metres_of(unit), metres) << unit;
  }
  // Of EPSG's list alone, as PROJ has it.
  EXPECT_NEAR(metres_of("Clarke's foot").value_or(0.0), 0.3047972654, 1e-12);
  EXPECT_NEAR(metres_of("British yard (Sears 1922)").value_or(0.0), 0.914398415, 1e-8);
}

TEST(MetresOf, TakesNothingElseForALength) {
  for (const char* unit : {"", "1", "rad", "radian", "degrees", "degrees_north", "s", "pixel", "0 m", "-1 m", "m2", "m s-1", "us",
                           "1e308 km", "1e-323 mm"}) {
    EXPECT_FALSE(metres_of(unit)) << unit;
  }
}

TEST(MetresOfAxis, IsTheCrssOwnUnitWhereTheAxisHasNone) {
  EXPECT_DOUBLE_EQ(metres_of_axis("", "EPSG:6931"), 1.0);
  EXPECT_DOUBLE_EQ(metres_of_axis("", "EPSG:2263"), 1200.0 / 3937.0);  // New York Long Island, US survey feet
  EXPECT_DOUBLE_EQ(metres_of_axis("m", "EPSG:2263"), 1.0);
  EXPECT_THROW(metres_of_axis("microradian", "EPSG:6931"), Error);
}

}  // namespace
}  // namespace drift
