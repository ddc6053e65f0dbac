#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "data/csv.h"

namespace drift {

// A file of a test's own, gone with it.
class CsvFile {
 public:
  explicit CsvFile(std::string_view text, const std::string& extension = ".csv") {
    static std::atomic<int> counter{0};
    path_ = std::filesystem::path(testing::TempDir()) /
            ("drift_csv_" + std::to_string(::getpid()) + "_" + std::to_string(counter.fetch_add(1)) + extension);
    write(text);
  }
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;
  ~CsvFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }
  void write(std::string_view text) const {
    std::filesystem::remove(path_);  // some file systems wait for the disk when a file is overwritten
    std::ofstream(path_, std::ios::binary).write(text.data(), static_cast<std::streamsize>(text.size()));
  }
  void write_gzip(std::string_view text) const {
    const gzFile file = gzopen(path_.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
  }

 private:
  std::filesystem::path path_;
};

inline CsvReading read_text(std::string_view text, const CsvOptions& options = {}, const CsvSizes& sizes = {}) {
  return read_csv(CsvFile(text).path(), options, {}, {}, sizes);
}

inline void expect_same(const CsvReading& a, const CsvReading& b) {
  EXPECT_EQ(a.part.observations.lon_deg, b.part.observations.lon_deg);
  EXPECT_EQ(a.part.observations.lat_deg, b.part.observations.lat_deg);
  EXPECT_EQ(a.part.observations.time_days, b.part.observations.time_days);
  EXPECT_EQ(a.part.observations.value, b.part.observations.value);
  EXPECT_EQ(a.part.observations.sigma, b.part.observations.sigma);
  EXPECT_EQ(a.part.observations.track, b.part.observations.track);
  EXPECT_EQ(a.part.observations.platform, b.part.observations.platform);
  EXPECT_EQ(a.part.observations.platform_names, b.part.observations.platform_names);
  EXPECT_EQ(a.part.rows, b.part.rows);
  ASSERT_EQ(a.part.rejected.size(), b.part.rejected.size());
  for (std::size_t i = 0; i < a.part.rejected.size(); ++i) {
    EXPECT_EQ(a.part.rejected[i].reason, b.part.rejected[i].reason);
    EXPECT_EQ(a.part.rejected[i].count, b.part.rejected[i].count);
  }
}

}  // namespace drift
