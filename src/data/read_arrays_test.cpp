#include "drift/read_arrays.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "netcdf/netcdf_testing.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ArrayVariable array(std::string name, std::vector<std::string> dimensions, std::vector<double> numbers,
                    const std::string& units) {
  return {.name = std::move(name),
          .dimensions = std::move(dimensions),
          .attributes = {{"units", {.text = units}}},
          .numbers = [numbers = std::move(numbers)] { return numbers; }};
}

// So many cells that they are read in several blocks, cut along the second dimension.
constexpr int kTimes = 2, kRows = 500, kColumns = 400;

struct Cells {
  std::vector<double> time = {10.0, 11.0}, lat = std::vector<double>(kRows), lon = std::vector<double>(kColumns),
                      ssh = std::vector<double>(static_cast<std::size_t>(kTimes) * kRows * kColumns);
  Cells() {
    for (int i = 0; i < kRows; ++i) lat[static_cast<std::size_t>(i)] = -50.0 + 0.2 * i;
    for (int i = 0; i < kColumns; ++i) lon[static_cast<std::size_t>(i)] = 0.5 * i;
    std::iota(ssh.begin(), ssh.end(), 0.0);
    for (std::size_t i = 0; i < ssh.size(); i += 7) ssh[i] = std::nan("");
  }
};

ArrayFile arrays_of(const Cells& cells) {
  return {.name = "the arrays",
          .lengths = {{"time", kTimes}, {"lat", kRows}, {"lon", kColumns}},
          .variables = {array("time", {"time"}, cells.time, "days since 2000-01-01"),
                        array("lat", {"lat"}, cells.lat, "degrees_north"), array("lon", {"lon"}, cells.lon, "degrees_east"),
                        array("ssh", {"time", "lat", "lon"}, cells.ssh, "m")}};
}

TEST(ReadArrays, GivesWhatAFileWithTheSameVariablesGives) {
  const ScratchFolder folder;
  const Cells cells;
  const std::string path = (folder / "grid.nc").string();
  {
    NcTestFile file(path);
    const int time = file.dimension("time", kTimes), lat = file.dimension("lat", kRows), lon = file.dimension("lon", kColumns);
    file.variable("time", NC_DOUBLE, {time}, cells.time, "days since 2000-01-01");
    file.variable("lat", NC_DOUBLE, {lat}, cells.lat, "degrees_north");
    file.variable("lon", NC_DOUBLE, {lon}, cells.lon, "degrees_east");
    file.variable("ssh", NC_DOUBLE, {time, lat, lon}, cells.ssh, "m");
  }
  const Reading from_file = read_observations({path}), from_arrays = read_arrays(arrays_of(cells));
  const Observations &a = from_file.observations, &b = from_arrays.observations;
  EXPECT_GT(a.size(), 300000U);
  EXPECT_EQ(a.value, b.value);
  EXPECT_EQ(a.lon_deg, b.lon_deg);
  EXPECT_EQ(a.lat_deg, b.lat_deg);
  EXPECT_EQ(a.time_days, b.time_days);
  EXPECT_EQ(from_file.layout, from_arrays.layout);
  EXPECT_EQ(from_file.report.roles, from_arrays.report.roles);
  EXPECT_EQ(from_arrays.value.unit, "m");
}

TEST(ReadArrays, UnpacksAndMasksByAttributes) {
  ArrayFile arrays = {.name = "the arrays", .lengths = {{"n", 4}}};
  arrays.variables = {array("lon", {"n"}, {1, 2, 3, 4}, "degrees_east"), array("lat", {"n"}, {1, 2, 3, 4}, "degrees_north"),
                      array("ssh", {"n"}, {100, -1, 300, 900}, "m")};
  ArrayVariable& ssh = arrays.variables.back();
  ssh.type = "int16";
  ssh.attributes["scale_factor"] = {.numbers = {0.01}};
  ssh.attributes["_FillValue"] = {.numbers = {-1}};
  ssh.attributes["valid_max"] = {.numbers = {500}, .whole_numbers = true};
  EXPECT_THAT(read_arrays(arrays).observations.value, ElementsAre(1.0, 3.0));
  ssh.attributes["valid_max"] = {.numbers = {2.0}};  // of a real type: unpacked
  EXPECT_THAT(read_arrays(arrays).observations.value, ElementsAre(1.0));
}

TEST(ReadArrays, LoadsOnlyTheArraysThatPlayARole) {
  const Cells cells;
  ArrayFile arrays = arrays_of(cells);
  arrays.variables.push_back(
      {.name = "other", .dimensions = {"lat"}, .numbers = []() -> std::vector<double> { throw Error("loaded"); }});
  EXPECT_NO_THROW(read_arrays(arrays, {.roles = {.value = "ssh"}}));
  EXPECT_THROW(read_arrays(arrays, {.roles = {.value = "ssh"}, .where = {"other < 3"}}), Error);
}

TEST(ReadArrays, NamesWhatDoesNotFit) {
  const auto why = [](ArrayVariable wrong) {
    try {
      read_arrays({.name = "the arrays", .lengths = {{"n", 2}}, .variables = {std::move(wrong)}}, {.roles = {.value = "v"}});
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(why({.name = "v", .dimensions = {"n"}, .type = "complex128"}), HasSubstr("'v' has the unknown type 'complex128'"));
  EXPECT_THAT(why({.name = "v", .dimensions = {"m"}}), HasSubstr("the dimension 'm' of variable 'v' has no length"));
  EXPECT_THAT(why(array("v", {"n"}, {1, 2}, "")), HasSubstr("the arrays: no variable along the dimensions of 'v'"));
  ArrayFile arrays = {.name = "the arrays", .lengths = {{"n", 2}}};
  arrays.variables = {array("lon", {"n"}, {1}, "degrees_east"), array("lat", {"n"}, {1, 2}, "degrees_north"),
                      array("v", {"n"}, {1, 2}, "")};
  try {
    read_arrays(arrays);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("variable 'lon' has 1 entries, but its dimensions make 2"));
  }
}

}  // namespace
}  // namespace drift
