// Which variable of a NetCDF file holds the values, and which their errors.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/scratch_folder.h"
#include "data/reading_testing.h"
#include "netcdf/netcdf_testing.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Variable {
  const char *name, *unit, *standard_name, *long_name;
};

// Maps of 10 by 30, with a corner as a vector of two.
class ValueOfMaps : public testing::Test {
 protected:
  std::string write(const std::vector<Variable>& variables) const {
    NcTestFile file(folder_ / "maps.nc");
    const int lat = file.dimension("lat", 10), lon = file.dimension("lon", 30);
    file.variable("lat", NC_DOUBLE, {lat}, steps(10), "degrees_north");
    file.variable("lon", NC_DOUBLE, {lon}, steps(30), "degrees_east");
    file.variable("Corner", NC_DOUBLE, {file.dimension("two", 2)}, {0, 0}, "degree");
    for (const Variable& each : variables) {
      const int id = file.variable(each.name, NC_DOUBLE, {lat, lon}, steps(300), each.unit, each.standard_name);
      file.attribute(id, "long_name", each.long_name);
    }
    return (folder_ / "maps.nc").string();
  }

 private:
  static std::vector<double> steps(int count) {
    std::vector<double> numbers;
    for (int i = 1; i <= count; ++i) numbers.push_back(0.1 * i);
    return numbers;
  }
  ScratchFolder folder_;
};

TEST_F(ValueOfMaps, IsNeitherACornerNorTheErrorOfAnother) {
  const Reading reading = read_observations({write({{"err", "m", "", "Formal mapping error"}, {"H", "m", "", "Height"}})});
  EXPECT_EQ(reading.report.roles.value, "H");
  EXPECT_EQ(reading.report.roles.sigma, "");  // offered, not taken
  EXPECT_THAT(reading.report.warnings, ElementsAre(HasSubstr("the variable \"err\" may hold the standard errors of \"H\"")));
  // An error alone is a quantity like any other.
  EXPECT_EQ(read_observations({write({{"err", "m", "", "Formal mapping error"}})}).report.roles.value, "err");
}

TEST_F(ValueOfMaps, HasErrorsOfItsUnitThatAreNoOthers) {
  const std::vector<Variable> all = {{"sla", "m", "", "Anomaly"},
                                     {"sla_err", "m", "", "of the mapping"},
                                     {"adt", "m", "", "Topography"},
                                     {"u", "m/s", "", "Velocity"},
                                     {"err_adt", "m", "", ""}};
  const auto warned = [&](const std::string& value, const std::string& sigma = "") {
    return read_observations({write(all)}, {.roles = {.value = value, .sigma = sigma}}).report.warnings;
  };
  EXPECT_THAT(warned("sla"), ElementsAre(HasSubstr("--sigma sla_err uses it")));
  EXPECT_THAT(warned("adt"), ElementsAre(HasSubstr("--sigma err_adt uses it")));
  EXPECT_THAT(warned("u"), IsEmpty());
  EXPECT_THAT(warned("sla", "sla_err"), IsEmpty());
  EXPECT_THAT(warned("sla", kNoRole), IsEmpty());
}

TEST_F(ValueOfMaps, IsLikeliestWhatEverybodyMaps) {
  const std::string velocity = "surface_geostrophic_northward_sea_water_velocity";
  EXPECT_THAT(
      refusal({write({{"vgosa", "m/s", velocity.c_str(), "Velocity"}, {"sla", "m", "", "Anomaly"}, {"other", "", "", ""}})}),
      HasSubstr("likeliest first:\n  'sla' (Anomaly, m)\n  'vgosa' (Velocity, m/s)\n  'other'"));
  EXPECT_THAT(refusal({write({{"v", "m/s", velocity.c_str(), ""}, {"height", "m", "sea_surface_height_above_sea_level", ""}})}),
              HasSubstr("likeliest first:\n  'height' (m)\n  'v' (m/s)"));
}

}  // namespace
}  // namespace drift
