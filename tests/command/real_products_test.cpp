// Counts of real files, where they are at hand (DRIFT_TEST_DATA).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "drift/read_observations.h"

namespace {

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
}

}  // namespace
