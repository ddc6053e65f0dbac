// Counts of real files, where they are at hand (DRIFT_TEST_DATA).

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "drift/error.h"
#include "drift/read_observations.h"

namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

// Reduced records have flags of surface and ice but none of the range, and those of Jason-1 have none of these.
TEST(RealProducts, OfJasonGiveTheAnomaliesThatTheyHold) {
  const std::filesystem::path folder = std::filesystem::path(DRIFT_TEST_DATA) / "jason_l2";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no real data at " << folder;
  const std::vector<std::string> files = {(folder / "*.nc").string()};
  const drift::Reading all = drift::read_observations(files, {.quality_control = false});
  EXPECT_EQ(all.report.preset, "jason-gdr");
  EXPECT_EQ(all.report.rows, 9580u);
  EXPECT_EQ(all.observations.size(), 6736u);
  const drift::Reading good = drift::read_observations(files);
  EXPECT_EQ(good.observations.size(), 6734u);  // two lie in ice
  EXPECT_EQ(good.report.quality_left_out, 2u);
  EXPECT_THAT(good.report.warnings, ElementsAre(HasSubstr("3 tracks over 756 days, one in 252 days, are too sparse")));
}

TEST(RealProducts, OfGsfcAreProposedTheNameOfAnAnomaly) {
  const std::filesystem::path folder = std::filesystem::path(DRIFT_TEST_DATA) / "gsfc_reference_ssh";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no real data at " << folder;
  EXPECT_THAT(drift::read_observations({(folder / "*20220101.nc").string()}).report.warnings,
              ElementsAre(EndsWith("did you mean 'sea_surface_height_above_mean_sea_level'?")));
}

TEST(RealProducts, OfMapsHaveAHeightForTheValueAndTheirErrorsForSigma) {
  const std::filesystem::path folder = std::filesystem::path(DRIFT_TEST_DATA) / "duacs_l4";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no real data at " << folder;
  const auto read = [&](const char* name) { return drift::read_observations({(folder / name).string()}); };
  const drift::Reading anomalies = read("dt_med_allsat_msla_h_20140221_20140829.nc");
  EXPECT_EQ(anomalies.report.roles.value, "sla");
  EXPECT_THAT(anomalies.report.warnings, ElementsAre(HasSubstr("--sigma err uses it")));
  EXPECT_EQ(read("dt_upd_global_merged_msla_h_20070103_20070103_20070420.nc").report.roles.value, "Grid_0001");
  try {
    read("nrt_blacksea_allsat_phy_l4_20190601_20190607.nc");
    FAIL() << "three variables may be meant";
  } catch (const drift::UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("likeliest first:\n  'sla' (Sea level anomaly, m)\n  'vgosa'"));
  }
}

TEST(RealProducts, OfATableOfMissionsAreCalledAsTheirSatellites) {
  const std::filesystem::path folder = std::filesystem::path(DRIFT_TEST_DATA) / "med_alongtrack";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no real data at " << folder;
  EXPECT_THAT(drift::read_observations({(folder / "*.csv").string()}).observations.platform_names,
              ElementsAre("SARAL/AltiKa", "CryoSat-2", "HY-2A", "Jason-2"));
}

}  // namespace
