// One table, or the same rows in several: the observations are the same.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/scratch_folder.h"
#include "drift/read_observations.h"

namespace drift {
namespace {

TEST(SplitFiles, ReadAsTheOneTheyWere) {
  const ScratchFolder folder;
  const std::string header = "lon,lat,time,value,track,platform\n";
  std::string whole = header, part = header;
  for (int i = 0; i < 300; ++i) {
    const std::string row = fmt::format("{},{},2020-03-{:02}T00:{:02}:{:02}Z,{},{},{}\n", 0.25 * i - 30.0, 0.1 * i, 1 + i / 60,
                                        i % 60 / 10, i % 10, 0.001 * i * i, i / 20, i % 40 < 20 ? "S3A" : "S3B");
    whole += row;
    part += row;
    if (i % 100 == 99) {
      write_bytes(folder / fmt::format("part{}.csv", i / 100), part);
      part = header;
    }
  }
  write_bytes(folder / "whole.csv", whole);
  const Reading one = read_observations({(folder / "whole.csv").string()});
  const Reading several = read_observations({(folder / "part*.csv").string()});
  const Observations &a = one.observations, &b = several.observations;
  ASSERT_EQ(a.size(), 300u);
  EXPECT_EQ(a.lon_deg, b.lon_deg);
  EXPECT_EQ(a.lat_deg, b.lat_deg);
  EXPECT_EQ(a.time_days, b.time_days);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.track, b.track);
  EXPECT_EQ(a.platform, b.platform);
  EXPECT_EQ(a.platform_names, b.platform_names);
  EXPECT_EQ(one.tracks, several.tracks);
}

}  // namespace
}  // namespace drift
