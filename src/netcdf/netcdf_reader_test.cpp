#include "netcdf/netcdf_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <thread>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "netcdf/file_kind.h"
#include "netcdf/netcdf_testing.h"

namespace drift {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::NanSensitiveDoubleEq;

std::string refusal(const std::filesystem::path& path) {
  try {
    const NcReader reader(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

// One file of every classic format and of NetCDF-4, with fixed and unlimited dimensions, groups where there can be any.
void write(const std::filesystem::path& path, int format) {
  NcTestFile file(path, format);
  const int n = file.dimension("n", 5), time = file.dimension("time", NC_UNLIMITED);
  const int packed = file.variable("packed", NC_SHORT, {n}, {1, 2, -32767, 4, 500}, "m");
  file.pack(packed, 0.5, 10.0);
  file.attribute(packed, "_FillValue", NC_SHORT, {-32767});
  file.attribute(packed, "valid_range", NC_SHORT, {0, 100});
  file.variable("series", NC_DOUBLE, {time, n}, {0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24});
  file.variable("more", NC_BYTE, {time}, {1, 2, 3});
  file.variable("scalar", NC_FLOAT, {}, {2.5});
  file.attribute(NC_GLOBAL, "title", "a title");
  file.attribute(NC_GLOBAL, "cycle", NC_INT, {7});
  if ((format & NC_NETCDF4) != 0 && (format & NC_CLASSIC_MODEL) == 0) {
    file.enter("data_01/ku");
    file.variable("ssha", NC_FLOAT, {n}, {1, 2, 3, 4, 5});
    file.enter("data_20/ku");
    file.variable("ssha", NC_FLOAT, {n}, {1, 2, 3, 4, 5});
    file.variable("only", NC_FLOAT, {n}, {1, 2, 3, 4, 5});
  }
}

constexpr std::array<int, 5> kFormats = {NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL, 0, NC_64BIT_OFFSET, NC_64BIT_DATA};

TEST(NcReader, ReadsAllFormats) {
  const ScratchFolder folder;
  for (const int format : kFormats) {
    SCOPED_TRACE(format);
    write(folder / "a.nc", format);
    const NcReader reader(folder / "a.nc");
    const NcVariable& packed = *reader.find("packed");
    EXPECT_EQ(packed.size(), 5u);
    EXPECT_EQ(packed.dimensions[0].name, "n");
    EXPECT_TRUE(packed.is_number());
    EXPECT_THAT(reader.read(packed), ElementsAre(10.5, 11.0, NanSensitiveDoubleEq(NAN), 12.0, NanSensitiveDoubleEq(NAN)));
    EXPECT_EQ(reader.text(packed, "units"), "m");
    EXPECT_EQ(reader.text(packed, "scale_factor"), std::nullopt);
    EXPECT_THAT(reader.numbers(packed, "units"), IsEmpty());
    EXPECT_THAT(reader.numbers(packed, "valid_range"), ElementsAre(0, 100));
    EXPECT_EQ(reader.text("title"), "a title");
    EXPECT_EQ(reader.text("none"), std::nullopt);
    EXPECT_THAT(reader.numbers("cycle"), ElementsAre(7));
    EXPECT_THAT(reader.read(*reader.find("scalar")), ElementsAre(2.5));
    const NcVariable& series = *reader.find("series");
    EXPECT_EQ(series.dimensions[1].id, packed.dimensions[0].id);
    std::vector<double> block(4);
    reader.read_stored(series, std::vector<std::size_t>{1, 2}, std::vector<std::size_t>{2, 2}, block);
    EXPECT_THAT(block, ElementsAre(12, 13, 22, 23));
    EXPECT_THROW(reader.read_stored(series, std::vector<std::size_t>{1}, std::vector<std::size_t>{2}, block), UsageError);
    EXPECT_THROW(reader.read_stored(series, std::vector<std::size_t>{2, 2}, std::vector<std::size_t>{2, 2}, block), Error);
    EXPECT_EQ(reader.find("nothing"), nullptr);
    EXPECT_TRUE(looks_like_netcdf(folder / "a.nc"));
  }
}

TEST(NcReader, FindsVariablesInGroups) {
  const ScratchFolder folder;
  write(folder / "a.nc", NC_NETCDF4);
  const NcReader reader(folder / "a.nc");
  EXPECT_EQ(reader.find("ssha"), nullptr);  // there are two
  ASSERT_NE(reader.find("data_20/ku/ssha"), nullptr);
  ASSERT_NE(reader.find("only"), nullptr);
  EXPECT_EQ(reader.find("only")->name, "data_20/ku/only");
  EXPECT_EQ(reader.find("only")->base_name(), "only");
}

TEST(NcReader, ReadsTextOfLettersAndOfStrings) {
  const ScratchFolder folder;
  {
    NcTestFile file(folder / "a.nc");
    file.strings("names", {file.dimension("n", 3)}, {"one", "", "three"});
    file.variable("number", NC_INT, {}, {1});
  }
  const NcReader reader(folder / "a.nc");
  EXPECT_THAT(reader.read_text(*reader.find("names")), ElementsAre("one", "", "three"));
  EXPECT_FALSE(reader.find("names")->is_number());
}

TEST(NcReader, IsSharedByThreads) {
  const ScratchFolder folder;
  write(folder / "a.nc", NC_NETCDF4);
  write(folder / "b.nc", 0);
  const NcReader a(folder / "a.nc"), b(folder / "b.nc");
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        for (const NcReader* reader : {&a, &b}) {
          if (reader->read(*reader->find("series")).at(14) != 24.0) ++wrong;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(NcReader, RefusesWhatIsNoFileOfItsKind) {
  const ScratchFolder folder;
  EXPECT_EQ(refusal(folder / "none.nc"), (folder / "none.nc").string() + ": no such file");
  std::filesystem::create_directory(folder / "folder");
  EXPECT_THAT(refusal(folder / "folder"), HasSubstr("is a folder; name the files in it"));
  write_bytes(folder / "empty.nc", "");
  EXPECT_THAT(refusal(folder / "empty.nc"), HasSubstr(": is empty"));
  write_bytes(folder / "text.nc", "lon,lat\n");
  EXPECT_THAT(refusal(folder / "text.nc"), HasSubstr(": is not a NetCDF file"));
  write_bytes(folder / "hdf.nc", "\x89HDF\r\n\x1a\n and no more");
  EXPECT_THAT(refusal(folder / "hdf.nc"), HasSubstr("is it truncated or damaged?"));
}

TEST(NcReader, RefusesPackingWithWhichNoValueCanBeTold) {
  const ScratchFolder folder;
  {
    NcTestFile file(folder / "a.nc");
    file.pack(file.variable("v", NC_SHORT, {}, {1}), 0.0);
  }
  const NcReader reader(folder / "a.nc");
  EXPECT_THROW(reader.packing(*reader.find("v")), Error);
}

// Reads all that the file claims to hold, if it opens at all. False where it was refused.
bool read_everything(const std::filesystem::path& path) {
  try {
    const NcReader reader(path);
    for (const NcVariable& variable : reader.variables()) {
      if (variable.size() > 100000) return false;  // a length that was flipped; reading it is the caller's decision
      if (variable.is_number()) {
        reader.read(variable);
      } else {
        reader.read_text(variable);
      }
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(DamagedNetcdf, CutShortIsAlwaysRefused) {
  const ScratchFolder folder;
  for (const int format : kFormats) {
    write(folder / "whole.nc", format);
    const std::string bytes = read_bytes(folder / "whole.nc");
    ASSERT_TRUE(read_everything(folder / "whole.nc"));
    const std::size_t padding = (format & NC_NETCDF4) != 0 ? 0 : 3;  // behind the last variable there may be some
    for (std::size_t length = 0; length + padding < bytes.size(); length += length < 64 ? 1 : 37) {
      write_bytes(folder / "cut.nc", bytes.substr(0, length));
      EXPECT_FALSE(read_everything(folder / "cut.nc")) << format << ", " << length << " of " << bytes.size();
    }
  }
}

TEST(DamagedNetcdf, WithFlippedBytesIsReadOrRefusedButNeverCrashes) {
  const ScratchFolder folder;
  for (const int format : {0, NC_64BIT_OFFSET, NC_64BIT_DATA}) {
    write(folder / "whole.nc", format);
    const std::string bytes = read_bytes(folder / "whole.nc");
    std::size_t refused = 0;
    for (std::size_t at = 0; at < bytes.size() && at < 900; ++at) {
      for (const char flip : {'\x01', '\x80', '\xFF'}) {
        std::string spoilt = bytes;
        spoilt[at] = static_cast<char>(spoilt[at] ^ flip);
        write_bytes(folder / "spoilt.nc", spoilt);
        if (!read_everything(folder / "spoilt.nc")) ++refused;
      }
    }
    EXPECT_GT(refused, 100u);
  }
}

}  // namespace
}  // namespace drift
