#include "data/csv.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "data/csv_testing.h"
#include "drift/error.h"

namespace drift {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// The message, with FILE for the file's path.
std::string refusal(std::string_view text, const CsvOptions& options = {}, const CsvSizes& sizes = {}) {
  const CsvFile file(text);
  try {
    read_csv(file.path(), options, {}, {}, sizes);
  } catch (const Error& error) {
    std::string message = error.what();
    const std::size_t at = message.find(file.path().string());
    return at == std::string::npos ? message : message.replace(at, file.path().string().size(), "FILE");
  }
  return "not refused";
}

// Rows of every kind: quoted labels with line ends, separators and quotes in them, missing values, interleaved tracks.
std::string varied_table(int rows) {
  std::string text = "note,lon,lat,time,value,sd,pass,satellite\n";
  for (int i = 0; i < rows; ++i) {
    text += fmt::format("\"line {}\nwith \"\"quotes\"\", and\r\nmore\",{},{},2020-01-{:02}T00:00:00Z,{},0.5,\"p\n{}\",{}\n", i,
                        (i * 7) % 360, i % 90, 1 + i % 28, i % 11 == 3 ? std::string("NA") : fmt::format("{:.3f}", i * 0.1),
                        (i / 5) % 13, i % 3 == 0 ? "\"S\"\"3\"\"A\"" : "C2");
  }
  return text;
}

TEST(ReadCsv, ReadsEveryRole) {
  const CsvReading reading = read_text(
      "lon,lat,time,value,sigma,track,platform\n"
      "10.5,-20.25,1950-01-02T12:00:00Z,3.125,0.5,12,S3A\n"
      "11,21,1950-01-03,-4,0.25,12,S3B\n"
      "12,22,1950-01-04,5,2,12,S3A\n");
  const Observations& read = reading.part.observations;
  EXPECT_THAT(read.lon_deg, ElementsAre(10.5, 11, 12));
  EXPECT_THAT(read.lat_deg, ElementsAre(-20.25, 21, 22));
  EXPECT_THAT(read.time_days, ElementsAre(1.5, 2, 3));
  EXPECT_THAT(read.value, ElementsAre(3.125, -4, 5));
  EXPECT_THAT(read.sigma, ElementsAre(0.5f, 0.25f, 2.0f));
  EXPECT_THAT(read.track, ElementsAre(0, 1, 0));  // pass 12 of two platforms is two tracks
  EXPECT_THAT(read.platform, ElementsAre(0, 1, 0));
  EXPECT_THAT(read.platform_names, ElementsAre("Sentinel-3A", "Sentinel-3B"));
  EXPECT_EQ(reading.part.rows, 3u);
  EXPECT_EQ(reading.part.observations.size(), 3u);
  EXPECT_TRUE(reading.part.rejected.empty());
  EXPECT_TRUE(reading.iso_times);
  EXPECT_EQ(reading.columns.sigma, "sigma");
}

TEST(ReadCsv, LeavesColumnsEmptyThatTheFileDoesNotHave) {
  const CsvReading reading = read_text("lon,lat,ssh\n1,2,3\n", {.columns = {.value = "ssh"}});
  EXPECT_THAT(reading.part.observations.value, ElementsAre(3));
  EXPECT_TRUE(reading.part.observations.time_days.empty());
  EXPECT_TRUE(reading.part.observations.sigma.empty());
  EXPECT_TRUE(reading.part.observations.track.empty());
  EXPECT_TRUE(reading.part.observations.platform.empty());
  EXPECT_TRUE(reading.part.observations.platform_names.empty());
}

TEST(ReadCsv, TakesNumbersForTimesAsTheyAre) {
  const CsvReading reading = read_text("lon,lat,t,value\n1,2,2020013,3\n1,2,-0.5,3\n");
  EXPECT_THAT(reading.part.observations.time_days, ElementsAre(2020013, -0.5));
  EXPECT_FALSE(reading.iso_times);
}

TEST(ReadCsv, FindsTheSeparator) {
  const CsvReading comma = read_text("lon,lat,value\n1,2,3\n-4,5.5,6\n");
  for (const char* text :
       {"lon;lat;value\n1;2;3\n-4;5.5;6\n", "lon\tlat\tvalue\n1\t2\t3\n-4\t5.5\t6\n", "lon lat value\n1 2 3\n-4 5.5 6\n",
        "  lon   lat  value \n   1  \t 2   3  \n\n -4 5.5 6\r\n", "lon , lat , value\n 1 , 2 ,3\n-4, 5.5, 6 \n",
        "\"lon\" \"lat\" \"value\"\n\"1\"  2 \"3\"\n-4 \"5.5\"\t6\n"}) {
    SCOPED_TRACE(text);
    expect_same(read_text(text), comma);
  }
}

TEST(ReadCsv, TakesQuotedFields) {
  const CsvReading reading = read_text(
      "\"lon\",\"lat\",\"value\",\"note, long\",\"platform\"\n"
      "\"1\",\"2\",\"3\",\"a,b\nc \"\"d\"\"\", \"Buoy \"\"3\"\"\" \n"
      "4,5,6,\"\",Buoy \n");
  EXPECT_THAT(reading.part.observations.value, ElementsAre(3, 6));
  EXPECT_THAT(reading.part.observations.platform_names, ElementsAre("Buoy \"3\"", "Buoy"));
}

TEST(ReadCsv, PassesOverMarksCommentsBlankLinesAndCarriageReturns) {
  const CsvReading plain = read_text("lon,lat,value\n1,2,3\n4,5,6\n");
  expect_same(read_text("\xEF\xBB\xBFlon,lat,value\r\n1,2,3\r\n4,5,6\r\n"), plain);
  expect_same(read_text("# it's a \"comment\n\n  # 1,2,3\nlon,lat,value\n\n1,2,3\n   \n4,5,6"), plain);
  expect_same(read_text("\xEF\xBB\xBF# comment\r\n\r\nlon,lat,value\r\n1,2,3\r\n\r\n4,5,6\r\n\r\n"), plain);
}

TEST(ReadCsv, CountsRowsWithoutAValueByTheFirstColumnThatLacksOne) {
  const CsvReading reading = read_text(
      "lon,lat,time,value\n"
      ",2,1,3\nNA,2,1,3\n1,nan,1,3\n1,2,null,3\n1,2,1,NaN\n1,2,1,\nNA,NA,NA,NA\n1,2,1,3\n");
  EXPECT_EQ(reading.part.rows, 8u);
  EXPECT_EQ(reading.part.observations.size(), 1u);
  EXPECT_EQ(reading.part.observations.size(), 1u);
  ASSERT_EQ(reading.part.rejected.size(), 4u);
  EXPECT_EQ(reading.part.rejected[0].reason, "nothing in column \"lon\"");
  EXPECT_EQ(reading.part.rejected[0].count, 3u);
  EXPECT_EQ(reading.part.rejected[1].count, 1u);
  EXPECT_EQ(reading.part.rejected[2].count, 1u);
  EXPECT_EQ(reading.part.rejected[3].reason, "nothing in column \"value\"");
  EXPECT_EQ(reading.part.rejected[3].count, 2u);
}

TEST(ReadCsv, BringsLongitudesToPlusMinus180) {
  const CsvReading reading =
      read_text("lon,lat,value\n0,0,1\n179.5,0,1\n180,0,1\n-180,0,1\n359.75,90,1\n360,-90,1\n366,0,1\n-181,0,1\n");
  EXPECT_THAT(reading.part.observations.lon_deg, ElementsAre(0, 179.5, -180, -180, -0.25, 0, 6, 179));
}

TEST(ReadCsv, TakesThePlaneAsItIs) {
  const CsvReading reading = read_text("x,y,value\n-2500000,1200,1\n");
  EXPECT_TRUE(reading.on_plane);
  EXPECT_THAT(reading.part.observations.lon_deg, ElementsAre(-2500000));
  EXPECT_THAT(reading.part.observations.lat_deg, ElementsAre(1200));
}

TEST(ReadCsv, HeaderAloneIsNoObservations) {
  EXPECT_EQ(read_text("lon,lat,value").part.observations.size(), 0u);
  EXPECT_EQ(read_text("lon,lat,value\n").part.rows, 0u);
}

TEST(ReadCsv, ReadsGzipAsItReadsPlainText) {
  const std::string text = varied_table(500);
  const CsvReading plain = read_text(text);
  const CsvFile file("", ".csv.gz");
  file.write_gzip(text);
  expect_same(read_csv(file.path(), {}), plain);
  expect_same(read_csv(file.path(), {}, {}, {}, {.window = 4096, .chunk = 100}), plain);

  std::ifstream stream(file.path(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  file.write(bytes + bytes);  // members one after the other are one text; the second begins with a header that is no row
  const CsvReading twice = read_csv(file.path(), {});
  EXPECT_EQ(twice.part.rows, 2 * plain.part.rows + 1);
  EXPECT_EQ(twice.part.rejected.front().reason, "bad row");
  EXPECT_EQ(twice.part.rejected.front().count, 1u);
  for (const std::size_t kept : {bytes.size() - 1, bytes.size() - 8, bytes.size() / 2, std::size_t{20}}) {
    file.write(std::string_view(bytes).substr(0, kept));
    try {
      read_csv(file.path(), {});
      ADD_FAILURE() << kept << " bytes of " << bytes.size() << " were read";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("is cut short"));
    }
  }
  std::string spoilt = bytes;
  spoilt[bytes.size() - 6] = static_cast<char>(~spoilt[bytes.size() - 6]);  // in the checksum
  file.write(spoilt);
  EXPECT_THROW(read_csv(file.path(), {}), Error);
}

TEST(ReadCsv, DoesNotDependOnThreadsOrOnWhereChunksAreCut) {
  const std::string text = varied_table(400);
  const CsvReading whole = read_text(text, {.threads = 1});
  EXPECT_EQ(whole.part.rows, 400u);
  EXPECT_EQ(whole.part.observations.size(), 400u - whole.part.rejected.at(0).count);
  for (const int threads : {1, 2, 7}) {
    for (const std::size_t chunk : {1, 37, 64, 1000, 100000}) {
      for (const std::size_t window : {300, 1024, 5000, 1000000}) {
        SCOPED_TRACE(fmt::format("{} threads, chunk {}, window {}", threads, chunk, window));
        expect_same(read_text(text, {.threads = threads}, {.window = window, .chunk = chunk}), whole);
      }
    }
  }
}

TEST(ReadCsv, FindsTheSameBadRowsWhereverChunksAreCut) {
  std::string text = varied_table(300);
  text.insert(text.find("line 200"), "oops\" ");
  const CsvReading whole = read_text(text + "1,2\n", {.threads = 1});
  EXPECT_EQ(whole.part.rows, 303u);  // the row of four lines ends with its first, and two more begin
  ASSERT_EQ(whole.warnings.size(), 3u);
  EXPECT_THAT(whole.warnings[0], HasSubstr(":802: text follows the closing quote"));  // four lines a row
  EXPECT_THAT(whole.warnings[1], HasSubstr(":803, 804: a quote within a field"));
  EXPECT_THAT(whole.warnings[2], HasSubstr(":1202: 2 fields"));
  for (const std::size_t chunk : {1, 50, 777}) {
    const CsvReading cut = read_text(text + "1,2\n", {.threads = 3}, {.window = 2000, .chunk = chunk});
    expect_same(cut, whole);
    EXPECT_THAT(cut.warnings[0], HasSubstr(":802: text follows")) << chunk;
  }
}

TEST(ReadCsv, RefusesFilesThatAreNotTables) {
  try {
    read_csv("/nonexistent/file.csv", {});
    ADD_FAILURE() << "read a file that is not there";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "/nonexistent/file.csv: cannot be read: No such file or directory");
  }
  try {
    read_csv(testing::TempDir(), {});
    ADD_FAILURE() << "read a folder";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is a folder, not a file"));
  }
  EXPECT_EQ(refusal(""), "FILE: is empty");
  EXPECT_EQ(refusal("\n# nothing\n\n"), "FILE: has no header: there is nothing in it but blank lines and comments");
  EXPECT_EQ(refusal("# lon lat value\n1 2 3\n4 5 6\n"),
            "FILE:2: no header: this line is all numbers; put one with the columns' names before it, without #");
  EXPECT_THAT(refusal(std::string_view("l\0o\0n\0,\0\n\0", 10)), HasSubstr("is not a table of text"));
}

TEST(ReadCsv, RefusesRaggedRows) {
  EXPECT_EQ(refusal("lon,lat,value\n1,2,3\n1,2\n"),
            "FILE:3: 2 fields but the header has 3; 1 of 2 rows are bad, and more than 10 % is too many");
  EXPECT_EQ(refusal("# c\nlon,lat,value\n1,2,3,4\n"), "FILE:3: 4 fields but the header has 3");
  EXPECT_EQ(refusal("lon lat value\n1\n"), "FILE:2: 1 field but the header has 3");
  EXPECT_THAT(refusal("lon,lat,value,note\n1,2,3,\"a\nb\nc\"\n1,2,3\n"),
              HasSubstr("FILE:5: 3 fields but the header has 4; 1 of 2"));
}

TEST(ReadCsv, RefusesBadNumbersWithTextColumnAndLine) {
  EXPECT_THAT(refusal("lon,lat,value\r\n1,2,3\r\n1,2,abc\r\n"),
              HasSubstr("FILE:3: \"abc\" in column \"value\" is not a number; 1"));
  EXPECT_EQ(refusal("lon;lat;value\n1;2;3,5\n"), "FILE:2: \"3,5\" in column \"value\" is not a number");
  EXPECT_EQ(refusal("lon,lat,value\n1,2,-inf\n"), "FILE:2: \"-inf\" in column \"value\" is not a finite number");
  EXPECT_EQ(refusal("lon,lat,value\n1,2,1e999\n"), "FILE:2: \"1e999\" in column \"value\" is not a finite number");
  EXPECT_EQ(refusal("lon,lat,value\n1,90.001,1\n"),
            "FILE:2: \"90.001\" in column \"lat\" is not a latitude: they lie between -90 and 90 degrees");
  EXPECT_EQ(refusal("lon,lat,value\n-9999,9,1\n"),
            "FILE:2: \"-9999\" in column \"lon\" is not a longitude: they lie between -540 and 540 degrees");
  for (const char* sigma : {"0", "-1", "1e60", "1e-60"}) {
    EXPECT_THAT(refusal(fmt::format("lon,lat,value,sd\n1,2,3,{}\n", sigma)), HasSubstr("is not a standard deviation")) << sigma;
  }
}

TEST(ReadCsv, RefusesBadTimesAndTwoKindsOfThem) {
  EXPECT_EQ(refusal("lon,lat,time,value\n1,2,2021-02-29,3\n"),
            "FILE:2: \"2021-02-29\" in column \"time\" is not a time like 2020-01-31T12:00:00Z");
  EXPECT_EQ(refusal("lon,lat,time,value\n1,2,noon,3\n"),
            "FILE:2: \"noon\" in column \"time\" is neither a number nor a time like 2020-01-31T12:00:00Z");
}

TEST(ReadCsv, LeavesOutTimesOfAnotherKindThanMostOfTheFirst) {
  const auto table = [](const std::string& usual, const std::string& odd) {
    std::string text = "lon,lat,time,value\n1,2," + odd + ",3\n";
    for (int i = 0; i < 30; ++i) text += "1,2," + usual + ",3\n";
    return text + "1,2," + odd + ",4\n";
  };
  for (const std::size_t chunk : {1, 1000}) {
    const CsvReading dates = read_text(table("2020-01-01", "20200303"), {}, {.chunk = chunk});
    EXPECT_EQ(dates.part.observations.size(), 30u);
    EXPECT_TRUE(dates.iso_times);
    EXPECT_THAT(dates.warnings, ElementsAre(AllOf(StartsWith("2 rows were left out, "),
                                                  EndsWith(".csv:2, 33: \"20200303\" in column \"time\" is a number, but the "
                                                           "times are dates."))));
    const CsvReading numbers = read_text(table("5.5", "2020-01-01"), {}, {.chunk = chunk});
    EXPECT_EQ(numbers.part.observations.size(), 30u);
    EXPECT_FALSE(numbers.iso_times);
    EXPECT_THAT(numbers.warnings,
                ElementsAre(HasSubstr("\"2020-01-01\" in column \"time\" is a date, but the times are numbers")));
    const CsvReading written = read_text(table("20200131", "7"), {}, {.chunk = chunk});
    EXPECT_EQ(written.part.observations.size(), 30u);
    EXPECT_THAT(written.part.observations.time_days.front(), 25597.0);
  }
  EXPECT_EQ(
      refusal("lon,lat,time,value\n1,2,2020-01-01,3\n1,2,2020-01-02,3\n1,2,7,3\n"),
      "FILE:4: \"7\" in column \"time\" is a number, but the times are dates; 1 of 3 rows are bad, and more than 10 % is too "
      "many");
}

TEST(ReadCsv, ADateInAColumnOfAnyNameGetsAWarningAndIsNoValue) {
  for (const char* date : {"2020-01-31", "2020-01-31T12:00Z", "20200131"}) {
    const CsvReading reading = read_text(std::string("lon,lat,gemessen,ssh\n1,2,,0.1\n1,2,") + date + ",0.2\n");
    EXPECT_EQ(reading.columns.value, "ssh");
    EXPECT_THAT(reading.warnings, ElementsAre(HasSubstr("the column \"gemessen\" may hold them: --time gemessen reads it")))
        << date;
  }
  EXPECT_THAT(read_text("lon,lat,id,value\n1,2,1234-56-78,3\n").warnings, testing::IsEmpty());
  EXPECT_THAT(read_text("lon,lat,id,value\n1,2,20201331,3\n").warnings, testing::IsEmpty());
}

TEST(ReadCsv, LeavesOutABadRowHereAndThereAndSaysWhere) {
  std::string text = "lon,lat,value\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("{},2,{}\n", i, i);
  text += "41,2,abc\n42,2\n43,95,1\n44,2,44\n45,2,x\n46,2,y\n47,2,z\n";
  for (int i = 0; i < 40; ++i) text += fmt::format("{},3,{}\n", i, i);
  for (const std::size_t chunk : {1, 100, 100000}) {
    const CsvReading reading = read_text(text, {.threads = 2}, {.chunk = chunk});
    EXPECT_EQ(reading.part.observations.size(), 81u);
    EXPECT_EQ(reading.part.rows, 87u);
    ASSERT_EQ(reading.part.rejected.size(), 1u);
    EXPECT_EQ(reading.part.rejected[0].reason, "bad row");
    EXPECT_EQ(reading.part.rejected[0].count, 6u);
    ASSERT_EQ(reading.warnings.size(), 3u);
    EXPECT_THAT(reading.warnings[0], AllOf(StartsWith("4 rows were left out, "),
                                           EndsWith(".csv:42, 46, 47 and others: \"abc\" in column \"value\" is not a number.")));
    EXPECT_THAT(reading.warnings[1],
                AllOf(StartsWith("a row was left out, "), EndsWith(".csv:43: 2 fields but the header has 3.")));
    EXPECT_THAT(reading.warnings[2], HasSubstr(".csv:44: \"95\" in column \"lat\" is not a latitude"));
  }
  for (int i = 0; i < 4; ++i) text += "no,such,row\n";
  EXPECT_THAT(refusal(text), HasSubstr("FILE:42: \"abc\" in column \"value\" is not a number; 10 of 91 rows are bad"));
}

TEST(ReadCsv, TakesDatesOfSeveralColumns) {
  const CsvReading reading =
      read_text("year,month,day,hour,minute,lon,lat,value\n1950,1,2,6,30,1,2,3\n2020,2,29,0,0,1,2,3\n1950,1,1.25,,0,1,2,3\n");
  EXPECT_TRUE(reading.iso_times);
  EXPECT_THAT(reading.part.observations.time_days, ElementsAre(1.0 + 6.5 / 24.0, 25626.0));
  EXPECT_THAT(refusal("year,month,day,lon,lat,value\n2021,2,29,1,2,3\n"), HasSubstr("with month 2 and day 29 is no date"));
}

TEST(ReadCsv, TakesDatesWrittenAsNumbers) {
  const auto times = [](const std::string& first, const std::string& second) {
    const CsvReading reading = read_text("lon,lat,time,value\n1,2,NA,3\n1,2," + first + ",3\n1,2," + second + ",3\n");
    EXPECT_TRUE(reading.iso_times) << first;
    return reading.part.observations.time_days;
  };
  EXPECT_THAT(times("19500103", "20200131"), ElementsAre(2.0, 25597.0));
  EXPECT_THAT(times("20200131063000", "20200131180000"), ElementsAre(25597.0 + 6.5 / 24, 25597.75));
  EXPECT_THAT(times("202001310630", "202001311800"), ElementsAre(25597.0 + 6.5 / 24, 25597.75));
  EXPECT_THAT(times("2020013106", "2020013118"), ElementsAre(25597.25, 25597.75));
  // Eight digits that are no date, and dates in a unit of the caller's, are numbers.
  EXPECT_FALSE(read_text("lon,lat,time,value\n1,2,20201331,3\n").iso_times);
  EXPECT_THAT(
      read_text("lon,lat,time,value\n1,2,20200131,3\n", {.time_units = "seconds since 1950-01-01"}).part.observations.time_days,
      ElementsAre(20200131.0 / 86400.0));
  EXPECT_EQ(
      refusal("lon,lat,time,value\n1,2,20200131,3\n1,2,20200132,3\n"),
      "FILE:3: \"20200132\" in column \"time\" is not a date like 20200131; 1 of 2 rows are bad, and more than 10 % is too many");
  EXPECT_THAT(read_text("lon,lat,t,value\n1,2,20200131.5,3\n", {.time_units = "yyyymmdd"}).part.observations.time_days,
              ElementsAre(25597.5));
}

TEST(ReadCsv, TakesTheDayOfAYear) {
  const CsvReading reading = read_text("year,doy,hour,lon,lat,value\n1950,1,0,1,2,3\n2020,366,12,1,2,3\n1951,1.5,0,1,2,3\n");
  EXPECT_TRUE(reading.iso_times);
  EXPECT_THAT(reading.part.observations.time_days, ElementsAre(0.0, 25932.5, 365.5));
  EXPECT_THAT(refusal("year,doy,lon,lat,value\n2021,366,1,2,3\n"), HasSubstr("with day 366 of the year is no date"));
  EXPECT_THAT(refusal("year,doy,lon,lat,value\n2021,0,1,2,3\n"), HasSubstr("with day 0 of the year is no date"));
}

TEST(ReadCsv, TakesADayAndATimeOfDay) {
  const CsvReading reading = read_text(
      "date,time,lon,lat,value\n1950-01-02,06:30,1,2,3\n19500103,183000,1,2,3\n1950-01-04,9:00:00,1,2,3\n,09:00,1,2,3\n"
      "1950-01-05,1950-01-05T12:00,1,2,3\n1950-01-01,12:00,1,2,3\n");
  EXPECT_TRUE(reading.iso_times);
  EXPECT_THAT(reading.part.observations.time_days, ElementsAre(1.0 + 6.5 / 24, 2.0 + 18.5 / 24, 3.375, 4.5, 0.5));
  EXPECT_THAT(refusal("date,time,lon,lat,value\n1950-01-02,43200,1,2,3\n"),
              HasSubstr("\"43200\" in column \"time\" is not a time of day"));
  EXPECT_THAT(refusal("date,time,lon,lat,value\n31/1/1950,12:00,1,2,3\n"),
              HasSubstr("is not a date like 2020-01-31 or 20200131"));
}

TEST(ReadCsv, PassesOverPangaeasDescription) {
  expect_same(read_text("/* DATA DESCRIPTION:\nCitation:\tSomebody (2020)\n*/\nlon\tlat\tvalue\n1\t2\t3\n"),
              read_text("lon,lat,value\n1,2,3\n"));
}

TEST(ReadCsv, TakesNumbersForTimesInAGivenUnit) {
  const std::string text = "lon,lat,t,value\n1,2,86400,3\n1,2,129600,3\n";
  const CsvReading seconds = read_text(text, {.time_units = "seconds since 1950-01-02"});
  EXPECT_TRUE(seconds.iso_times);
  EXPECT_THAT(seconds.part.observations.time_days, ElementsAre(2.0, 2.5));
  const CsvReading matlab = read_text("lon,lat,t,value\n1,2,737791.5,3\n", {.time_units = "datenum"});
  EXPECT_THAT(matlab.part.observations.time_days, ElementsAre(25567.5));  // 2020-01-01T12
  EXPECT_THROW(read_text(text, {.time_units = "fortnights since then"}), UsageError);
  EXPECT_THAT(read_text("lon,lat,t,value\n1,2,2022-02-01T06,3\n").part.observations.time_days, ElementsAre(26329.25));
}

TEST(ReadCsv, LeavesOutRowsWithAQuoteOutOfPlace) {
  std::string text = "lon,lat,value,n\n1,2,3,5\" pipe\n";
  for (int i = 0; i < 30; ++i) text += "1,2,3,\"a, \"\"b\"\"\nc\"\n";  // two lines
  text += "1,2,3,\"a\"b, c\n1,2,\"3\",b\"\r\n1,2,3,4\n";
  const CsvReading whole = read_text(text, {.threads = 1});
  EXPECT_EQ(whole.part.rows, 34u);
  EXPECT_EQ(whole.part.observations.size(), 31u);
  EXPECT_THAT(whole.warnings,
              ElementsAre(AllOf(StartsWith("2 rows were left out, "), HasSubstr(".csv:2, 64: a quote within a field")),
                          HasSubstr(".csv:63: text follows the closing quote")));
  for (const std::size_t chunk : {1, 40, 300}) {
    expect_same(read_text(text, {.threads = 2}, {.window = 100, .chunk = chunk}), whole);
  }
  EXPECT_THAT(refusal("lon,lat,value,n\n1,2,3,5\" pipe\n"), HasSubstr("FILE:2: a quote within a field"));
  EXPECT_THAT(refusal("lon lat value n\n1 2 3 \"a\"b\n"), HasSubstr("FILE:2: text follows the closing quote"));
}

// Where it ends, nobody knows.
TEST(ReadCsv, RefusesAQuoteThatIsNeverClosed) {
  EXPECT_EQ(refusal("lon,lat,value,n\n1,2,3,\"a\n1,2,3,b\n"), "FILE:2: the quote that opens here is never closed");
  EXPECT_EQ(refusal("lon,\"lat,value\n1,2,3\n"), "FILE:1: the quote that opens here is never closed");
  std::string open = "lon,lat,value,n\n1,2,3,4\n1,2,3,\"a\n";
  for (int i = 0; i < 100; ++i) open += "1,2,3,4\n";
  EXPECT_EQ(refusal(open, {}, {.window = 256}), "FILE:3: a row of more than 256 bytes begins here; is a quote left open?");
}

TEST(ReadCsv, RefusesMorePlatformsThanAByteCanCount) {
  std::string text = "lon,lat,value,platform\n";
  for (int i = 0; i < 256; ++i) text += fmt::format("1,2,3,p{}\n", i);
  EXPECT_EQ(read_text(text).part.observations.platform_names.size(), 256u);
  text += "1,2,3,one more\n";
  for (const std::size_t chunk : {1, 100000}) {
    EXPECT_THAT(refusal(text, {}, {.chunk = chunk}), HasSubstr("is it the right column?"));
  }
}

TEST(ReadCsv, RefusesOptionsThatCannotBe) {
  EXPECT_THROW(read_text("lon,lat,value\n", {.threads = -1}), UsageError);
  EXPECT_THROW(read_text("lon,lat,value\n", {.columns = {.value = "vlaue"}}), UsageError);
}

}  // namespace
}  // namespace drift
