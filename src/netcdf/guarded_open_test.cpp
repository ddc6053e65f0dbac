#include "netcdf/guarded_open.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "netcdf/file_kind.h"
#include "netcdf/netcdf_testing.h"
#include "netcdf/netcdf_writer.h"

namespace drift {
namespace {

using testing::HasSubstr;

std::filesystem::path write_small(const ScratchFolder& folder, const std::string& name) {
  NcWriter writer(folder / name);
  const int points = writer.dimension("points", 100);
  for (const char* variable : {"lon", "lat", "time", "value"}) {
    const int id = writer.variable(variable, NC_DOUBLE, {points}, {.chunks = {100}});
    writer.attribute(id, "units", "m");
    writer.attribute(id, "long_name", std::string("The ") + variable);
  }
  writer.finish();
  return folder / name;
}

TEST(TryToOpen, FindsNothingWrongWithGoodFilesAndLeavesOthersAlone) {
  const ScratchFolder folder;
  std::vector<std::filesystem::path> files;
  for (int i = 0; i < 20; ++i) files.push_back(write_small(folder, fmt::format("{}.nc", i)));
  write_bytes(folder / "table.csv", "lon,lat\n1,2\n");
  files.push_back(folder / "table.csv");
  files.push_back(folder / "missing.nc");
  const Tried tried = try_to_open(files, 30.0);
  EXPECT_THAT(tried.wrong, testing::Each(""));
  EXPECT_EQ(tried.warning, "");
}

TEST(TryToOpen, SaysWhatAFileThatDoesNotOpenSaysItself) {
  const ScratchFolder folder;
  const auto good = write_small(folder, "good.nc");
  write_bytes(folder / "cut.nc", read_bytes(good).substr(0, 3000));
  const std::vector<std::filesystem::path> files = {good, folder / "cut.nc", good};
  const std::vector<std::string> wrong = try_to_open(files, 30.0).wrong;
  EXPECT_EQ(wrong[0], "");
  EXPECT_THAT(wrong[1], HasSubstr("cut.nc: cannot be opened"));
  EXPECT_EQ(wrong[2], "");
  EXPECT_THROW(open_guarded(folder / "cut.nc"), Error);
  EXPECT_EQ(open_guarded(good).variables().size(), 4U);
}

// Each file with one byte turned over. Some of them crash HDF5 or keep it busy for ever; none does so to this process.
TEST(TryToOpen, OutlivesDamagedFiles) {
  const ScratchFolder folder;
  const std::string bytes = read_bytes(write_small(folder, "good.nc"));
  std::vector<std::filesystem::path> files;
  for (std::size_t at = 2000; at < 2400; ++at) {  // where HDF5 keeps links and messages
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(~damaged[at]);
    files.push_back(folder / fmt::format("{}.nc", at));
    write_bytes(files.back(), damaged);
  }
  const std::vector<std::string> wrong = try_to_open(files, 1.0).wrong;
  std::size_t crashes = 0, refused = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const bool lost = wrong[i].find("the file is damaged") != std::string::npos;
    crashes += lost ? 1 : 0;
    refused += wrong[i].empty() || lost ? 0 : 1;
    EXPECT_TRUE(wrong[i].empty() || wrong[i].starts_with(files[i].string())) << wrong[i];
  }
  EXPECT_GT(refused, 0U);
  if (crashes == 0) GTEST_SKIP() << "this HDF5 survives every one of " << files.size() << " damaged files";
}

// Does to `bad.nc` what a damaged file makes HDF5 do.
Listing spoilt(void (*harm)()) {
  return [harm](const std::filesystem::path& file) {
    if (file.filename() == "bad.nc") harm();
    list_contents(file);
  };
}

std::vector<std::filesystem::path> a_bad_one_among_good_ones(const ScratchFolder& folder) {
  std::vector<std::filesystem::path> files;
  for (const char* name : {"a.nc", "bad.nc", "c.nc", "d.nc", "e.nc"}) files.push_back(write_small(folder, name));
  return files;
}

TEST(TryToOpen, NamesTheFileThatCrashesAndTriesTheOthers) {
  const ScratchFolder folder;
  const auto files = a_bad_one_among_good_ones(folder);
  for (const int number : {SIGABRT, SIGSEGV}) {
    const Tried tried = try_to_open(files, 30.0, {}, spoilt(number == SIGABRT ? [] { std::abort(); } : [] { ::raise(SIGSEGV); }));
    EXPECT_EQ(tried.wrong[1], fmt::format("{}: HDF5 crashes on it ({}); the file is damaged", files[1].string(),
                                          number == SIGABRT ? "Aborted" : "Segmentation fault"));
    for (const std::size_t good : {0U, 2U, 3U, 4U}) EXPECT_EQ(tried.wrong[good], "");
    EXPECT_EQ(tried.warning, "");
  }
}

TEST(TryToOpen, EndsAnEndlessLoopAtTheLimit) {
  const ScratchFolder folder;
  const auto files = a_bad_one_among_good_ones(folder);
  const auto begin = std::chrono::steady_clock::now();
  const Tried tried = try_to_open(files, 1.0, {}, spoilt([] {
                                    volatile const bool forever = true;
                                    while (forever) {
                                    }
                                  }));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_EQ(tried.wrong[1], files[1].string() + ": it hangs: HDF5 could not read it within 1 s; the file is damaged");
  for (const std::size_t good : {0U, 2U, 3U, 4U}) EXPECT_EQ(tried.wrong[good], "");
}

TEST(TryToOpen, TriesFilesBehindAUserBlock) {
  const ScratchFolder folder;
  const std::string bytes = read_bytes(write_small(folder, "good.nc"));
  for (const std::size_t block : {512U, 1024U, 4096U}) {
    write_bytes(folder / "bad.nc", std::string(block, 'x') + bytes);
    EXPECT_TRUE(is_hdf5(folder / "bad.nc")) << block;
    EXPECT_TRUE(looks_like_netcdf(folder / "bad.nc")) << block;
    const std::vector<std::filesystem::path> files = {folder / "bad.nc"};
    EXPECT_THAT(try_to_open(files, 30.0, {}, spoilt([] { std::abort(); })).wrong[0], HasSubstr("crashes")) << block;
  }
  write_bytes(folder / "other", std::string(700, 'x') + bytes);
  EXPECT_FALSE(is_hdf5(folder / "other"));
}

// Also what can be seen of a device: its bytes never end, nor did the search for a signature among them.
TEST(FileKind, OfADeviceOrAFileOfHolesIsToldAtOnce) {
  const ScratchFolder folder;
  std::filesystem::create_symlink("/dev/zero", folder / "zero");
  write_bytes(folder / "holes", "x");
  std::filesystem::resize_file(folder / "holes", std::uintmax_t{1} << 40U);
  for (const char* name : {"zero", "holes"}) {
    EXPECT_FALSE(is_hdf5(folder / name)) << name;
    EXPECT_FALSE(looks_like_netcdf(folder / name)) << name;
  }
}

std::filesystem::path write_store(const ScratchFolder& folder, const std::string& array) {
  std::filesystem::create_directories(folder / "bad.nc/ssh");
  write_bytes(folder / "bad.nc/.zgroup", R"({"zarr_format": 2})");
  write_bytes(folder / "bad.nc/ssh/.zarray", array);
  return folder / "bad.nc";
}

constexpr const char* kGoodArray =
    R"({"zarr_format":2,"shape":[4],"chunks":[4],"dtype":"<f8","compressor":null,"fill_value":0,"order":"C","filters":null})";

TEST(TryToOpen, TriesZarrStoresToo) {
  const ScratchFolder folder;
  const std::vector<std::filesystem::path> files = {write_store(folder, kGoodArray)};
  EXPECT_EQ(try_to_open(files, 30.0).wrong[0], "");
  EXPECT_EQ(try_to_open(files, 30.0, {}, spoilt([] { ::raise(SIGSEGV); })).wrong[0],
            files[0].string() + ": netCDF crashes on it (Segmentation fault); the file is damaged");
}

// Each cut and each flipped byte of a good one.
TEST(TryToOpen, OutlivesDamagedMetadataOfAStore) {
  const ScratchFolder folder;
  const std::string good = kGoodArray;
  std::size_t refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string flipped = good;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x15);
    for (const std::string& damaged : {good.substr(0, at), flipped}) {
      const std::vector<std::filesystem::path> files = {write_store(folder, damaged)};
      const std::string wrong = try_to_open(files, 30.0).wrong[0];
      refused += wrong.empty() ? 0 : 1;
      EXPECT_EQ(wrong.find("crashes"), std::string::npos) << damaged << ": " << wrong;
    }
  }
  EXPECT_GT(refused, good.size());
}

