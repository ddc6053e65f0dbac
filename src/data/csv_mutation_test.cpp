// Thousands of damaged tables, the same ones each time. Each must be read to sound observations or refused with drift::Error;
// nothing else may be thrown, and small windows and chunks on several threads must come to the same end as one large one.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>

#include "data/csv_testing.h"
#include "drift/error.h"

namespace drift {
namespace {

constexpr std::string_view kTable =
    "# a comment\n"
    "lon,lat,time,value,sigma,track,platform,\"no\"\"te\"\n"
    "10.5,-20.25,1950-01-02T12:00:00Z,3.125,0.5,12,S3A,\"a, b\"\n"
    "359.75,89,2020-02-29,-4e-3,0.25,\"1\"\"2\",S3B,\"c\r\nd\"\r\n"
    "NA,22,1950-01-04T01:02:03.456+02:30,5,2,12,S3A,\n"
    "-12,22,1950-01-04,5,2,13,\"S3A\",x\n";

std::string mutate(std::mt19937& random, std::string text) {
  constexpr std::string_view kTelling = "\"\"\n\r,;\t #.-+eE09:TZn\0\xEF\xFF";
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  for (std::size_t changes = 1 + below(3); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = below(text.size()), length = 1 + below(12);
    switch (below(6)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text[at] = kTelling[below(kTelling.size())];
        break;
      case 2:
        text.insert(at, 1, kTelling[below(kTelling.size())]);
        break;
      case 3:
        text.erase(at, length);
        break;
      case 4:
        text.insert(below(text.size()), text.substr(at, length * 4));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

void expect_sound(const CsvReading& reading) {
  const Observations& read = reading.part.observations;
  const std::size_t count = read.size();
  std::size_t rejected = 0;
  for (const Rejected& reason : reading.part.rejected) rejected += reason.count;
  ASSERT_EQ(reading.part.rows, count + rejected);
  ASSERT_EQ(read.lon_deg.size(), count);
  ASSERT_EQ(read.lat_deg.size(), count);
  const auto full_or_empty = [count](const auto& column, const std::string& name) {
    return column.size() == (name.empty() ? 0 : count);
  };
  ASSERT_TRUE(full_or_empty(read.time_days, reading.columns.time));
  ASSERT_TRUE(full_or_empty(read.sigma, reading.columns.sigma));
  ASSERT_TRUE(full_or_empty(read.track, reading.columns.track));
  ASSERT_TRUE(full_or_empty(read.platform, reading.columns.platform));
  for (std::size_t i = 0; i < count; ++i) {
    ASSERT_TRUE(std::isfinite(read.value[i]));
    ASSERT_TRUE(reading.on_plane || (read.lon_deg[i] >= -180.0 && read.lon_deg[i] < 180.0));
    ASSERT_TRUE(reading.on_plane || std::abs(read.lat_deg[i]) <= 90.0);
  }
  ASSERT_TRUE(std::all_of(read.time_days.begin(), read.time_days.end(), [](double time) { return std::isfinite(time); }));
  ASSERT_TRUE(std::all_of(read.sigma.begin(), read.sigma.end(), [](float sigma) { return sigma > 0.0f; }));
  for (const std::uint8_t platform : read.platform) ASSERT_LT(platform, read.platform_names.size());
}

std::optional<CsvReading> read_or_refuse(const CsvFile& file, const CsvOptions& options, const CsvSizes& sizes) {
  try {
    return read_csv(file.path(), options, {}, {}, sizes);
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).find(file.path().string()), 0u) << error.what();
    return std::nullopt;
  }
}

TEST(DamagedCsv, IsReadSoundlyOrRefusedWhereverItIsCut) {
  std::mt19937 random(20240229);
  const CsvFile file("");
  int good = 0, refused = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string text = mutate(random, std::string(kTable));
    SCOPED_TRACE(text);
    file.write(text);
    const std::optional<CsvReading> whole = read_or_refuse(file, {.threads = 1}, {.window = 65536});
    const std::optional<CsvReading> cut =
        read_or_refuse(file, {.threads = 1 + i % 3}, {.window = 600, .chunk = 1 + random() % 90});
    ASSERT_EQ(whole.has_value(), cut.has_value());
    if (whole) {
      expect_sound(*whole);
      expect_same(*whole, *cut);
    }
    if (testing::Test::HasFailure()) return;
    ++(whole ? good : refused);
  }
  EXPECT_GT(good, 500);
  EXPECT_GT(refused, 500);
}

TEST(DamagedCsv, IsRefusedWhereItsCompressedBytesAreDamaged) {
  std::mt19937 random(7);
  const CsvFile file("", ".csv.gz");
  file.write_gzip(kTable);
  std::ifstream stream(file.path(), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  const std::optional<CsvReading> sound = read_or_refuse(file, {.threads = 1}, {.window = 65536});
  ASSERT_TRUE(sound.has_value());
  for (int i = 0; i < 1500; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    if (i % 4 == 0) damaged.resize(random() % damaged.size());
    file.write(damaged);
    const std::optional<CsvReading> read = read_or_refuse(file, {.threads = 1}, {.window = 65536});
    if (read) expect_same(*read, *sound);  // damage in a part of the header that says nothing about the text
  }
}

}  // namespace
}  // namespace drift
