#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "core/scratch_folder.h"
#include "data/reading_testing.h"
#include "netcdf/netcdf_testing.h"

namespace drift {
namespace {

using testing::HasSubstr;

void write(const std::filesystem::path& path, int format, std::size_t count = 20) {
  NcTestFile file(path, format);
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(static_cast<double>(i));
  const int n = file.dimension("time", count);
  file.variable("time", NC_DOUBLE, {n}, numbers, "seconds since 2000-01-01", "time");
  file.variable("lat", NC_FLOAT, {n}, numbers, "degrees_north", "latitude");
  file.variable("lon", NC_FLOAT, {n}, numbers, "degrees_east", "longitude");
  file.variable("flag", NC_BYTE, {n}, std::vector<double>(count, 1));
  file.pack(file.variable("ssh", NC_SHORT, {n}, numbers, "m"), 0.001);
}

TEST(DamagedFile, CutShortIsRefusedWithItsName) {
  const ScratchFolder folder;
  for (const int format : {0, NC_64BIT_DATA, NC_NETCDF4}) {
    write(folder / "whole.nc", format);
    const std::string bytes = read_bytes(folder / "whole.nc"), path = (folder / "cut.nc").string();
    for (std::size_t length = 4; length + 4 < bytes.size(); length += 41) {
      write_bytes(path, bytes.substr(0, length));
      EXPECT_THAT(refusal({path}, {.roles = {.value = "ssh"}}), HasSubstr(path)) << length;
    }
  }
}

// Attributes, names and numbers may be spoilt without notice; what must not happen is anything but a reading or an Error.
TEST(DamagedFile, WithFlippedBytesIsReadOrRefused) {
  const ScratchFolder folder;
  write(folder / "whole.nc", 0);
  const std::string bytes = read_bytes(folder / "whole.nc"), path = (folder / "spoilt.nc").string();
  std::size_t refused = 0, read = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const char flip : {'\x01', '\x20', '\x80'}) {
      std::string spoilt = bytes;
      spoilt[at] = static_cast<char>(spoilt[at] ^ flip);
      write_bytes(path, spoilt);
      ++(refusal({path}, {.roles = {.value = "ssh"}, .where = {"flag == 1"}, .threads = 1}) == "accepted" ? read : refused);
    }
  }
  EXPECT_GT(refused, 100u);
  EXPECT_GT(read, 100u);
}

TEST(EmptyFile, IsAnErrorAloneAndNoneBesideOthers) {
  const ScratchFolder folder;
  {
    NcTestFile file(folder / "a.nc");
    const int n = file.dimension("time", NC_UNLIMITED);
    file.variable("time", NC_DOUBLE, {n}, {}, "seconds since 2000-01-01", "time");
    file.variable("lat", NC_FLOAT, {n}, {}, "degrees_north", "latitude");
    file.variable("lon", NC_FLOAT, {n}, {}, "degrees_east", "longitude");
    file.variable("ssh", NC_SHORT, {n}, {}, "m");
  }
  const std::string path = (folder / "a.nc").string();
  EXPECT_EQ(refusal({path}), path + ": no observations: 'ssh' has no values at all");
  write(folder / "b.nc", NC_NETCDF4);
  EXPECT_EQ(read_observations({path, (folder / "b.nc").string()}, {.roles = {.value = "ssh"}}).observations.size(), 20u);
  write_bytes(folder / "c.csv", "lon,lat,value\n");
  EXPECT_THAT(refusal({(folder / "c.csv").string()}), HasSubstr("'value' has no values at all"));
}

}  // namespace
}  // namespace drift
