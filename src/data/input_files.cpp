#include "data/input_files.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>

#include "core/atomic_file.h"
#include "data/words.h"
#include "drift/error.h"
#include "netcdf/file_kind.h"
#include "netcdf/netcdf_reader.h"

namespace drift {
namespace {

namespace fs = std::filesystem;

bool is_pattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

std::vector<fs::path> glob_matches(const std::string& pattern) {
  glob_t found = {};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): patterns are looked up by one thread, before any reads
  const int status = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<fs::path> paths;
  for (std::size_t i = 0; status == 0 && i < found.gl_pathc; ++i) {
    std::error_code error;
    const fs::path path = found.gl_pathv[i];
    if (!fs::is_directory(path, error) || is_zarr(path)) paths.emplace_back(found.gl_pathv[i]);
  }
  ::globfree(&found);
  return paths;
}

void check_is_file(const fs::path& path) {
  if (is_remote(path) || is_zarr(path)) return;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw Error(fmt::format("{}: {}", path.string(), why_missing(path)));
  check_is_no_folder(path);
}

// Tables of other kinds, by their first bytes. Debian packages no library for Parquet.
struct Binary {
  std::string_view begins, what, call;  // {0}: its name; {1}: the same without extension
};
constexpr std::array<Binary, 3> kBinary = {
    {{"PAR1", "a Parquet file", "pandas.read_parquet(\"{0}\").to_csv(\"{1}.csv.gz\", index=False)"},
     {"ARROW1", "an Arrow (Feather) file", "pandas.read_feather(\"{0}\").to_csv(\"{1}.csv.gz\", index=False)"},
     {"PK\x03\x04", "a zip archive, as spreadsheets are", "pandas.read_excel(\"{0}\").to_csv(\"{1}.csv\", index=False)"}}};

}  // namespace

std::vector<fs::path> matching_files(const std::string& pattern) {
  std::error_code error;
  if (is_remote(pattern) || fs::exists(pattern, error)) return {pattern};
  return is_pattern(pattern) ? glob_matches(pattern) : std::vector<fs::path>();
}

std::vector<fs::path> input_files(const std::vector<std::string>& patterns) {
  if (patterns.empty()) throw UsageError("no files are given to read observations from");
  std::vector<fs::path> files;
  for (const std::string& pattern : patterns) {
    const std::vector<fs::path> found = matching_files(pattern);
    if (found.empty() && is_pattern(pattern)) throw Error(fmt::format("no file matches {}", pattern));
    if (found.empty()) check_is_file(pattern);
    for (const fs::path& path : found) check_is_file(path);
    files.insert(files.end(), found.begin(), found.end());
  }
  std::sort(files.begin(), files.end());
  std::set<fs::path> seen;
  std::erase_if(files, [&](const fs::path& path) {
    std::error_code error;
    const fs::path canonical = fs::canonical(path, error);
    return !seen.insert(error ? path : canonical).second;
  });
  return files;
}

void check_is_text(const fs::path& path) {
  std::array<char, 4096> bytes = {};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  const std::string_view text(bytes.data(), static_cast<std::size_t>(file.gcount()));
  for (const Binary& known : kBinary) {
    if (!text.starts_with(known.begins)) continue;
    throw Error(fmt::format(
        "{}: is {}, which drift does not read; convert it to CSV, as {}, or pass the pandas table to "
        "drift.Dataset.from_pandas",
        path.string(), known.what, fmt::format(fmt::runtime(known.call), path.filename().string(), path.stem().string())));
  }
  if (text.starts_with("\x1f\x8b") || text.find('\0') == std::string_view::npos) return;
  throw Error(fmt::format("{}: holds binary data: it is neither a table of text (CSV in UTF-8, also .gz) nor a NetCDF file",
                          path.string()));
}

bool are_netcdf(const std::vector<fs::path>& files) {
  const auto is_one = [](const fs::path& path) {
    const std::string extension = lower(path.extension().string());
    return is_remote(path) || is_zarr(path) || looks_like_netcdf(path) || extension == ".nc" || extension == ".nc4" ||
           extension == ".cdf";
  };
  const bool first = is_one(files.front());
  for (const fs::path& file : files) {
    if (is_one(file) == first) continue;
    throw UsageError(fmt::format("{} is {} file and {} is not; read them one kind at a time",
                                 (first ? files.front() : file).string(), "a NetCDF", (first ? file : files.front()).string()));
  }
  if (!first) {
    for (const fs::path& file : files) check_is_text(file);
  }
  return first;
}

}  // namespace drift
