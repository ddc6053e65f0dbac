#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <filesystem>

#include "core/scratch_folder.h"
#include "data/input_files.h"
#include "data/reading_testing.h"
#include "netcdf/netcdf_testing.h"

namespace drift {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Files : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  struct Options {
    double first = 0.0;  // value, and second of the day
    std::size_t count = 3;
    bool time = true, sigma = false;
    std::string platform = "";
  };

  std::string netcdf(const std::string& name, const Options& options) const {
    NcTestFile file(path(name));
    const int n = file.dimension("time", options.count);
    std::vector<double> numbers;
    for (std::size_t i = 0; i < options.count; ++i) numbers.push_back(options.first + static_cast<double>(i));
    if (options.time) file.variable("time", NC_DOUBLE, {n}, numbers, "seconds since 2000-01-01", "time");
    file.pack(file.variable("lat", NC_DOUBLE, {n}, numbers, "degrees_north", "latitude"), 0.06);
    file.variable("lon", NC_DOUBLE, {n}, std::vector<double>(options.count, 10), "degrees_east", "longitude");
    const int ssh = file.variable("ssh", NC_DOUBLE, {n}, numbers, "m");
    if (options.sigma) {
      file.attribute(ssh, "ancillary_variables", "ssh_error");
      file.variable("ssh_error", NC_DOUBLE, {n}, std::vector<double>(options.count, 1.0), "m");
    }
    file.attribute(NC_GLOBAL, "platform", options.platform);
    return path(name);
  }

  std::string text(const std::string& name, const std::string& content) const {
    write_bytes(folder_ / name, content);
    return path(name);
  }

  ScratchFolder folder_;
};

TEST_F(Files, AreReadInTheOrderOfTheirNamesEachOnce) {
  netcdf("c.nc", {.first = 20});
  netcdf("a.nc", {.first = 0});
  netcdf("b.nc", {.first = 10});
  std::filesystem::create_symlink(path("a.nc"), path("z.nc"));
  const std::vector<double> expected = {0, 1, 2, 10, 11, 12, 20, 21, 22};
  for (const int threads : {1, 2, 5}) {
    const Reading reading = read_observations({path("c.nc"), path("*.nc"), path("./a.nc")}, {.threads = threads});
    EXPECT_EQ(reading.observations.value, expected);
    EXPECT_EQ(reading.report.files.size(), 3u);
    EXPECT_EQ(reading.report.rows, 9u);
  }
  EXPECT_EQ(input_files({path("[ab].nc")}).size(), 2u);
  EXPECT_EQ(input_files({path("?.nc")}).size(), 3u);
}

TEST_F(Files, GiveTheSameWhateverTheThreads) {
  for (int i = 0; i < 30; ++i)
    netcdf(fmt::format("f{:02}.nc", i),
           {.first = 40.0 * i, .count = 1 + static_cast<std::size_t>(i * 7 % 13), .platform = i % 3 == 0 ? "A" : "B"});
  const Reading one = read_observations({path("*.nc")}, {.threads = 1});
  for (const int threads : {2, 7, 64}) {
    const Reading many = read_observations({path("*.nc")}, {.threads = threads});
    EXPECT_EQ(many.observations.value, one.observations.value);
    EXPECT_EQ(many.observations.platform, one.observations.platform);
    EXPECT_EQ(many.observations.track, one.observations.track);
    EXPECT_EQ(many.tracks, one.tracks);
  }
}

TEST_F(Files, ThatAreNotThereOrNotFilesAreErrors) {
  EXPECT_EQ(refusal({path("none.nc")}), path("none.nc") + ": no such file");
  EXPECT_EQ(refusal({path("none*.nc")}), "no file matches " + path("none*.nc"));
  std::filesystem::create_directory(folder_ / "folder.nc");
  EXPECT_THAT(refusal({path("folder.nc")}), HasSubstr("is a folder; name the files in it, for instance"));
  EXPECT_EQ(refusal({path("*.nc")}), "no file matches " + path("*.nc"));
  EXPECT_EQ(refusal({}), "usage: no files are given to read observations from");
  EXPECT_EQ(refusal({text("empty.nc", "")}), path("empty.nc") + ": is empty");
  EXPECT_EQ(refusal({text("text.nc", "lon,lat,value\n1,2,3\n")}), path("text.nc") + ": is not a NetCDF file");
}

TEST_F(Files, OfTwoKindsAreRefused) {
  netcdf("a.nc", {});
  text("b.csv", "lon,lat,value\n1,2,3\n");
  EXPECT_EQ(refusal({path("*")}),
            fmt::format("usage: {} is a NetCDF file and {} is not; read them one kind at a time", path("a.nc"), path("b.csv")));
  EXPECT_THAT(refusal({path("b.csv")}, {.preset = "cmems-l3-sla"}),
              HasSubstr("usage: the preset \"cmems-l3-sla\" is for NetCDF"));
}

