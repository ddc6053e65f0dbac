// Swaths as wide-swath altimeters and scatterometers deliver them: lines of pixels, with one time a line.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "core/scratch_folder.h"
#include "data/reading_testing.h"
#include "netcdf/netcdf_testing.h"

namespace drift {
namespace {

using testing::ElementsAre;

constexpr std::size_t kLines = 400, kPixels = 12;

// A pass from 60 S to 60 N (even numbers) or back (odd ones), a line every 7 s, 120 km wide; the first is at second 0.
struct Pass {
  std::vector<double> time_s, lat, lon, value;
  explicit Pass(int number) {
    const double along = number % 2 == 0 ? 1.0 : -1.0;
    for (std::size_t line = 0; line < kLines; ++line) {
      time_s.push_back(3100.0 * number + 7.0 * static_cast<double>(line));
      for (std::size_t pixel = 0; pixel < kPixels; ++pixel) {
        const double across = 0.1 * (static_cast<double>(pixel) - 5.5);
        lat.push_back(along * (-60.0 + 0.3 * static_cast<double>(line)) + 0.6 * across);
        lon.push_back(std::remainder(25.0 * number + 0.1 * static_cast<double>(line) + across, 360.0));
        value.push_back(static_cast<double>(value.size()));
      }
    }
  }
};

class Swath : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  void write(const std::string& name, const Pass& pass, bool time_of_pixels = false) const {
    NcTestFile file(path(name));
    const int lines = file.dimension("num_lines", kLines), pixels = file.dimension("num_pixels", kPixels);
    std::vector<double> times = pass.time_s;
    if (time_of_pixels) {
      times.clear();
      for (const double time : pass.time_s) times.insert(times.end(), kPixels, time);
    }
    file.variable("time", NC_DOUBLE, time_of_pixels ? std::vector<int>{lines, pixels} : std::vector<int>{lines}, times,
                  "seconds since 2024-01-01", "time");
    file.variable("latitude", NC_DOUBLE, {lines, pixels}, pass.lat, "degrees_north", "latitude");
    file.variable("longitude", NC_DOUBLE, {lines, pixels}, pass.lon, "degrees_east", "longitude");
    file.attribute(file.variable("ssha", NC_DOUBLE, {lines, pixels}, pass.value, "m"), "coordinates", "longitude latitude");
    file.attribute(NC_GLOBAL, "platform", "SWOT");
  }

  void expect_passes(const Reading& reading, std::size_t passes) const {
    EXPECT_EQ(reading.layout, DataLayout::swath);
    EXPECT_EQ(reading.tracks, passes);
    EXPECT_EQ(reading.tracks_from, "lines, gaps of 60 s and turns");
    ASSERT_EQ(reading.observations.track.size(), passes * kLines * kPixels);
    for (std::size_t i = 0; i < reading.observations.size(); ++i) {
      EXPECT_EQ(reading.observations.track[i], static_cast<std::int32_t>(i / (kLines * kPixels))) << i;
    }
  }

  ScratchFolder folder_;
};

TEST_F(Swath, APassIsATrack) {
  for (int pass = 0; pass < 3; ++pass) write("pass" + std::to_string(pass) + ".nc", Pass(pass));
  const Reading reading = read_observations({path("pass*.nc")});
  expect_passes(reading, 3);
  EXPECT_THAT(reading.observations.platform_names, ElementsAre("SWOT"));
}

TEST_F(Swath, APassIsATrackWhereEveryPixelHasItsLinesTime) {
  write("pass0.nc", Pass(0), true);
  write("pass1.nc", Pass(1), true);
  expect_passes(read_observations({path("pass*.nc")}), 2);
}

TEST_F(Swath, APassIsATrackInATableToo) {
  std::ofstream csv(path("swath.csv"));
  csv.precision(10);
  csv << "time,lon,lat,ssha\n";
  for (int number = 0; number < 2; ++number) {
    const Pass pass(number);
    for (std::size_t i = 0; i < pass.value.size(); ++i) {
      const auto second = static_cast<int>(pass.time_s[i / kPixels]);
      csv << "2024-01-01T" << (second / 3600 < 10 ? "0" : "") << second / 3600 << (second / 60 % 60 < 10 ? ":0" : ":")
          << second / 60 % 60 << (second % 60 < 10 ? ":0" : ":") << second % 60 << "Z," << pass.lon[i] << ',' << pass.lat[i]
          << ',' << pass.value[i] << '\n';
    }
  }
  csv.close();
  expect_passes(read_observations({path("swath.csv")}), 2);
}

// Coasts and clouds cut lines short, first on one side and then on the other: the pass goes on.
TEST_F(Swath, APassStaysWholeWherePixelsAreMissing) {
  Pass pass(0);
  for (std::size_t i = 0; i < pass.value.size(); ++i) {
    const std::size_t line = i / kPixels, pixel = i % kPixels;
    if (line % 20 == 0) continue;  // whole
    if (line / 5 % 2 == 0 ? pixel > 1 : pixel < 10) pass.value[i] = NC_FILL_DOUBLE;
  }
  write("pass.nc", pass);
  const Reading reading = read_observations({path("pass.nc")});
  EXPECT_EQ(reading.observations.size(), 2 * kLines + 20 * (kPixels - 2));
  EXPECT_EQ(reading.tracks, 1u);
}

TEST_F(Swath, WithoutTimesHasNoTracks) {
  write("pass.nc", Pass(0));
  const Reading reading = read_observations({path("pass.nc")}, {.roles = {.time = kNoRole}});
  EXPECT_EQ(reading.tracks, 0u);
  EXPECT_EQ(reading.layout, DataLayout::grid);  // two-dimensional positions that stay the same
}

}  // namespace
}  // namespace drift