TEST(TryToOpen, WarnsWhereNoChildCanBeStarted) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizers look at objects through a pipe of their own, which there is none of here";
#endif
  const ScratchFolder folder;
  const auto files = a_bad_one_among_good_ones(folder);
  rlimit before = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next = ::dup(0);  // one file may still be opened, but a pipe needs two
  ::close(next);
  const rlimit one = {.rlim_cur = static_cast<rlim_t>(next) + 1, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &one), 0);
  const Tried tried = try_to_open(files, 30.0);
  std::string refusal;
  try {
    open_guarded(files[0]);
  } catch (const Error& error) {
    refusal = error.what();
  }
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_THAT(tried.wrong, testing::Each(""));
  EXPECT_THAT(tried.warning, HasSubstr("5 of 5 NetCDF-4 files or Zarr stores were not first tried"));
  EXPECT_THAT(tried.warning, HasSubstr("Too many open files"));
  EXPECT_THAT(refusal, testing::AllOf(HasSubstr(files[0].string()), HasSubstr("Too many open files")));
}

TEST(TryToOpen, IsStoppedWithinASecond) {
  const ScratchFolder folder;
  const std::vector<std::filesystem::path> files(20, write_small(folder, "a.nc"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THROW(try_to_open(files, 30.0, {.stop = stop.get_token()}), Stopped);
}

}  // namespace
}  // namespace drift