TEST_F(Files, ThatDoNotGoTogetherAreErrors) {
  netcdf("a.nc", {});
  const auto with = [&](const Options& options) { return refusal({path("a.nc"), netcdf("b.nc", options)}); };
  EXPECT_THAT(with({.first = 10, .time = false}), AllOf(HasSubstr("a.nc has times and"), HasSubstr("b.nc has none")));
  EXPECT_THAT(with({.first = 10, .sigma = true}),
              AllOf(HasSubstr("b.nc has standard deviations and"), HasSubstr("a.nc has none")));
  EXPECT_THAT(with({.first = 10, .platform = "X"}),
              AllOf(HasSubstr("b.nc has a platform and"), HasSubstr("name the role \"-\"")));
  EXPECT_EQ(with({.first = 10}), "accepted");
  EXPECT_EQ(refusal({path("a.nc"), netcdf("b.nc", {.first = 10, .platform = "X"})}, {.roles = {.platform = kNoRole}}),
            "accepted");
}

TEST_F(Files, TheFirstInOrderThatFailsIsNamed) {
  for (int i = 0; i < 12; ++i) netcdf(fmt::format("f{:02}.nc", i), {.first = 100.0 * i});
  text("f05.nc", "nonsense");
  text("f09.nc", "nonsense");
  for (const int threads : {1, 4, 12}) {
    EXPECT_EQ(refusal({path("*.nc")}, {.threads = threads}), path("f05.nc") + ": is not a NetCDF file");
  }
}

