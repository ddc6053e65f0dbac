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

// Such a file can be opened and listed; reading its numbers fails.
void damage_chunks(const std::filesystem::path& path) {
  constexpr std::size_t kCount = 2000;
  {
    NcTestFile file(path);
    std::vector<double> numbers;
    for (std::size_t i = 0; i < kCount; ++i) numbers.push_back(static_cast<double>(i * i % 83));
    const int n = file.dimension("time", kCount);
    file.variable("lat", NC_FLOAT, {n}, numbers, "degrees_north", "latitude");
    file.variable("lon", NC_FLOAT, {n}, numbers, "degrees_east", "longitude");
    file.deflate(file.variable("ssh", NC_DOUBLE, {n}, numbers, "m"), {kCount});
  }
  std::string bytes = read_bytes(path);
  const std::size_t chunk = bytes.find("\x78\x01");  // as deflated data of level 1 begin
  ASSERT_NE(chunk, std::string::npos);
  for (std::size_t i = chunk + 2; i < chunk + 200; ++i) bytes[i] = static_cast<char>(~bytes[i]);
  write_bytes(path, bytes);
}

TEST(DamagedFile, OfAListWhoseNumbersCannotBeReadMayBeSkipped) {
  const ScratchFolder folder;
  const auto path = [&](const char* name) { return (folder / name).string(); };
  for (const char* name : {"a.nc", "c.nc"}) {
    NcTestFile file(folder / name);
    const double first = *name == 'a' ? 1.0 : 11.0;
    const int n = file.dimension("time", 3);
    file.variable("lat", NC_FLOAT, {n}, {first, first + 1.0, first + 2.0}, "degrees_north", "latitude");
    file.variable("lon", NC_FLOAT, {n}, {first, first + 1.0, first + 2.0}, "degrees_east", "longitude");
    file.variable("ssh", NC_DOUBLE, {n}, {1.0, 2.0, 3.0}, "m");
  }
  damage_chunks(folder / "b.nc");
  const ReadOptions stop = {.roles = {.value = "ssh"}}, skip = {.roles = {.value = "ssh"}, .bad_files = BadFiles::skip};
  const std::vector<std::string> all = {path("a.nc"), path("b.nc"), path("c.nc")};
  EXPECT_THAT(refusal(all, stop),
              testing::AllOf(HasSubstr("b.nc: variable 'ssh' cannot be read"), HasSubstr("--bad-files skip")));
  const Reading reading = read_observations(all, skip);
  EXPECT_EQ(reading.observations.size(), 6u);
  EXPECT_THAT(reading.report.files, testing::ElementsAre(path("a.nc"), path("c.nc")));
  EXPECT_THAT(reading.report.warnings, testing::Contains(testing::AllOf(HasSubstr("b.nc"), HasSubstr("left out"))));
  EXPECT_THAT(refusal({path("b.nc")}, skip), HasSubstr("none of 1 files can be read; " + path("b.nc")));
  // A wrong request is no damage.
  EXPECT_THAT(refusal(all, {.roles = {.value = "sla"}, .bad_files = BadFiles::skip}), HasSubstr("sla"));
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
