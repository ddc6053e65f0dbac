#include "data/input_files.h"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "data/words.h"
#include "drift/error.h"
#include "netcdf/netcdf_reader.h"

namespace drift {
namespace {

namespace fs = std::filesystem;

bool is_pattern(const std::string& text) { return text.find_first_of("*?[") != std::string::npos; }

std::vector<fs::path> matches(const std::string& pattern) {
  glob_t found = {};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): patterns are looked up by one thread, before any reads
  const int status = ::glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<fs::path> paths;
  for (std::size_t i = 0; status == 0 && i < found.gl_pathc; ++i) {
    std::error_code error;
    if (!fs::is_directory(found.gl_pathv[i], error)) paths.emplace_back(found.gl_pathv[i]);
  }
  ::globfree(&found);
  if (paths.empty()) throw Error(fmt::format("no file matches {}", pattern));
  return paths;
}

void check_is_file(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw Error(fmt::format("{}: no such file", path.string()));
  if (fs::is_directory(status)) {
    throw Error(fmt::format("{}: is a folder; name the files in it, for instance {}", path.string(), (path / "*.nc").string()));
  }
}

}  // namespace

std::vector<fs::path> input_files(const std::vector<std::string>& patterns) {
  if (patterns.empty()) throw UsageError("no files are given to read observations from");
  std::vector<fs::path> files;
  for (const std::string& pattern : patterns) {
    std::error_code error;
    if (is_pattern(pattern) && !fs::exists(pattern, error)) {
      const std::vector<fs::path> found = matches(pattern);
      files.insert(files.end(), found.begin(), found.end());
    } else {
      check_is_file(pattern);
      files.emplace_back(pattern);
    }
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

bool are_netcdf(const std::vector<fs::path>& files) {
  const auto is_one = [](const fs::path& path) {
    const std::string extension = lower(path.extension().string());
    return looks_like_netcdf(path) || extension == ".nc" || extension == ".nc4" || extension == ".cdf";
  };
  const bool first = is_one(files.front());
  for (const fs::path& file : files) {
    if (is_one(file) == first) continue;
    throw UsageError(fmt::format("{} is {} file and {} is not; read them one kind at a time",
                                 (first ? files.front() : file).string(), "a NetCDF", (first ? file : files.front()).string()));
  }
  return first;
}

}  // namespace drift