TEST_F(Files, DuplicatesAreLeftOutAndMostOfThemAreAnError) {
  netcdf("a.nc", {.first = 0, .count = 5});
  netcdf("b.nc", {.first = 3, .count = 5});  // two of them again
  const Reading reading = read_observations({path("*.nc")});
  EXPECT_THAT(reading.observations.value, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_EQ(count_of(reading.report, "exact duplicate"), 2u);
  EXPECT_EQ(reading.report.rows, 10u);
  ASSERT_EQ(reading.report.warnings.size(), 1u);
  EXPECT_THAT(reading.report.warnings[0], HasSubstr("2 of 10 observations were exact duplicates"));
  std::filesystem::copy(path("a.nc"), path("c.nc"));
  std::filesystem::copy(path("a.nc"), path("d.nc"));
  EXPECT_THAT(refusal({path("*.nc")}), HasSubstr("12 of 20 observations are there more than once"));
  // On two platforms they are two observations.
  netcdf("p.nc", {.platform = "P"});
  netcdf("q.nc", {.platform = "Q"});
  EXPECT_EQ(read_observations({path("[pq].nc")}).observations.size(), 6u);
}

TEST_F(Files, PassesCutByTheirEndsStayOneTrack) {
  netcdf("a.nc", {.first = 0, .count = 100});
  netcdf("b.nc", {.first = 100, .count = 100});
  netcdf("c.nc", {.first = 300, .count = 100});
  const Reading reading = read_observations({path("*.nc")});
  EXPECT_EQ(reading.tracks, 2u);
  EXPECT_EQ(reading.observations.track[199], 0);
  EXPECT_EQ(reading.observations.track[200], 1);
  EXPECT_EQ(read_observations({path("*.nc")}, {.track_gap_s = 150}).tracks, 1u);
  EXPECT_THAT(read_observations({path("*.nc")}, {.roles = {.track = kNoRole}}).observations.track, IsEmpty());
}

TEST_F(Files, OfTextAreReadTogether) {
  text("a.csv", "lon,lat,time,sla [m],track,satellite,flag\n1,2,2020-01-01,3,p1,s3a,0\n190,3,2020-01-02,4,p1,s3b,1\n");
  text("b.csv", "lon,lat,time,sla [m],track,satellite,flag\n1,4,2020-01-03,5,p1,s3a,2\n1,5,2020-01-03,,p2,s3a,2\n");
  const gzFile gzip = gzopen(path("c.csv.gz").c_str(), "wb");
  gzputs(gzip, "lon,lat,time,sla [m],track,satellite,flag\n1,6,2020-01-04,7,p1,s3b,0\n");
  gzclose(gzip);
  const ReadOptions options = {.roles = {.value = "sla [m]"}};
  const Reading reading = read_observations({path("*.csv*")}, options);
  const Observations& o = reading.observations;
  EXPECT_EQ(reading.report.format, "CSV");
  EXPECT_EQ(reading.report.rows, 5u);
  EXPECT_EQ(count_of(reading.report, "nothing in column \"sla [m]\""), 1u);
  EXPECT_EQ(reading.value, (VariableInfo{"sla [m]", "", "", "m"}));
  EXPECT_THAT(o.value, ElementsAre(3, 4, 5, 7));
  EXPECT_THAT(o.lon_deg, ElementsAre(1, -170, 1, 1));
  EXPECT_THAT(o.track, ElementsAre(0, 1, 0, 1));  // of a platform each
  EXPECT_THAT(o.platform, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(o.platform_names, ElementsAre("Sentinel-3A", "Sentinel-3B"));
  EXPECT_EQ(reading.tracks, 2u);
  EXPECT_EQ(reading.tracks_from, "column \"track\"");
  EXPECT_TRUE(reading.calendar_time);
  text("d.csv", "lon,lat,sla [m],track,satellite,flag\n1,4,5,p1,s3a,2\n");
  EXPECT_THAT(refusal({path("*.csv*")}, options), HasSubstr("d.csv has none"));
}

TEST_F(Files, OfTextAreFilteredAsOthers) {
  const std::string file =
      text("a.csv",
           "lon,lat,time,value,name,flag\n"
           "1,2,2020-01-01,3,s3a,0\n350,3,2020-01-02,4,\"s,b\",1\n1,4,2020-01-03,-9999,s3a,2\n1,5,2020-01-04,6,NA,\n");
  const auto left = [&](const ReadOptions& options) { return read_observations({file}, options).observations.lat_deg; };
  EXPECT_THAT(left({}), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT(left({.where = {"flag in 0,2"}}), ElementsAre(2, 4));
  EXPECT_THAT(left({.where = {"flag != 0"}}), ElementsAre(3, 4));  // nothing is no flag
  EXPECT_THAT(left({.where = {"name in s3a"}}), ElementsAre(2, 4));
  EXPECT_THAT(left({.where = {"name not in s3a"}}), ElementsAre(3));
  EXPECT_THAT(left({.where = {"lat >= 3", "LAT < 5"}}), ElementsAre(3, 4));
  EXPECT_THAT(left({.valid = Range{-10, 10}}), ElementsAre(2, 3, 5));
  EXPECT_THAT(left({.box = {{340, 0, 0, 90}}}), ElementsAre(3));
  EXPECT_THAT(left({.time = Range{25568, 25569}}), ElementsAre(3, 4));  // 2020-01-02 is day 25568
  const Reading reading = read_observations({file}, {.where = {"flag in 0,2"}, .valid = Range{-10, 10}});
  EXPECT_EQ(count_of(reading.report, "not flag in 0,2"), 2u);
  EXPECT_EQ(count_of(reading.report, "value outside the valid range"), 1u);
  EXPECT_THAT(refusal({file}, {.where = {"flg in 0"}}), AllOf(HasSubstr("usage: "), HasSubstr("did you mean 'flag'?")));
  EXPECT_THAT(refusal({file}, {.where = {"name < 3"}}),
              HasSubstr(":2: \"s3a\" in column \"name\" is not a number, which \"name < 3\" needs"));
  EXPECT_THAT(refusal({file}, {.where = {"flag in 17"}}), HasSubstr("none of 4 values of 'value' is left: not flag in 17 4"));
}

TEST_F(Files, OfTextWithoutTracksHaveThoseOfTheirTimes) {
  std::string content = "lon,lat,time,value,platform\n";
  const auto add = [&](int from, int to, double lat0, double lat_per_s, const char* platform) {
    for (int i = from; i < to; ++i) {
      content += fmt::format("{:.4f},{:.4f},2020-01-01T{:02}:{:02}:{:02},{},{}\n", 10.0, lat0 + lat_per_s * (i - from), i / 3600,
                             i / 60 % 60, i % 60, i, platform);
    }
  };
  add(0, 600, 50.0, 0.06, "a");       // north
  add(600, 1200, 86.0, -0.06, "a");   // and back south
  add(1300, 1400, 40.0, -0.06, "a");  // after a gap
  add(0, 100, 0.0, 0.06, "b");
  const Reading reading = read_observations({text("a.csv", content)});
  EXPECT_EQ(reading.tracks, 4u);
  EXPECT_EQ(reading.tracks_from, "gaps of 60 s and turns");
  const Observations& o = reading.observations;
  EXPECT_EQ(o.track[0], 0);
  EXPECT_NEAR(static_cast<double>(std::count(o.track.begin(), o.track.end(), 0)), 600, 1.5);  // the turning point is of either
  EXPECT_EQ(o.track[1199], 1);
  EXPECT_EQ(o.track[1200], 2);
  EXPECT_EQ(o.track[1300], 3);
  // Numbers that are no dates are not known to be seconds or days.
  EXPECT_EQ(read_observations({text("n.csv", "lon,lat,time,value\n1,1,0,1\n1,1.01,1,2\n1,1.02,2,3\n")}).tracks, 0u);
}

TEST(ReadObservations, OfTablesOfAnotherKindSayHowToConvertThem) {
  const ScratchFolder folder;
  const auto refused = [&](const std::string& name, const std::string& bytes) {
    write_bytes(folder / name, bytes);
    return refusal({(folder / name).string()});
  };
  EXPECT_THAT(refused("t.parquet", std::string("PAR1\0\0", 6)),
              AllOf(HasSubstr("is a Parquet file"),
                    HasSubstr("pandas.read_parquet(\"t.parquet\").to_csv(\"t.csv.gz\", index=False)"), HasSubstr("from_pandas")));
  EXPECT_THAT(refused("t.xlsx", std::string("PK\3\4\0", 5)), HasSubstr("pandas.read_excel(\"t.xlsx\")"));
  EXPECT_THAT(refused("t.dat", std::string("a\0b", 3)), HasSubstr("holds binary data"));
}

}  // namespace
}  // namespace drift
