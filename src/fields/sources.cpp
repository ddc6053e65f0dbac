#include "fields/sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <sstream>
#include <system_error>

#include "core/sha256.h"
#include "core/threads.h"
#include "data/input_files.h"
#include "drift/error.h"
#include "drift/text.h"

namespace drift {
namespace {

constexpr std::size_t kMostNamed = 100;
constexpr const char* kUnknown = "-";

// Of a folder, as a Zarr store is: that of what sha256sum prints of the files in it, which
// find . -type f | LC_ALL=C sort | xargs sha256sum | sha256sum gives within it.
std::string sha256_of(const std::filesystem::path& path, const Control& control) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) return sha256_of_file(path, control);
  std::vector<std::string> members;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) members.push_back(entry.path().lexically_relative(path).generic_string());
  }
  std::sort(members.begin(), members.end());
  Sha256 all;
  for (const std::string& member : members) {
    const std::string line = fmt::format("{}  ./{}\n", sha256_of_file(path / member, control), member);
    all.add(std::as_bytes(std::span(line)));
  }
  return all.finish();
}

// A folder's too if a slash follows it, as the shell completes it.
std::string name_of(const std::filesystem::path& path) {
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

}  // namespace

std::vector<SourceFile> sources_of(const std::vector<std::string>& patterns, int threads, const Control& control) {
  std::vector<std::filesystem::path> files;
  for (const std::string& pattern : patterns) {
    const std::vector<std::filesystem::path> found = matching_files(pattern);
    files.insert(files.end(), found.begin(), found.end());
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  std::vector<SourceFile> sources(files.size());
  std::atomic<std::size_t> next{0};
  run_on_threads(threads_or_all(threads), [&](int) {
    for (std::size_t i = next++; i < files.size(); i = next++) {
      sources[i] = {to_utf8(name_of(files[i])), sha256_of(files[i], control)};
      std::replace(sources[i].name.begin(), sources[i].name.end(), '\n', ' ');
    }
  });
  return sources;
}

std::string sources_text(const std::vector<SourceFile>& sources) {
  std::string text;
  for (const SourceFile& source : sources)
    text += fmt::format("{}  {}\n", source.sha256.empty() ? kUnknown : source.sha256, source.name);
  return text;
}

std::vector<SourceFile> sources_from_text(const std::string& text) {
  std::vector<SourceFile> sources;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t gap = line.find("  ");
    if (gap != 1 && gap != 64) throw Error("the list of source files is not valid");
    const std::string hash = line.substr(0, gap);
    sources.push_back({line.substr(gap + 2), hash == kUnknown ? std::string() : hash});
  }
  return sources;
}

std::string sources_line(const std::vector<SourceFile>& sources) {
  std::string text;
  for (std::size_t i = 0; i < std::min(sources.size(), kMostNamed); ++i) {
    text += fmt::format("{}{}{}", i == 0 ? "" : ", ", sources[i].name,
                        sources[i].sha256.empty() ? "" : fmt::format(" (sha256 {})", sources[i].sha256));
  }
  if (sources.size() > kMostNamed) text += fmt::format(" and {} more, which the model's file lists", sources.size() - kMostNamed);
  return text;
}

}  // namespace drift
