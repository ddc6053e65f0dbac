#include "drift/field_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "core/scratch_folder.h"
#include "drift/error.h"
#include "output/gmt.h"

namespace drift {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const double kNone = std::nan("");

// 2 rows of 3 points at two times; a layer, and another of two members.
FieldHeader header() {
  return {
      .grid = parse_grid("bbox:0,60,3,62:1"),
      .time_days = {25567.0, 25568.5},
      .layers = {{.info = {"sla", "Sea level anomaly", "", "m"}}, {.info = {"sla_members", "Members", "", "m"}, .members = 2}}};
}

// Row by row, as a map comes.
void fill(FieldSink& sink) {
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t time = 0; time < 2; ++time) {
      const auto first = static_cast<double>(100 * time + 10 * row);
      sink.write(0, time, row, std::vector<double>{first, row == 1 && time == 1 ? kNone : first + 1.0, first + 2.0});
      sink.write(1, time, row, std::vector<double>{first, first, first}, 0);
      sink.write(1, time, row, std::vector<double>{-first, -first, -first}, 1);
    }
  }
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(MemorySink, KeepsLayersByTimeMemberAndRow) {
  Field field;
  const auto sink = memory_sink(field)(header());
  fill(*sink);
  sink->finish();
  ASSERT_EQ(field.layer("sla").size(), 12u);
  EXPECT_EQ(field.layer("sla")[0], 0.0);
  EXPECT_EQ(field.layer("sla")[5], 12.0);   // first time, second row
  EXPECT_EQ(field.layer("sla")[6], 100.0);  // second time
  EXPECT_TRUE(std::isnan(field.layer("sla")[10]));
  ASSERT_EQ(field.layer("sla_members").size(), 24u);
  EXPECT_EQ(field.layer("sla_members")[18 + 3], -110.0);  // second time, second member, second row
  try {
    field.layer("ssh");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no layer 'ssh'; it has sla, sla_members"));
  }
}

TEST(TableSink, WritesARowForEachPointThatHasAValue) {
  const ScratchFolder folder;
  const auto sink = table_sink(folder / "map.csv")(header());
  fill(*sink);
  EXPECT_FALSE(std::filesystem::exists(folder / "map.csv"));
  sink->finish();
  const std::string text = text_of(folder / "map.csv");
  EXPECT_THAT(text, testing::StartsWith("lon,lat,time,sla,sla_members_1,sla_members_2\n"
                                        "0.5,60.5,2020-01-01,0,0,-0\n"));
  EXPECT_THAT(text, HasSubstr("\n0.5,61.5,2020-01-02T12:00:00Z,110,110,-110\n2.5,61.5,2020-01-02T12:00:00Z,112,110,-110\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12);  // a header and all points but one
}

TEST(TableSink, LeavesNothingBehindWithoutItsEnd) {
  const ScratchFolder folder;
  {
    const auto sink = table_sink(folder / "map.csv")(header());
    fill(*sink);
  }
  EXPECT_EQ(folder.files(), 0u);
}

TEST(TableSink, RefusesBlocksThatAreNotWhole) {
  const ScratchFolder folder;
  const auto sink = table_sink(folder / "map.csv")(header());
  sink->write(0, 0, 0, std::vector<double>(3));
  EXPECT_THROW(sink->write(0, 1, 0, std::vector<double>(3)), UsageError);
}

TEST(SinkFor, GoesByTheExtension) {
  const ScratchFolder folder;
  Field field;
  for (const FieldFormat& format : field_formats()) {
    if (format.extension == ".tif" && find_program("gdal_translate").empty()) continue;
    const std::filesystem::path path = folder / ("map" + format.extension);
    const auto sink = sink_for(path)(header());
    fill(*sink);
    sink->finish();
    EXPECT_GT(std::filesystem::file_size(path), 0u) << format.name;
  }
  try {
    sink_for("map.png");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("map.png: a map's name must end in .nc (NetCDF) or .tif (GeoTIFF) or .csv"));
  }
}

}  // namespace
}  // namespace drift
